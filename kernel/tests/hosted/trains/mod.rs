//! Trains: stories, and random programs with the invariants.

mod ends;
mod mixed;
mod mutexes;
mod random;
mod stories;

use crate::support::board::Board;
use crate::support::context::{CALL_LENGTH, Regs};
use crate::support::host::Host;
use crate::support::scene::{FREE, system, timed};
use abi::call::{Call, NOTHING, Timeout};
use abi::train::number;
use abi::{Info, Rights};
use kernel::system::System;

/// Where trains lie in the table of each domain that has a capability to one: that of domain `n`
/// in slot `TRAIN + n`.
pub const TRAIN: u64 = FREE + 20;
/// Where stacks of trains begin, and how large each is.
pub const STACKS: u64 = 0x30_0000;
/// Bytes of a stack.
pub const STACK: u64 = 0x1000;

/// The entry of the train of a domain.
pub fn entry(domain: u64) -> u64 {
    0x10_0000 + 0x100 * domain
}

/// Making the train of a domain, with so many stacks.
pub fn create(domain: u64, stacks: u64) -> Regs {
    let args = [TRAIN + domain, entry(domain), 0x77 + domain, STACKS, STACK, stacks];
    system(Call::TrainCreate, &args)
}

/// Entering the domain, with these words.
pub fn enter(domain: u64, words: [u64; 4]) -> Regs {
    enter_until(domain, Timeout::Never, 0).with_words(words)
}

/// The same, with a limit to the wait for a stack.
pub fn enter_until(domain: u64, timeout: Timeout, until: u64) -> Regs {
    Regs::call(number(timeout), &[TRAIN + domain, 0, until])
}

/// Returning with a result and these words.
pub fn back(result: u64, words: [u64; 4]) -> Regs {
    system(Call::TrainReturn, &[result]).with_words(words)
}

/// Grants the train of the running thread's domain `domain` to the domain in this slot.
pub fn grant(to: u64, domain: u64, rights: Rights) -> Regs {
    let slot = TRAIN + domain;
    system(Call::DomainGrant, &[to, slot, slot, u64::from(rights.0)])
}

/// Waiting until an instant, or with `u64::MAX` until something happens to the thread.
pub fn sleep(until: u64) -> Regs {
    timed(NOTHING.into(), NOTHING.into(), Info(0), Timeout::At, until)
}

/// Where a thread is behind a system call that it makes here.
pub fn behind((at, stack): (u64, u64)) -> (u64, u64) {
    (at + CALL_LENGTH, stack)
}

/// Where a thread is, and its stack pointer.
pub fn position<S: System<Port = Host>>(board: &Board<S>, thread: u32) -> (u64, u64) {
    board.thread(thread).context.at.get()
}
