//! A machine for this crate's tests: some memory, and system calls whose outcomes are written down.

use crate::arch::{self, Outcome};
use abi::{Info, PAGE, Rights, Status};
use core::cell::RefCell;
use core::sync::atomic::AtomicU64;
use std::boxed::Box;
use std::collections::VecDeque;
use std::vec::Vec;

/// Calls that no test makes.
const MOST_CALLS: usize = 10_000;

/// The address of the first word of the memory.
pub const BASE: u64 = 0x1_0000_0000;

/// A system call as it was made: number word, arguments, message words.
pub type Made = (u64, [u64; 6], [u64; 4]);

/// A machine that has no kernel.
pub struct Scripted {
    memory: &'static [AtomicU64],
    outcomes: RefCell<VecDeque<Outcome>>,
    made: RefCell<Vec<Made>>,
}

/// A machine that runs this host thread's programs until this is dropped.
pub struct Installed(&'static Scripted);

/// Installs a machine with some pages of zeroed memory, all of whose calls succeed with zeros.
pub fn install(pages: u64) -> Installed {
    let memory = (0..pages * PAGE / 8).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
    install_with(Box::leak(memory.into_boxed_slice()))
}

fn install_with(memory: &'static [AtomicU64]) -> Installed {
    let machine: &'static Scripted = Box::leak(Box::new(Scripted {
        memory,
        outcomes: RefCell::default(),
        made: RefCell::default(),
    }));
    arch::install(Some(machine));
    Installed(machine)
}

/// What a successful call returns, with these words.
pub fn arrives(badge: u64, info: Info, words: [u64; 4]) -> Outcome {
    Outcome { status: Status::OK, badge, info, words }
}

/// What a call with this status returns.
pub fn ends(status: Status) -> Outcome {
    Outcome { status, ..arrives(0, Info(0), [0; 4]) }
}

impl Installed {
    /// The next calls end so.
    pub fn answer(&self, outcomes: impl IntoIterator<Item = Outcome>) {
        self.0.outcomes.borrow_mut().extend(outcomes);
    }

    /// Its memory.
    pub fn share(&self) -> Share {
        Share(self.0.memory)
    }

    /// The calls that were made since this was last asked.
    pub fn made(&self) -> Vec<Made> {
        self.0.made.take()
    }
}

/// The memory of a machine, for others on further host threads.
#[derive(Clone, Copy)]
pub struct Share(&'static [AtomicU64]);

impl Share {
    /// Installs a machine with this memory.
    pub fn install(self) -> Installed {
        install_with(self.0)
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        arch::install(None);
    }
}

impl arch::Machine for Scripted {
    fn call(&self, number: u64, arguments: [u64; 6], words: [u64; 4]) -> Outcome {
        self.made.borrow_mut().push((number, arguments, words));
        assert!(self.made.borrow().len() < MOST_CALLS, "a loop that does not end");
        self.outcomes.borrow_mut().pop_front().unwrap_or(ends(Status::OK))
    }

    fn counter(&self) -> u64 {
        self.made.borrow().len() as u64
    }

    fn reach(&self, address: u64, _: Rights, _: bool) -> Option<&'static AtomicU64> {
        let index = address.checked_sub(BASE).expect("an address of the memory") / 8;
        Some(self.memory.get(index as usize).expect("an address of the memory"))
    }
}
