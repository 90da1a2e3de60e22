//! Runs one kernel on the host, entering the core as a port's entry code does.

use super::archive::Archive;
use super::context::{CALL_LENGTH, Regs};
use super::effort;
use super::host::{CONSOLE, Event, Host, Shutdown};
use super::pages;
use abi::Info;
use abi::call::Call;
use abi::futex::Scope;
use abi::message::FaultKind;
use abi::trace;
use kernel::access::{Exclusive, Ref};
use kernel::arena::Arena;
use kernel::boot;
use kernel::entry::Entry;
use kernel::events::{self, Machine};
use kernel::fault::Fault;
use kernel::invariants;
use kernel::ipc::fast::{FoundCall, FoundExchange, FoundReplyWait};
use kernel::ipc::kind;
use kernel::ipc::left::Found;
use kernel::manage::futex::identity;
use kernel::object::thread::flag;
use kernel::object::{Domain, Thread};
use kernel::system::System;
use kernel::variant::Variant;
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// What is left in registers that no argument travels in.
pub const JUNK: u64 = 0xdead_dead_dead_dead;

/// What the general path sees of the registers of a call on a train.
fn left_of(mut regs: Regs) -> Regs {
    regs.args[1..].fill(JUNK);
    regs
}

/// How a fast path came out.
enum Tried {
    /// It did the call.
    Done,
    /// It left the call, and the general path went on with what it had found.
    Left(Ref<Thread<Host>>),
    /// The general path is to begin, with these registers.
    Not(Regs),
}

/// More steps than anything takes that is not a program's doing.
pub const ENDLESS: u32 = 20_000;

/// A host with a kernel and its programs.
pub struct Board<S: System<Port = Host>> {
    /// The kernel.
    pub machine: Machine<Host>,
    /// The hardware.
    pub host: &'static Host,
    /// Registers of the running thread.
    pub regs: Cell<Regs>,
    /// The run has ended with this status.
    pub ended: Cell<Option<u32>>,
    /// Calls that the fast path did.
    pub fast_calls: Cell<u64>,
    system: PhantomData<S>,
}

/// An object between kernel entries.
pub fn body<T>(at: Ref<T>) -> &'static T {
    // SAFETY: a test looks at objects while it has their board, and is the only CPU.
    unsafe { &*at.address() }
}

/// Proof of access between kernel entries.
pub fn whole() -> Exclusive<'static> {
    // SAFETY: a test changes objects while it has their board, and is the only CPU.
    unsafe { Exclusive::sole() }
}

impl<S: System<Port = Host>> Drop for Board<S> {
    fn drop(&mut self) {
        // SAFETY: tests use objects of a board while they have it.
        unsafe { self.host.free() };
    }
}

impl<S: System<Port = Host>> Board<S> {
    /// Boots this archive on a host with so many pages of memory. The seed is for interrupts.
    pub fn boot(archive: &Archive, pages: usize, seed: u64) -> Board<S> {
        let (host, mut arena) = Host::new(pages, seed);
        let archive = boot::Archive::new(archive.finish());
        let machine = boot::carve(host, Variant::of::<S>(), archive, &mut arena);
        Board::start(machine, host, &mut arena, archive)
    }

    /// Starts a kernel that was carved by hand, with what the archive says.
    pub fn start(
        machine: Machine<Host>,
        host: &'static Host,
        arena: &mut Arena,
        archive: boot::Archive,
    ) -> Board<S> {
        let (regs, ended, fast_calls) = (Cell::default(), Cell::new(None), Cell::new(0));
        let board = Board { machine, host, regs, ended, fast_calls, system: PhantomData };
        let core = board.core();
        boot::build(&core.manage(), archive, arena);
        drop(core);
        // SAFETY: the only entry.
        board.leave(unsafe { events::start::<S>(machine) });
        board
    }

    fn core(&self) -> Entry<S> {
        // SAFETY: each caller drops the core before it enters again.
        unsafe { Entry::enter(self.machine.kernel, self.machine.cpu) }
    }

