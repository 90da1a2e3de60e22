//! Entry code of one CPU: what lies between a program's system call and the program that goes on.
//!
//! A program is known by where it goes on (`at`), a number that its driver chooses; the driver
//! of a processor plays the program at that place up to its next system call.

use crate::context::{Context, Regs};
use crate::port::{Host, Local};
use abi::Info;
use abi::call::{Call, NOTHING, partners};
use kernel::access::Ref;
use kernel::cpu::Cpu;
use kernel::entry::Entry;
use kernel::events::{self, Machine};
use kernel::ipc::fast::{FoundCall, FoundExchange, FoundReplyWait};
use kernel::ipc::kind;
use kernel::ipc::left::Found;
use kernel::object::Thread;
use kernel::object::thread::flag;
use kernel::port::Port;
use kernel::system::System;

/// A CPU that runs the kernel `S`.
pub struct Processor<S: System> {
    machine: Machine<S::Port>,
    /// Where the running thread goes on; drivers choose places below [`IDLE`].
    pub at: u64,
    /// Its registers.
    pub regs: Regs,
}

/// No thread can run.
pub const IDLE: u64 = u64::MAX - 1;
/// The CPU has not been in the kernel yet.
pub const START: u64 = u64::MAX;

// SAFETY: a driver is one CPU, and what a CPU shares with others is guarded by its kernel's
// locking, which refuses more CPUs than it can guard. Its own cells go where the driver goes.
unsafe impl<S: System> Send for Processor<S> {}

/// The context that a fast path went over to, and the badge; `None`: the general path has done the
/// message. Two registers.
type Passed = Option<(*const Context, u64)>;

impl<S: System<Port: Host>> Processor<S> {
    /// The CPU that a machine is entered on; no other driver may drive it.
    pub fn new(machine: Machine<S::Port>) -> Processor<S> {
        Processor { machine, at: START, regs: Regs::default() }
    }

    /// Whether another CPU has interrupted this one.
    #[inline(always)]
    pub fn is_interrupted(&self) -> bool {
        self.machine.kernel.port.is_interrupted(self.machine.cpu.number)
    }

