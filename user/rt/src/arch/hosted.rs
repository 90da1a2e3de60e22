//! A program inside a process: each thread is a coroutine, and a [`Machine`] stands for the
//! system call instruction, the counter, memory and faults. Nothing here is unsafe; the machine
//! answers for what it hands out.
//!
//! A program's text is a page of [`text`] words. Compiled code has no addresses of its own there:
//! a running thread stands at [`RUNNING`], one that tries something forbidden at [`PROBING`].

#![forbid(unsafe_code)]

extern crate std;

pub(crate) mod address;
pub(crate) mod note;
mod probe;
mod start;

pub use probe::*;
pub use start::Start;
pub use start::{Left, Panic, begin, exchange_left, message_of_panic, panics, remember_panics};
pub(crate) use start::{function, thread_entry, train_entry, visitor};

use super::Outcome;
pub use crate::train::Handler;
use crate::{Buffer, Env};
use abi::Rights;
use abi::message::FaultKind;
use core::sync::atomic::{AtomicU64, Ordering};
use std::cell::Cell;
use std::thread_local;

/// Where a program's text lies, and its first instruction.
pub const TEXT: u64 = 0x20_0000;
/// Where a thread stands that runs compiled code.
pub const RUNNING: u64 = TEXT + 0x100;
/// Where a thread stands that tries what may be refused.
pub const PROBING: u64 = TEXT + 0x200;
/// Length of a system call instruction, and of a probe's.
pub const LENGTH: u64 = 2;

/// A program: what it is called, and its function.
pub type Program = (&'static str, fn(&Env));

/// A system call argument.
#[derive(Clone, Copy, Debug)]
pub struct Word(u64);

/// An argument that the call does not look at: it has a value, which means nothing.
pub const ANY: Word = Word(0xdead_dead_dead_dead);

/// An argument with a value.
pub const fn word(value: u64) -> Word {
    Word(value)
}

/// The instructions that a thread can begin with, as words of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// The program with this index in the machine's table.
    Program(u32),
    /// A further thread: its function, environment and argument are on its stack.
    Thread,
    /// The server of [`tiny_server`].
    Server,
    /// The entry of a train: function, environment and argument are in its record.
    Train,
}

impl Instruction {
    const MARK: u64 = u64::from_le_bytes(*b"\0\0\0\0\0GIU");

    /// The instruction as a word.
    pub const fn word(self) -> u64 {
        let code = match self {
            Instruction::Program(index) => 1 << 32 | index as u64,
            Instruction::Thread => 2 << 32,
            Instruction::Server => 3 << 32,
            Instruction::Train => 4 << 32,
        };
        Instruction::MARK | code
    }

    /// The instruction in a word.
    pub const fn from_word(word: u64) -> Option<Instruction> {
        if word >> 40 != Instruction::MARK >> 40 {
            return None;
        }
        match word >> 32 & 0xff {
            1 => Some(Instruction::Program(word as u32)),
            2 => Some(Instruction::Thread),
            3 => Some(Instruction::Server),
            4 => Some(Instruction::Train),
            _ => None,
        }
    }
}

/// The text of the program with this index, which starts at its first word.
pub const fn text(index: u32) -> [u64; 3] {
    let further = [Instruction::Thread.word(), Instruction::Train.word()];
    [Instruction::Program(index).word(), further[0], further[1]]
}

/// What stands for the hardware. Each function may suspend the thread for any time, or for ever.
/// Those with a body are what a machine for tests of single functions can do without; a program
/// that uses one there panics.
pub trait Machine {
    /// Enters the kernel.
    fn call(&self, number: u64, arguments: [u64; 6], words: [u64; 4]) -> Outcome;
    /// The cycle counter.
    fn counter(&self) -> u64 {
        panic!("no counter here")
    }
    /// Computes for `n` units of time.
    fn work(&self, n: u64) {
        panic!("no work of {n} units here")
    }
    /// The word at an address, for use with these rights; a fault until there is one. `None`: it
    /// was refused, and a thread that is `probing` goes on without.
    fn reach(&self, address: u64, rights: Rights, probing: bool) -> Option<&'static AtomicU64>;
    /// Reads a device's register at an address; plain memory where the machine has no device there.
    fn read_register(&self, address: u64) -> u64 {
        address::word(address, Rights::READ).load(Ordering::Relaxed)
    }
    /// Writes to one.
    fn write_register(&self, address: u64, value: u64) {
        address::word(address, Rights::WRITE).store(value, Ordering::Relaxed);
    }
    /// Faults while probing, before the instruction or, as a trap, behind it.
    fn fault(&self, kind: FaultKind, trap: bool) {
        panic!("a fault: {}, trap {trap}", kind.name())
    }
    /// Tells a line to whom the simulation is shown.
    fn say(&self, line: &str) {
        panic!("a line: {line}")
    }
    /// A word that stands for a function until the machine ends.
    fn function(&self, function: fn(&Env, u64)) -> u64 {
        panic!("no thread for {function:?} here")
    }
    /// The function that a word stands for.
    fn function_of(&self, word: u64) -> Option<fn(&Env, u64)> {
        panic!("no function of {word:#x} here")
    }
    /// A word that stands for what visitors of a train run until the machine ends.
    fn handler(&self, handler: Handler) -> u64 {
        panic!("no train for {handler:?} here")
    }
    /// What visitors run for which a word stands.
    fn handler_of(&self, word: u64) -> Option<Handler> {
        panic!("no handler of {word:#x} here")
    }
    /// The thread's vector state.
    fn vector(&self) -> &Cell<u64> {
        panic!("no vector state here")
    }
    /// The thread pointer.
    fn thread_pointer(&self) -> u64 {
        panic!("no thread pointer here")
    }
}

thread_local! {
    static MACHINE: Cell<Option<&'static dyn Machine>> = const { Cell::new(None) };
}

/// Sets the machine for this host thread, or removes it. Returns the one before.
pub fn install(machine: Option<&'static dyn Machine>) -> Option<&'static dyn Machine> {
    MACHINE.replace(machine)
}

/// The message buffer at an address of the machine, for tests of what uses one.
pub fn buffer(address: u64) -> Buffer {
    Buffer::at(address)
}

#[inline(always)]
fn machine() -> &'static dyn Machine {
    MACHINE.get().expect("a program runs on a machine")
}

/// Enters the kernel.
#[inline(always)]
pub fn syscall(number: u64, a: [Word; 6], w: [Word; 4]) -> Outcome {
    machine().call(number, a.map(|word| word.0), w.map(|word| word.0))
}

/// The cycle counter.
pub fn counter() -> u64 {
    machine().counter()
}

/// Two counter reads with nothing between them.
pub fn counter_pair() -> (u64, u64) {
    (counter(), counter())
}

/// Computes for `n` units of time.
pub fn work(n: u64) {
    machine().work(n);
}

/// The same, where it takes long.
pub fn long_work(n: u64) {
    work(n);
}

/// Writes the low half of the cycle counter into a word, over and over.
pub fn stamp_for_ever(stamp: &AtomicU64) -> ! {
    loop {
        let now = counter() & 0xffff_ffff;
        stamp.store(now, core::sync::atomic::Ordering::Relaxed);
        work(1);
    }
}
