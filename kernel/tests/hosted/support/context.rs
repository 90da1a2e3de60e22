//! A thread's saved registers. As on real machines, results overwrite arguments.

use abi::{Info, Status};
use kernel::port;
use std::cell::Cell;

/// Bytes of the system call instruction.
pub const CALL_LENGTH: u64 = 2;

/// The registers of a system call, before and after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regs {
    /// Number word; then the status.
    pub number: u64,
    /// Arguments; the first two then hold badge and descriptor.
    pub args: [u64; 6],
    /// Message words.
    pub words: [u64; 4],
    /// The instruction pointer stands at the system call, which is to be issued again.
    pub again: bool,
}

impl Regs {
    /// A system call.
    pub fn call(number: u64, args: &[u64]) -> Regs {
        let mut regs = Regs { number, ..Regs::default() };
        regs.args[..args.len()].copy_from_slice(args);
        regs
    }

    /// The same call with message words.
    pub fn with_words(self, words: [u64; 4]) -> Regs {
        Regs { words, ..self }
    }

    /// The status that the call returned.
    pub fn status(&self) -> Status {
        Status(self.number)
    }

    /// The badge, or first result.
    pub fn badge(&self) -> u64 {
        self.args[0]
    }

    /// The descriptor, or second result.
    pub fn info(&self) -> Info {
        Info(self.args[1])
    }

    /// What a program may rely on: words come with messages only.
    pub fn visible(&self) -> (u64, u64, u64, [u64; 4], bool) {
        let message = self.number == 0 && !self.info().is_notification();
        let words = if message { self.words } else { [0; 4] };
        (self.number, self.args[0], self.args[1], words, self.again)
    }
}

/// Saved registers.
#[derive(Default)]
pub struct HostContext {
    /// What a system call uses.
    pub regs: Cell<Regs>,
    /// Instruction and stack pointer.
    pub at: Cell<(u64, u64)>,
    /// The thread pointer.
    pub pointer: Cell<u64>,
    /// The thread was interrupted between system calls, so no operation may leave results here.
    pub interrupted: Cell<bool>,
}

/// What is kept of a thread that is in another domain: position and thread pointer.
#[derive(Default)]
pub struct HostKept(Cell<Option<((u64, u64), u64)>>);

impl HostKept {
    /// The thread does not come back there.
    pub fn give_up(&self) {
        assert!(self.0.take().is_some(), "nothing is kept of the thread");
    }
}

impl HostContext {
    /// The thread enters another domain.
    pub fn enter(&self, kept: &HostKept, entry: u64, stack: u64) {
        self.expect_call();
        let own = (self.at.replace((entry, stack)), self.pointer.replace(0));
        assert!(kept.0.replace(Some(own)).is_none(), "something of another thread is kept here");
    }

    /// The thread is back.
    pub fn come_back(&self, kept: &HostKept) {
        let (at, pointer) = kept.0.take().expect("a thread comes back of which nothing is kept");
        self.at.set(at);
        self.pointer.set(pointer);
        self.interrupted.set(false);
        self.change(|regs| regs.again = false);
    }

    fn change(&self, change: impl FnOnce(&mut Regs)) {
        let mut regs = self.regs.get();
        change(&mut regs);
        self.regs.set(regs);
    }

    fn expect_call(&self) {
        assert!(!self.interrupted.get(), "results for a thread that made no call");
    }
}

impl port::Context for HostContext {
    fn new() -> Self {
        HostContext::default()
    }

    fn call(&self) -> (u64, [u64; 6]) {
        let regs = self.regs.get();
        (regs.number, regs.args)
    }

    fn words(&self) -> [u64; 4] {
        self.regs.get().words
    }

    fn set_words(&self, words: [u64; 4]) {
        self.expect_call();
        self.change(|regs| regs.words = words);
    }

    fn set_results(&self, status: Status, badge: u64, info: Info) {
        self.expect_call();
        self.change(|regs| {
            regs.number = status.0;
            regs.args[0] = badge;
            regs.args[1] = info.0;
            assert!(!regs.again, "results for a call that is to be issued again");
        });
    }

    fn restart(&self, number: u64, args: [u64; 6]) {
        self.expect_call();
        self.change(|regs| {
            regs.number = number;
            regs.args = args;
            regs.again = true;
        });
        let (instruction, stack) = self.at.get();
        self.at.set((instruction.wrapping_sub(CALL_LENGTH), stack));
    }

    fn reset(&self) {
        self.regs.set(Regs::default());
        self.at.set((0, 0));
        self.pointer.set(0);
        self.interrupted.set(false);
    }

    fn position(&self) -> (u64, u64) {
        self.at.get()
    }

    fn set_instruction(&self, at: u64) {
        self.change(|regs| regs.again = false);
        self.at.set((at, self.at.get().1));
    }

    fn set_stack(&self, at: u64) {
        self.at.set((self.at.get().0, at));
    }

    fn set_argument(&self, value: u64) {
        self.change(|regs| regs.args[0] = value);
    }

    fn set_thread_pointer(&self, value: u64) {
        self.pointer.set(value);
    }
}
