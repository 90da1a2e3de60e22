//! Ceilings: the priority that a thread has at least, as it says itself.

use super::{effective, mark, wait, wake};
use crate::support::board::{Board, whole};
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::{LEAF, THREAD, boot, system};
use abi::Error;
use abi::call::{Call, Timeout};
use abi::futex::{NO_CEILING, Scope, number};
use kernel::system::{DirectLazy, Fastpath, StrictEager, System, Tree};

pub fn ceiling(priority: u64) -> Regs {
    Regs::call(number(Call::Ceiling, Scope::Domain, Timeout::Never), &[priority])
}

fn set_priority(thread: u64, priority: u64) -> Regs {
    system(Call::ThreadPriority, &[THREAD + thread, priority])
}

fn resume(thread: u64) -> Regs {
    system(Call::ThreadResume, &[THREAD + thread])
}

/// Threads of domain 1 with these priorities, of which the first one runs.
fn lowest_runs<S: System<Port = Host>>(priorities: &[u8]) -> Board<S> {
    let threads: Vec<_> = priorities.iter().map(|priority| (1, *priority)).collect();
    let board = boot(&threads);
    for thread in (2..=priorities.len() as u64).rev() {
        board.does(thread as u32, system(Call::ThreadSuspend, &[THREAD + thread]));
    }
    assert_eq!(board.running(), Some(1));
    board
}

/// A thread with a ceiling is not preempted by one that is not above that, and is told its own
/// priority; without the ceiling it is preempted at once.
fn keeps_others_out<S: System<Port = Host>>() {
    let board: Board<S> = lowest_runs(&[10, 30]);
    board.succeeds(1, ceiling(30));
    assert_eq!((board.regs.get().badge(), effective(&board, 1)), (10, 30));
    board.succeeds(1, resume(2));
    assert_eq!(board.running(), Some(1), "an equal waits");
    board.does(1, ceiling(NO_CEILING));
    assert_eq!(board.running(), Some(2));
    assert_eq!(effective(&board, 1), 10);
    board.check_core();
}

#[test]
fn a_ceiling_keeps_others_out() {
    keeps_others_out::<DirectLazy<Host>>();
    keeps_others_out::<StrictEager<Host>>();
    keeps_others_out::<Tree<Host>>();
}

/// What a thread inherits, its ceiling, and its own priority: the greatest counts, whichever ends
/// first.
#[test]
fn the_greatest_counts() {
    let board: Board<DirectLazy<Host>> = lowest_runs(&[10, 30]);
    assert_eq!(mark(&board, 1, 0), None);
    board.succeeds(1, ceiling(20));
    board.does(1, resume(2));
    let expected = mark(&board, 2, 0).expect("it is owned");
    board.does(2, wait(0, expected, None));
    assert_eq!(effective(&board, 1), 30, "it inherits");
    board.succeeds(1, ceiling(25));
    assert_eq!(effective(&board, 1), 30);
    board.does(1, wake(0));
    assert_eq!((board.running(), effective(&board, 1)), (Some(2), 25), "the ceiling stays");
    board.succeeds(2, set_priority(1, 28));
    assert_eq!(effective(&board, 1), 28, "its own priority is above");
    board.succeeds(2, set_priority(1, 5));
    assert_eq!(effective(&board, 1), 25);
}

#[test]
fn refusals() {
    let board: Board<DirectLazy<Host>> = lowest_runs(&[10, 30]);
    board.domain(1).max_priority.set(40);
    board.fails(1, ceiling(256), Error::InvalidArgument);
    board.fails(1, ceiling(41), Error::PriorityTooHigh);
    assert_eq!(effective(&board, 1), 10, "nothing has changed");
}

/// A new thread in the slot of one that had a ceiling has none.
#[test]
fn a_ceiling_ends_with_its_thread() {
    let board: Board<DirectLazy<Host>> = lowest_runs(&[10, 30]);
    board.does(1, resume(2));
    board.succeeds(2, ceiling(40));
    board.does(2, system(Call::Destroy, &[THREAD + 2]));
    board.succeeds(1, system(Call::ThreadCreate, &[THREAD + 2, 0, 7, 0, 0]));
    assert_eq!(effective(&board, 2), 7);
}

/// A thread that runs on a reservation has the urgency of that, whatever it says.
#[test]
fn a_reservation_is_above_a_ceiling() {
    let board: Board<Tree<Host>> = lowest_runs(&[10, 30]);
    board.succeeds(1, system(Call::Reserve, &[THREAD + 1, LEAF]));
    let leaf = board.thread(1).leaf.get(&whole());
    board.succeeds(1, ceiling(30));
    assert_eq!(board.thread(1).leaf.get(&whole()), leaf);
    board.check_core();
}

/// A ceiling that is taken and given up takes no turn from its thread: equals wait as before.
fn keeps_its_turn<S: System<Port = Host>>() {
    let board: Board<S> = boot(&[(1, 10), (1, 10), (1, 10)]);
    let me = board.running().expect("one of them runs");
    for _ in 0..3 {
        board.succeeds(me, ceiling(30));
        assert_eq!(board.running(), Some(me));
        board.does(me, ceiling(NO_CEILING));
        assert_eq!(board.running(), Some(me), "an equal has overtaken it");
        board.check_core();
    }
}

#[test]
fn a_ceiling_takes_no_turn() {
    keeps_its_turn::<DirectLazy<Host>>();
    keeps_its_turn::<Fastpath<Host>>();
    keeps_its_turn::<StrictEager<Host>>();
    keeps_its_turn::<Tree<Host>>();
}
