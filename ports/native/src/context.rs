//! A thread's saved registers.

use abi::{Info, Status};
use kernel::port;
use std::cell::Cell;

/// The registers of a running thread that a system call uses, before and after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regs {
    /// Number word; then the status.
    pub number: u64,
    /// Slot or partners; then the badge.
    pub first: u64,
    /// Descriptor of the message, sent or received.
    pub info: u64,
    /// Message words.
    pub words: [u64; 4],
}

/// Saved registers, on lines of their own as all that a CPU has to itself.
#[repr(C, align(64))]
pub struct Context {
    /// Where the thread goes on: what its driver knows it by.
    instruction: Cell<u64>,
    stack: Cell<u64>,
    number: Cell<u64>,
    arguments: [Cell<u64>; 6],
    words: [Cell<u64>; 4],
    pointer: Cell<u64>,
}

impl Context {
    /// What entry code saves first: where the thread goes on, and its stack.
    #[inline(always)]
    pub fn save_position(&self, at: u64) {
        self.instruction.set(at);
        self.stack.set(at);
    }

    /// What it saves in front of the general path, besides.
    #[inline(always)]
    pub fn save(&self, regs: &Regs) {
        self.number.set(regs.number);
        self.arguments[0].set(regs.first);
        self.arguments[1].set(regs.info);
        port::Context::set_words(self, regs.words);
    }

    /// The registers to go on with.
    #[inline(always)]
    pub fn load(&self) -> Regs {
        Regs {
            number: self.number.get(),
            first: self.arguments[0].get(),
            info: self.arguments[1].get(),
            words: port::Context::words(self),
        }
    }

    /// Where the thread goes on.
    #[inline(always)]
    pub fn instruction(&self) -> u64 {
        self.instruction.get()
    }
}

impl port::Context for Context {
    fn new() -> Context {
        Context {
            instruction: Cell::new(0),
            stack: Cell::new(0),
            number: Cell::new(0),
            arguments: [const { Cell::new(0) }; 6],
            words: [const { Cell::new(0) }; 4],
            pointer: Cell::new(0),
        }
    }

    #[inline(always)]
    fn call(&self) -> (u64, [u64; 6]) {
        (self.number.get(), self.arguments.each_ref().map(Cell::get))
    }

    #[inline(always)]
    fn words(&self) -> [u64; 4] {
        self.words.each_ref().map(Cell::get)
    }

    #[inline(always)]
    fn set_words(&self, words: [u64; 4]) {
        for (cell, word) in self.words.iter().zip(words) {
            cell.set(word);
        }
    }

    #[inline(always)]
    fn set_results(&self, status: Status, badge: u64, info: Info) {
        self.number.set(status.0);
        self.arguments[0].set(badge);
        self.arguments[1].set(info.0);
    }

    fn restart(&self, number: u64, _args: [u64; 6]) {
        panic!("call {number:#x} is to be issued again: no driver makes a call that takes long");
    }

    fn reset(&self) {
        for cell in [&self.instruction, &self.stack, &self.number, &self.pointer] {
            cell.set(0);
        }
        self.arguments.iter().chain(&self.words).for_each(|cell| cell.set(0));
    }

    fn position(&self) -> (u64, u64) {
        (self.instruction.get(), self.stack.get())
    }

    fn set_instruction(&self, at: u64) {
        self.instruction.set(at);
    }

    fn set_stack(&self, at: u64) {
        self.stack.set(at);
    }

    fn set_argument(&self, value: u64) {
        self.arguments[0].set(value);
    }

    fn set_thread_pointer(&self, value: u64) {
        self.pointer.set(value);
    }
}