    #[inline(always)]
    fn context(&self) -> &'static Context {
        // SAFETY: between entries this CPU alone touches the context of its current thread.
        unsafe { &(*self.machine.cpu.current.get().address()).context }
    }

    /// The running thread calls the endpoint in a slot.
    #[inline(always)]
    pub fn call(&mut self, at: u64, slot: u64, info: Info) {
        let context = self.context();
        context.save_position(at);
        if S::FAST_PATH {
            let passed = self.fast::<FoundCall<S::Port>>(slot, info);
            return self.go_on_fast(passed, info);
        }
        self.message::<{ kind::CALL }>(slot, info);
    }

    /// It replies to its caller and waits at the endpoint in a slot.
    #[inline(always)]
    pub fn reply_wait(&mut self, at: u64, slot: u64, info: Info) {
        let context = self.context();
        context.save_position(at);
        if S::FAST_PATH {
            let passed = self.fast::<FoundReplyWait<S::Port>>(slot, info);
            return self.go_on_fast(passed, info);
        }
        self.message::<{ kind::REPLY_WAIT }>(slot, info);
    }

    /// It sends to one slot and receives from another, either of which may be missing.
    #[inline(always)]
    pub fn exchange(&mut self, at: u64, [to, from]: [u32; 2], info: Info) {
        let context = self.context();
        let first = partners(to, from);
        context.save_position(at);
        if S::FAST_PATH && to != NOTHING && from != NOTHING {
            let passed = self.fast::<FoundExchange<S::Port>>(first, info);
            return self.go_on_fast(passed, info);
        }
        self.message::<{ kind::ANY }>(first, info);
    }

    /// A message on the general path.
    #[inline(always)]
    fn message<const KIND: u8>(&mut self, first: u64, info: Info) {
        // A message without timeouts has its kind as number word.
        let (number, words) = (u64::from(KIND), self.regs.words);
        self.context().save(&Regs { number, first, info: info.0, words });
        let next = ipc_entry::<S, KIND>(self.machine);
        self.leave(next);
    }

    #[inline(never)]
    fn fast<F: Found<S::Port>>(&mut self, first: u64, info: Info) -> Passed {
        // SAFETY: a driver makes one entry at a time for the one CPU that it drives.
        let core = unsafe { Entry::<S>::enter_fast(self.machine.kernel, self.machine.cpu) };
        let outcome = F::look(&core, first, info);
        drop(core);
        match outcome {
            Ok((next, badge)) => Some((switch_space::<S>(self.machine.cpu, next), badge)),
            Err(found) => {
                self.left(first, info, found);
                None
            }
        }
    }

    /// The general path of a message that the fast path has left.
    #[cold]
    #[inline(never)]
    fn left<F: Found<S::Port>>(&mut self, first: u64, info: Info, found: Option<F>) {
        let (number, words) = (u64::from(F::KIND), self.regs.words);
        self.context().save(&Regs { number, first, info: info.0, words });
        let next = match found {
            // SAFETY: the fast path has left.
            Some(found) => unsafe { events::go_on::<S, F>(self.machine, info, found) },
            None => match F::KIND {
                kind::CALL => ipc_entry::<S, { kind::CALL }>(self.machine),
                kind::REPLY_WAIT => ipc_entry::<S, { kind::REPLY_WAIT }>(self.machine),
                _ => ipc_entry::<S, { kind::ANY }>(self.machine),
            },
        };
        self.leave(next);
    }

    /// It lets others of its priority run.
    #[inline(never)]
    pub fn give_way(&mut self, at: u64) {
        let context = self.context();
        context.save_position(at);
        context.save(&Regs { number: Call::Yield as u64, first: 0, ..self.regs });
        // SAFETY: this thread is the only one on this CPU, and it is not inside.
        let next = unsafe { events::system_call::<S>(self.machine) };
        self.leave(next);
    }

    /// Goes on as the thread that a fast path went over to; words are in the registers.
    #[inline(always)]
    fn go_on_fast(&mut self, passed: Passed, info: Info) {
        let Some((context, badge)) = passed else { return };
        // SAFETY: the context of this CPU's current thread.
        self.at = unsafe { (*context).instruction() };
        self.regs = Regs { number: 0, first: badge, info: info.0, words: self.regs.words };
    }

    /// The hardware part of a switch, after the core is done.
    #[inline(always)]
    fn leave(&mut self, next: Ref<Thread<S::Port>>) {
        let cpu = self.machine.cpu;
        cpu.finish();
        if next == cpu.idle {
            self.at = IDLE;
            return;
        }
        if !S::Port::SMP {
            // SAFETY: between entries this CPU alone touches the current thread.
            unsafe { (*next.address()).clear(flag::FULL) };
        }
        // SAFETY: as above.
        let context = unsafe { &*switch_space::<S>(cpu, next) };
        self.at = context.instruction();
        self.regs = context.load();
    }

    /// Another CPU has interrupted.
    #[cold]
    #[inline(never)]
    pub fn interrupt(&mut self) {
        let Machine { kernel, cpu } = self.machine;
        kernel.port.take_ipi(cpu.number);
        if self.at == START {
            return;
        }
        if self.at != IDLE {
            let context = self.context();
            context.save_position(self.at);
            context.save(&self.regs);
        }
        // SAFETY: this thread is the only one on this CPU, and it is not inside.
        let next = unsafe { events::ipi::<S>(self.machine) };
        self.leave(next);
    }

    /// The first entry: the highest thread begins.
    #[cold]
    #[inline(never)]
    pub fn start(&mut self) {
        // SAFETY: this thread is the only one on this CPU, and it is not inside.
        let next = unsafe { events::start::<S>(self.machine) };
        self.leave(next);
    }
}

#[inline(never)]
fn ipc_entry<S: System<Port: Host>, const KIND: u8>(
    machine: Machine<S::Port>,
) -> Ref<Thread<S::Port>> {
    // SAFETY: a driver calls it for the one CPU that it drives, once per entry.
    unsafe { events::ipc::<S, KIND>(machine) }
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