    /// Opens the whole kernel.
    pub fn open<R>(&self, look: impl FnOnce(&Exclusive<'_>) -> R) -> R {
        let core = self.core();
        look(&core.section.exclusive())
    }

    /// The id of a thread where it is, in a scope of the domain there.
    pub fn id(&self, scope: Scope, thread: u32) -> u32 {
        let (kernel, at) = (self.machine.kernel, self.thread_at(thread));
        let number = identity::where_it_is(kernel, &whole(), at);
        identity::id(kernel, scope, at.domain.get(), number)
    }

    /// The id of a thread in mutexes of a domain: where it is, if that is there, else at home.
    pub fn id_in(&self, domain: u32, thread: u32) -> u32 {
        let (kernel, at) = (self.machine.kernel, self.thread_at(thread));
        if at.domain.get().index() == domain {
            return self.id(Scope::Domain, thread);
        }
        let domain = kernel.domains.get(domain).expect("a domain of that index");
        identity::id(kernel, Scope::Domain, domain, identity::at_home(kernel, at))
    }

    fn thread_at(&self, thread: u32) -> Ref<Thread<Host>> {
        self.machine.kernel.threads.get(thread).expect("a thread of that index")
    }

    /// Checks the core's invariants, as often as there is time for.
    pub fn check_core(&self) {
        if effort::checks() {
            self.open(|whole| invariants::check(self.machine, whole));
        }
    }

    /// As [`check_all`](Self::check_all), as often as there is time for.
    pub fn check(&self) {
        if effort::checks() {
            self.check_all();
        }
    }

    /// Checks all invariants, those of the core and those of this machine's page tables.
    pub fn check_all(&self) {
        self.open(|whole| {
            invariants::check(self.machine, whole);
            pages::check(self.machine, whole);
        });
    }

    /// The running thread; `None`: the CPU idles.
    pub fn running(&self) -> Option<u32> {
        let current = self.machine.cpu.current.get();
        (current != self.machine.cpu.idle).then(|| current.index())
    }

    /// The thread with this index; the first that an archive makes has 1.
    pub fn thread(&self, index: u32) -> &'static Thread<Host> {
        body(self.machine.kernel.threads.get(index).expect("a thread of that index"))
    }

