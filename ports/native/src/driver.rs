//! One CPU: entry code, and the programs that a processor would run between entries.
//!
//! ```text
//!  begins: server ──receive──> blocked          client ──> ASK
//!  ASK (client has a reply)      think, call        ──kernel──> ANSWER of the server
//!  ANSWER (server has a request) think, reply-wait  ──kernel──> ASK of the client
//! ```
//!
//! The client sends a number, the server answers with the next one, and both check what arrives.

use crate::archive::{BADGE, ENDPOINT, Entries};
use crate::context::{Context, Regs};
use crate::counter::{self, HostTime};
use crate::port::{Host, Local};
use crate::think::Think;
use abi::Info;
use abi::call::{Call, NOTHING, Timeout, ipc, partners};
use kernel::access::Ref;
use kernel::core::Core;
use kernel::cpu::Cpu;
use kernel::entry::{self, Machine};
use kernel::ipc::kind;
use kernel::object::Thread;
use kernel::object::thread::attention;
use kernel::port::Port;
use kernel::system::System;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Where a thread, or the CPU, goes on: what instruction pointers are elsewhere.
mod place {
    pub const ASK: u64 = 1;
    pub const ANSWER: u64 = 2;
    pub const SERVER_BEGINS: u64 = 3;
    pub const CLIENT_BEGINS: u64 = 4;
    pub const IDLE: u64 = 5;
    /// The CPU has not been in the kernel yet.
    pub const START: u64 = 6;
}

/// Where threads begin.
pub const ENTRIES: Entries = Entries { server: place::SERVER_BEGINS, client: place::CLIENT_BEGINS };

/// The messages of the benchmark: one word, which travels in a register.
const INFO: Info = Info::new(0, 1);
const SLOT: u64 = ENDPOINT as u64;

/// When several CPUs measure together.
pub struct Window {
    /// The counter at which it begins; 0 until all CPUs are there.
    pub begins: AtomicU64,
    /// Its length in ticks.
    pub ticks: u64,
    /// Messages between two looks at the counter.
    pub chunk: u64,
}

/// What a CPU did in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// Messages that it has sent.
    pub messages: u64,
    /// Ticks that passed meanwhile: a chunk more than the window at most.
    pub ticks: u64,
    /// Ticks after the window's beginning at which it was there.
    pub late: u64,
    /// Nanoseconds of its ticks for which the host let something else run on the CPU.
    pub lost: u64,
}

/// A CPU of any kernel.
pub trait Drive: Send {
    /// Runs so many round trips; returns the ticks that they took.
    fn batch(&mut self, trips: u64) -> u64;
    /// Runs until a window is over.
    fn run(&mut self, window: &Window) -> Share;
    /// Changes what passes between a message's arrival and the next one.
    fn set_think(&mut self, think: Think);
    /// Messages that have been sent so far: two for each round trip.
    fn messages(&self) -> u64;
}

/// A CPU that runs the kernel `S`.
pub struct Driver<S: System> {
    machine: Machine<S::Port>,
    /// Where the running thread goes on.
    at: u64,
    regs: Regs,
    /// The number that the client has sent last.
    number: u64,
    messages: u64,
    think: Think,
}

// SAFETY: a driver is one CPU, and what a CPU shares with others is guarded by its kernel's
// locking, which refuses more CPUs than it can guard. Its own cells go where the driver goes.
unsafe impl<S: System> Send for Driver<S> {}

/// What comes back from a fast path, in two registers.
#[repr(C)]
struct Resume {
    /// The context to go on with; null: the fast path does not apply.
    context: *const Context,
    badge: u64,
}

const REFUSED: Resume = Resume { context: std::ptr::null(), badge: 0 };

impl<S: System<Port: Host>> Driver<S> {
    /// The CPU that a machine is entered on; nobody else may drive it.
    pub fn new(machine: Machine<S::Port>) -> Driver<S> {
        let regs = Regs::default();
        Driver { machine, at: place::START, regs, number: 0, messages: 0, think: Think::NONE }
    }

