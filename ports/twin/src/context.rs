//! A thread's saved registers, and what it stopped with.

use crate::signals::Refusal;
use abi::message::FaultKind;
use abi::{Info, Status};
use cells::Cell;
use kernel::port;
use rt::arch::hosted::LENGTH;

/// The registers of a system call; results overwrite arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Regs {
    /// Number word, then the status.
    pub number: u64,
    /// Arguments; the first two then hold badge and descriptor.
    pub args: [u64; 6],
    /// Message words.
    pub words: [u64; 4],
}

/// What a thread stopped with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trap {
    /// Nothing: it has not begun where it stands.
    #[default]
    Start,
    /// A system call.
    Call,
    /// Work, of which so much is left.
    Work(u64),
    /// A fault, by a probe or not, behind the instruction or before it.
    Fault {
        /// What happened.
        kind: FaultKind,
        /// Address or detail.
        detail: u64,
        /// The machine's error code: the rights that were wanted.
        code: u64,
        /// The thread can go on behind the instruction.
        probing: bool,
        /// It stands behind it.
        trap: bool,
    },
    /// Something that the host refused: it cannot go on where it stands.
    Refused(Refusal),
}

/// Saved state of a thread.
#[derive(Default)]
pub struct Context {
    /// Registers of its system call.
    pub regs: Cell<Regs>,
    /// Instruction and stack pointer.
    pub at: Cell<(u64, u64)>,
    /// The instruction pointer was set from outside.
    pub moved: Cell<bool>,
    /// The system call is to be issued again.
    pub again: Cell<bool>,
    /// What it stopped with.
    pub trap: Cell<Trap>,
    /// Number of its coroutine; 0: none.
    pub fiber: Cell<u32>,
    /// It was interrupted between system calls: no call may leave results here.
    pub interrupted: Cell<bool>,
    /// The thread pointer.
    pub pointer: Cell<u64>,
    /// It has called `work` since it came into the domain that it is in.
    pub worked: Cell<bool>,
}

impl Context {
    fn change(&self, change: impl FnOnce(&mut Regs)) {
        assert!(!self.interrupted.get(), "results for a thread that made no call");
        let mut regs = self.regs.get();
        change(&mut regs);
        self.regs.set(regs);
    }
}

/// What is kept of a thread that is in another domain: where its coroutine stands, which waits.
#[derive(Default)]
pub struct Kept {
    fiber: Cell<u32>,
    at: Cell<(u64, u64)>,
    pointer: Cell<u64>,
}

impl Kept {
    /// The thread does not come back there. Returns the coroutine that waits.
    pub fn give_up(&self) -> u32 {
        self.fiber.take()
    }
}

impl Context {
    /// The thread enters another domain, with a coroutine of its own there.
    pub fn enter(&self, kept: &Kept, at: (u64, u64)) {
        kept.fiber.set(self.fiber.take());
        kept.at.set(self.at.replace(at));
        kept.pointer.set(self.pointer.take());
        self.moved.set(true);
        self.trap.set(Trap::Start);
        self.worked.set(false);
    }

    /// The thread is back in the coroutine that waits. Returns the one that it leaves, 0 if it had
    /// none yet.
    pub fn come_back(&self, kept: &Kept) -> u32 {
        self.at.set(kept.at.get());
        self.pointer.set(kept.pointer.get());
        self.moved.set(false);
        self.again.set(false);
        self.interrupted.set(false);
        self.trap.set(Trap::Call);
        self.worked.set(false);
        self.fiber.replace(kept.fiber.take())
    }
}

impl port::Context for Context {
    fn new() -> Self {
        Context::default()
    }

    #[inline]
    fn call(&self) -> (u64, [u64; 6]) {
        let regs = self.regs.get();
        (regs.number, regs.args)
    }

    #[inline]
    fn words(&self) -> [u64; 4] {
        self.regs.get().words
    }

    #[inline]
    fn set_words(&self, words: [u64; 4]) {
        self.change(|regs| regs.words = words);
    }

    #[inline]
    fn set_results(&self, status: Status, badge: u64, info: Info) {
        self.change(|regs| {
            regs.number = status.0;
            regs.args[0] = badge;
            regs.args[1] = info.0;
        });
    }

    fn restart(&self, number: u64, args: [u64; 6]) {
        self.change(|regs| {
            regs.number = number;
            regs.args = args;
        });
        self.again.set(true);
        let (instruction, stack) = self.at.get();
        self.at.set((instruction.wrapping_sub(LENGTH), stack));
    }

    fn reset(&self) {
        self.regs.set(Regs::default());
        self.at.set((0, 0));
        self.moved.set(true);
        self.again.set(false);
        self.trap.set(Trap::Start);
        self.interrupted.set(false);
        self.worked.set(false);
        self.pointer.set(0);
    }

    fn position(&self) -> (u64, u64) {
        self.at.get()
    }

    fn set_instruction(&self, at: u64) {
        self.moved.set(true);
        self.at.set((at, self.at.get().1));
    }

    fn set_stack(&self, at: u64) {
        self.at.set((self.at.get().0, at));
    }

    fn set_argument(&self, value: u64) {
        let mut regs = self.regs.get();
        regs.args[0] = value;
        self.regs.set(regs);
    }

    fn set_thread_pointer(&self, value: u64) {
        self.pointer.set(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_noted_anew_in_each_domain_that_a_thread_comes_into() {
        let (context, kept) = (Context::default(), Kept::default());
        context.worked.set(true);
        context.enter(&kept, (0, 0));
        assert!(!context.worked.replace(true), "it has not worked there");
        context.come_back(&kept);
        assert!(!context.worked.get());
    }
}
