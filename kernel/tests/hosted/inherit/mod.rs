//! Inheriting mutexes: stories, and random programs against a model that computes every effective
//! priority from scratch.

mod ceilings;
mod random;
mod set;
mod stories;

use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::buffer;
use abi::call::{Call, Timeout};
use abi::futex::{Scope, WAITERS, number};
use kernel::access::Ref;
use kernel::manage::futex::identity;
use kernel::object::Thread;
use kernel::system::System;

/// The first word of thread 1's message buffer that is a mutex.
const MUTEX: usize = 300;

/// The address of a mutex.
fn address(mutex: usize) -> u64 {
    buffer(1) + 8 * (MUTEX + mutex) as u64
}

fn reference<S: System<Port = Host>>(board: &Board<S>, thread: u32) -> Ref<Thread<Host>> {
    board.machine.kernel.threads.get(thread).expect("a thread of that index")
}

fn id<S: System<Port = Host>>(board: &Board<S>, thread: u32) -> u32 {
    let at = reference(board, thread);
    identity::id(board.machine.kernel, Scope::Domain, at.domain.get(), at)
}

fn effective<S: System<Port = Host>>(board: &Board<S>, thread: u32) -> i16 {
    reference(board, thread).priority.get()
}

/// What a library does before it calls: it owns a free mutex, or marks it and is to wait with what
/// this returns.
fn mark<S: System<Port = Host>>(board: &Board<S>, thread: u32, mutex: usize) -> Option<u32> {
    let pair = board.read(1, MUTEX + mutex);
    if pair == 0 {
        board.write(1, MUTEX + mutex, id(board, thread).into());
        return None;
    }
    board.write(1, MUTEX + mutex, pair | u64::from(WAITERS));
    Some(pair as u32 | WAITERS)
}

/// A wait for a mutex whose first word is `expected`, until an instant or for ever.
fn wait(mutex: usize, expected: u32, until: Option<u64>) -> Regs {
    let timeout = if until.is_some() { Timeout::At } else { Timeout::Never };
    let args = [address(mutex), expected.into(), until.unwrap_or(0)];
    Regs::call(number(Call::InheritWait, Scope::Domain, timeout), &args)
}

/// A mutex is given up.
fn wake(mutex: usize) -> Regs {
    Regs::call(number(Call::InheritWake, Scope::Domain, Timeout::Never), &[address(mutex)])
}