    /// Runs for a chunk at least, however late it is.
    fn run_until(&mut self, until: u64, chunk: u64) {
        loop {
            for _ in 0..chunk {
                self.step();
            }
            if counter::now() >= until {
                return;
            }
        }
    }

    /// Up to the next kernel entry of the running thread, and through it.
    #[inline(always)]
    fn step(&mut self) {
        if self.machine.kernel.port.is_kicked(self.machine.cpu.number) {
            return self.interrupt();
        }
        match self.at {
            place::ASK => {
                let answered = self.regs.number == 0 && self.regs.words[0] == self.number + 1;
                assert!(answered, "the client's answer: {:?} to {}", self.regs, self.number);
                self.think.pass();
                self.number += 1;
                self.regs.words[0] = self.number;
                self.messages += 1;
                self.call();
            }
            place::ANSWER => {
                let Regs { number, first, words: [word, ..], .. } = self.regs;
                let asked = number == 0 && first == BADGE && word == self.number;
                assert!(asked, "the server's request: {:?}, not {}", self.regs, self.number);
                self.think.pass();
                self.regs.words[0] += 1;
                self.messages += 1;
                self.reply_wait();
            }
            _ => self.begin(),
        }
    }

    #[inline(always)]
    fn context(&self) -> &'static Context {
        // SAFETY: between entries this CPU alone touches the context of its current thread.
        unsafe { &(*self.machine.cpu.current.get().address()).context }
    }

    #[inline(always)]
    fn call(&mut self) {
        let context = self.context();
        context.save_position(place::ASK, SLOT);
        if S::FAST_PATH {
            let resume = fast_call::<S>(self.machine, SLOT, INFO.0);
            if !resume.context.is_null() {
                return self.go_on_fast(resume);
            }
        }
        let (number, words) = (Call::Call as u64, self.regs.words);
        context.save(&Regs { number, first: SLOT, info: INFO.0, words });
        let next = ipc_entry::<S, { kind::CALL }>(self.machine);
        self.leave(next);
    }

    #[inline(always)]
    fn reply_wait(&mut self) {
        let context = self.context();
        context.save_position(place::ANSWER, SLOT);
        if S::FAST_PATH {
            let resume = fast_reply_wait::<S>(self.machine, SLOT, INFO.0);
            if !resume.context.is_null() {
                return self.go_on_fast(resume);
            }
        }
        let (number, words) = (Call::ReplyWait as u64, self.regs.words);
        context.save(&Regs { number, first: SLOT, info: INFO.0, words });
        let next = ipc_entry::<S, { kind::REPLY_WAIT }>(self.machine);
        self.leave(next);
    }

    /// Goes on as the thread that a fast path went over to; words are in the registers.
    #[inline(always)]
    fn go_on_fast(&mut self, resume: Resume) {
        // SAFETY: the context of this CPU's current thread.
        self.at = unsafe { (*resume.context).instruction() };
        self.regs = Regs { number: 0, first: resume.badge, info: INFO.0, words: self.regs.words };
    }

    /// The hardware part of a switch, after the core is done.
    #[inline(always)]
    fn leave(&mut self, next: Ref<Thread<S::Port>>) {
        let cpu = self.machine.cpu;
        cpu.finish();
        if next == cpu.idle {
            self.at = place::IDLE;
            return;
        }
        if !S::Port::SEVERAL {
            // SAFETY: between entries this CPU alone touches the current thread.
            unsafe { (*next.address()).clear(attention::FULL) };
        }
        // SAFETY: as above.
        let context = unsafe { &*switch_space::<S>(cpu, next) };
        self.at = context.instruction();
        self.regs = context.load();
    }

    /// Another CPU has interrupted.
    #[cold]
    #[inline(never)]
    fn interrupt(&mut self) {
        let Machine { kernel, cpu } = self.machine;
        kernel.port.take_kick(cpu.number);
        if self.at == place::START {
            return;
        }
        if self.at != place::IDLE {
            let context = self.context();
            context.save_position(self.at, 0);
            context.save(&self.regs);
        }
        // SAFETY: this thread is the only one on this CPU, and it is not inside.
        let next = unsafe { entry::kicked::<S>(self.machine) };
        self.leave(next);
    }

    /// What happens once, and what idling is.
    #[cold]
    #[inline(never)]
    fn begin(&mut self) {
        match self.at {
            place::START => {
                // SAFETY: this thread is the only one on this CPU, and it is not inside.
                let next = unsafe { entry::start::<S>(self.machine) };
                self.leave(next);
            }
            place::SERVER_BEGINS => {
                let context = self.context();
                let first = partners(NOTHING, ENDPOINT);
                context.save_position(place::ANSWER, first);
                let number = ipc(Timeout::Never, Timeout::Never);
                context.save(&Regs { number, first, ..Regs::default() });
                let next = ipc_entry::<S, { kind::ANY }>(self.machine);
                self.leave(next);
            }
            place::CLIENT_BEGINS => {
                self.at = place::ASK;
                self.regs = Regs { words: [1, 0, 0, 0], ..Regs::default() };
            }
            _ => std::hint::spin_loop(),
        }
    }
}

