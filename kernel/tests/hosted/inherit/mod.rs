//! Inheriting mutexes and conditions: stories, and random programs against a model that computes
//! every effective priority from scratch.

mod attack;
mod beside;
mod branches;
mod calls;
mod ceilings;
mod composed;
mod conditions;
mod equals;
mod followers;
mod followers_time;
mod hostile;
mod leaves;
mod lending;
mod long;
mod model;
mod moves;
mod places;
mod random;
mod releases;
mod reserved_sleepers;
mod sections;
mod servers;
mod set;
mod sleepers;
mod stands;
mod stories;

use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::{boot, buffer, timed};
use abi::Info;
use abi::call::{Call, NOTHING, Timeout};
use abi::futex::{HELPERS, Scope, WAITERS, helpers, number};
use abi::reservation::Inheritance;
use kernel::access::Ref;
use kernel::object::Thread;
use kernel::object::inherit::ByEdge;
use kernel::object::thread::State;
use kernel::sched::Scheduler;
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
    board.id(Scope::Domain, thread)
}

/// Where a tree orders threads: the priority whose leaf it uses.
fn effective<S: System<Port = Host>>(board: &Board<S>, thread: u32) -> i16 {
    let at = reference(board, thread);
    if !S::Scheduler::TREE {
        return at.priority.get();
    }
    let trees = &board.machine.kernel.trees;
    let leaf = board.open(|all| trees.leaf_of(all, at));
    trees.urgency_of(leaf)
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

/// A wait for a condition whose first word is `expected`, and then for a mutex; the condition until
/// an instant or for ever.
fn cond_wait(
    condition: usize,
    expected: u32,
    mutex: usize,
    until: Option<u64>,
    ids: [u32; HELPERS],
) -> Regs {
    let timeout = if until.is_some() { Timeout::At } else { Timeout::Never };
    let [first, second] = helpers(ids);
    let (at, mutex) = (address(condition), address(mutex));
    let args = [at, expected.into(), mutex, until.unwrap_or(0), first, second];
    Regs::call(number(Call::InheritCondWait, Scope::Domain, timeout), &args)
}

/// One thread that waits for a condition is woken, or all.
fn notify(condition: usize, all: bool) -> Regs {
    let number = number(Call::InheritRequeue, Scope::Domain, Timeout::Never);
    Regs::call(number, &[address(condition), all.into()])
}

/// A thread helps a condition from now on, or no longer.
fn tell(condition: usize, helper: u32, helps: bool) -> Regs {
    let number = number(Call::InheritHelp, Scope::Domain, Timeout::Never);
    Regs::call(number, &[address(condition), helper.into(), helps.into()])
}

/// The helpers of the condition that a thread waits for, and which of them are lent to.
fn helpers_of<S: System<Port = Host>>(board: &Board<S>, waiter: u32) -> Vec<(u32, bool)> {
    let waits = board.thread(waiter).inherit.waits.get().expect("it waits");
    let turnstile = &board.thread(waits.index()).inherit.turnstile;
    let edges = ByEdge::all().map(|which| turnstile.edge(which));
    edges.filter_map(|edge| Some((edge.to.get()?.index(), edge.lends.get()))).collect()
}

/// A thread owns a mutex that is free, or waits for it, until an instant or for ever.
#[track_caller]
fn lock_until<S: System<Port = Host>>(
    board: &Board<S>,
    thread: u32,
    mutex: usize,
    until: Option<u64>,
) {
    if let Some(expected) = mark(board, thread, mutex) {
        board.does(thread, wait(mutex, expected, until));
        assert_eq!(board.thread(thread).state.get(), State::Waiting);
    }
}

/// The same for ever.
#[track_caller]
fn lock<S: System<Port = Host>>(board: &Board<S>, thread: u32, mutex: usize) {
    lock_until(board, thread, mutex, None);
}

/// A sleep until an instant.
fn sleep(until: u64) -> Regs {
    timed(NOTHING.into(), NOTHING.into(), Info(0), Timeout::At, until)
}

/// A row of threads of priorities `step` apart, each of which waits for the mutex of the one
/// before; one that is to wait for the last of them, and one above all, which sleep until these
/// instants. The first one runs.
fn row<S: System<Port = Host>>(count: u32, step: u8, [above, last]: [u64; 2]) -> Board<S> {
    let threads: Vec<(u32, u8)> = (1..=count + 2).map(|at| (1, step * at as u8)).collect();
    let board: Board<S> = boot(&threads);
    board.machine.kernel.trees.set_inheritance(Inheritance::Charged);
    board.does(count + 2, sleep(above));
    board.does(count + 1, sleep(last));
    (1..=count).for_each(|thread| assert!(mark(&board, thread, thread as usize).is_none()));
    (2..=count).rev().for_each(|thread| lock(&board, thread, thread as usize - 1));
    let first = i16::from(step) * count as i16;
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), first));
    board
}

/// Whether any thread is to follow a change of waits.
fn follows<S: System<Port = Host>>(board: &Board<S>) -> bool {
    board.machine.kernel.waits.has_followers()
}

/// All that happens without a program's doing. How often threads were to follow in between.
fn settles<S: System<Port = Host>>(board: &Board<S>) -> u32 {
    let mut left = 0;
    loop {
        board.check_core();
        left += u32::from(follows(board));
        if !board.step() {
            return left;
        }
    }
}