    /// The domain with this index; the first that an archive makes has 1.
    pub fn domain(&self, index: u32) -> &'static Domain<Host> {
        body(self.machine.kernel.domains.get(index).expect("a domain of that index"))
    }

    /// An object that exists.
    pub fn object<T>(&self, at: Option<Ref<T>>) -> &'static T {
        body(at.expect("an object of that index"))
    }

    /// Writes a word of the message buffer of a thread.
    pub fn write(&self, thread: u32, word: usize, value: u64) {
        use std::sync::atomic::Ordering::Relaxed;
        let buffer = self.thread(thread).buffer;
        kernel::port::Port::frame(self.host, buffer)[word].store(value, Relaxed);
    }

    /// Reads a word of the message buffer of a thread.
    pub fn read(&self, thread: u32, word: usize) -> u64 {
        use std::sync::atomic::Ordering::Relaxed;
        let buffer = self.thread(thread).buffer;
        kernel::port::Port::frame(self.host, buffer)[word].load(Relaxed)
    }

    /// The hardware part of a switch.
    fn leave(&self, next: Ref<Thread<Host>>) {
        self.machine.cpu.note(trace::Event::Exit, next, 0, 0);
        if next == self.machine.cpu.idle {
            return self.regs.set(Regs::default());
        }
        let thread = body(next);
        thread.clear(flag::FULL);
        thread.context.interrupted.set(false);
        self.regs.set(thread.context.regs.get());
    }

    /// The running thread makes a system call.
    pub fn call(&self, regs: Regs) {
        let context = &body(self.machine.cpu.current.get()).context;
        assert!(self.running().is_some(), "an idle CPU makes no system call");
        let (instruction, stack) = context.at.get();
        context.at.set((instruction.wrapping_add(CALL_LENGTH), stack));
        let regs = Regs { again: false, ..regs };
        let tried = if S::FAST_PATH { self.fast(regs) } else { Tried::Not(regs) };
        match tried {
            Tried::Done => return,
            Tried::Left(next) => return self.leave(next),
            Tried::Not(regs) => context.regs.set(regs),
        }
        // A run that ends leaves the core by unwinding.
        match catch_unwind(AssertUnwindSafe(|| self.general(regs.number as u8))) {
            Ok(next) => self.leave(next),
            Err(cause) => match cause.downcast::<Shutdown>() {
                Ok(shutdown) => self.ended.set(Some(shutdown.0)),
                Err(cause) => resume_unwind(cause),
            },
        }
    }

    fn general(&self, number: u8) -> Ref<Thread<Host>> {
        const CALL: u8 = Call::Call as u8;
        const REPLY_WAIT: u8 = Call::ReplyWait as u8;
        const ANY: u8 = Call::Ipc as u8;
        // SAFETY: the only entry.
        unsafe {
            match number {
                CALL => events::ipc::<S, { kind::CALL }>(self.machine),
                REPLY_WAIT => events::ipc::<S, { kind::REPLY_WAIT }>(self.machine),
                ANY => events::ipc::<S, { kind::ANY }>(self.machine),
                _ => events::system_call::<S>(self.machine),
            }
        }
    }

    /// Tries the fast path. Only the words are saved for it.
    fn fast(&self, regs: Regs) -> Tried {
        let [_, info, ..] = regs.args;
        let number = u64::from(regs.number as u32);
        let (call, reply_wait) = (Call::Call as u64, Call::ReplyWait as u64);
        let exchange = Call::Ipc as u64;
        if [Call::TrainCall as u64, Call::TrainReturn as u64].contains(&number) {
            return self.try_train(regs, number);
        }
        if ![call, reply_wait, exchange].contains(&number) || !Info(info).is_short() {
            return Tried::Not(regs);
        }
        let context = &body(self.machine.cpu.current.get()).context;
        context.regs.set(Regs { words: regs.words, again: false, ..context.regs.get() });
        match number {
            _ if number == call => self.try_fast::<FoundCall<Host>>(regs),
            _ if number == exchange => self.try_fast::<FoundExchange<Host>>(regs),
            _ => self.try_fast::<FoundReplyWait<Host>>(regs),
        }
    }

    fn try_fast<F: Found<Host>>(&self, mut regs: Regs) -> Tried {
        let [first, info, ..] = regs.args;
        let core = self.core();
        let outcome = F::look(&core, first, Info(info));
        drop(core);
        // A fast path saves neither the other arguments nor their registers.
        regs.args[2..].fill(JUNK);
        match outcome {
            Ok((next, badge)) => {
                self.machine.cpu.note(trace::Event::Exit, next, 0, 0);
                self.fast_calls.set(self.fast_calls.get() + 1);
                let args = [badge, info, 0, 0, 0, 0];
                self.regs.set(Regs { number: 0, args, words: regs.words, again: false });
                Tried::Done
            }
            Err(None) => Tried::Not(regs),
            Err(Some(found)) => {
                body(self.machine.cpu.current.get()).context.regs.set(regs);
                // SAFETY: the only entry; the fast path has left.
                Tried::Left(unsafe { events::go_on::<S, F>(self.machine, Info(info), found) })
            }
        }
    }

    /// The fast path of trains, for which only the words are saved; the general path behind it has
    /// the first argument and the low half of the number word beside them, and else what an earlier
    /// entry has saved, also from another domain.
    fn try_train(&self, regs: Regs, number: u64) -> Tried {
        let context = &body(self.machine.cpu.current.get()).context;
        context.regs.set(Regs { words: regs.words, again: false, ..context.regs.get() });
        let (core, [first, ..]) = (self.core(), regs.args);
        let results = match number == Call::TrainCall as u64 {
            true => core.fast_train_call(first as u32).map(|(_, word, badge)| [word, badge]),
            false => core.fast_train_return().map(|_| [first, 0]),
        };
        drop(core);
        let Some([first, second]) = results else { return Tried::Not(left_of(regs)) };
        let thread = self.machine.cpu.current.get();
        self.machine.cpu.note(trace::Event::Exit, thread, 0, 0);
        self.fast_calls.set(self.fast_calls.get() + 1);
        let args = [first, second, 0, 0, 0, 0];
        self.regs.set(Regs { number: 0, args, ..body(thread).context.regs.get() });
        Tried::Done
    }

    /// Saves all registers of the running thread.
    fn interrupt(&self) {
        if self.running().is_some() {
            let context = &body(self.machine.cpu.current.get()).context;
            context.regs.set(self.regs.get());
            context.interrupted.set(true);
        }
    }

    /// The running thread faults.
    pub fn fault(&self, fault: Fault) {
        assert!(self.running().is_some(), "an idle CPU does not fault");
        self.interrupt();
        // SAFETY: the only entry.
        self.leave(unsafe { events::fault::<S>(self.machine, fault) });
    }

    /// Takes one interrupt.
    pub fn take(&self, event: Event) {
        self.interrupt();
        self.host.acknowledge(event);
        // SAFETY: the only entry.
        self.leave(unsafe {
            match event {
                Event::Irq(irq) => events::interrupt::<S>(self.machine, irq),
                Event::Sent => events::console::<S>(self.machine, CONSOLE),
                Event::Timer => events::timer::<S>(self.machine),
                Event::Spurious => events::spurious::<S>(self.machine),
            }
        });
    }

    /// Takes the interrupts that wait, and nothing more.
    pub fn interrupts(&self) {
        while let Some(event) = self.host.waiting() {
            self.take(event);
        }
    }

    /// The running thread issues its call again.
    pub fn reissue(&self) {
        assert!(self.regs.get().again, "no call to issue again");
        self.call(self.regs.get());
    }

    /// One step of what happens without a program's doing: an interrupt that waits, or a call
    /// that is to be issued again. False: there is nothing.
    pub fn step(&self) -> bool {
        if let Some(event) = self.host.waiting() {
            self.take(event);
        } else if self.is_taken_out() {
            self.fault(Fault { kind: FaultKind::Memory, detail: 0, code: 4 });
        } else if self.running().is_some() && self.regs.get().again {
            self.call(self.regs.get());
        } else {
            return false;
        }
        true
    }

    /// Whether the running thread is inside a domain that it is taken out of: it faults at 0.
    fn is_taken_out(&self) -> bool {
        let thread = body(self.machine.cpu.current.get());
        let visit = thread.inside.get().map(body);
        self.running().is_some() && visit.is_some() && thread.context.at.get().0 == 0
    }

    /// All such steps. Returns how many there were.
    pub fn settle(&self) -> u32 {
        let mut steps = 0;
        while self.step() {
            steps += 1;
            assert!(steps < ENDLESS, "interrupts and calls go on for ever");
        }
        steps
    }
}