impl<S: System<Port: Host>> Drive for Driver<S> {
    fn batch(&mut self, trips: u64) -> u64 {
        while self.at != place::ASK {
            self.step();
        }
        let (messages, begun) = (self.messages, counter::settled());
        for _ in 0..2 * trips {
            self.step();
        }
        let taken = counter::settled() - begun;
        assert!(self.messages == messages + 2 * trips, "not every step was a message");
        taken
    }

    fn run(&mut self, window: &Window) -> Share {
        let begins = window.begins.load(Relaxed);
        self.run_until(begins, window.chunk);
        let (messages, host, begun) = (self.messages, HostTime::now(), counter::now());
        self.run_until(begins + window.ticks, window.chunk);
        Share {
            messages: self.messages - messages,
            ticks: counter::now() - begun,
            late: begun - begins,
            lost: host.lost(),
        }
    }

    fn set_think(&mut self, think: Think) {
        self.think = think;
    }

    fn messages(&self) -> u64 {
        self.messages
    }
}

#[inline(never)]
fn fast_call<S: System<Port: Host>>(machine: Machine<S::Port>, slot: u64, info: u64) -> Resume {
    // SAFETY: a driver calls it for the one CPU that it drives, once per entry.
    let core = unsafe { Core::<S>::enter_fast(machine.kernel, machine.cpu) };
    match core.fast_call(slot as u32, Info(info)) {
        Some((next, badge)) => {
            drop(core);
            Resume { context: switch_space::<S>(machine.cpu, next), badge }
        }
        None => REFUSED,
    }
}

#[inline(never)]
fn fast_reply_wait<S: System<Port: Host>>(
    machine: Machine<S::Port>,
    slot: u64,
    info: u64,
) -> Resume {
    // SAFETY: a driver calls it for the one CPU that it drives, once per entry.
    let core = unsafe { Core::<S>::enter_fast(machine.kernel, machine.cpu) };
    match core.fast_reply_wait(slot as u32, Info(info)) {
        Some(next) => {
            drop(core);
            Resume { context: switch_space::<S>(machine.cpu, next), badge: 0 }
        }
        None => REFUSED,
    }
}

#[inline(never)]
fn ipc_entry<S: System<Port: Host>, const KIND: u8>(
    machine: Machine<S::Port>,
) -> Ref<Thread<S::Port>> {
    // SAFETY: a driver calls it for the one CPU that it drives, once per entry.
    unsafe { entry::ipc::<S, KIND>(machine) }
}

/// Compares the roots of page tables as a port does; there are none to load.
#[inline(always)]
fn switch_space<S: System<Port: Host>>(
    cpu: &'static Cpu<S::Port>,
    next: Ref<Thread<S::Port>>,
) -> *const Context {
    // SAFETY: between entries this CPU alone touches the current thread and its domain.
    let (thread, domain) = unsafe {
        let thread = &*next.address();
        (thread, &*thread.domain.get().address())
    };
    let local: &Local = &cpu.local;
    if domain.space.root() != local.root.get() {
        local.root.set(domain.space.root());
    }
    &raw const thread.context
}
