//! Ceilings: the priority that a thread has at least, as it says itself.

use super::leaves::lending;
use super::{effective, lock, mark, wait, wake};
use crate::support::board::{Board, whole};
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::{ENDPOINT, LEAF, THREAD, boot, call, receive, send, system};
use abi::call::{Call, REPLY, Timeout};
use abi::futex::{NO_CEILING, Scope, number};
use abi::{Error, Info};
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

/// A thread that runs on a reservation is refused a ceiling, since its class says when it runs.
/// One that it had before is given up as anywhere, and counts again away from there.
#[test]
fn on_a_reservation_there_is_no_ceiling() {
    let board: Board<Tree<Host>> = lowest_runs(&[10, 30]);
    let reserve = |leaf| system(Call::Reserve, &[THREAD + 1, leaf]);
    board.succeeds(1, ceiling(20));
    board.succeeds(1, reserve(LEAF));
    let leaf = board.thread(1).leaf.get(&whole());
    for higher in [21, 30, 200] {
        board.fails(1, ceiling(higher), Error::OnReservation);
    }
    board.fails(1, ceiling(256), Error::InvalidArgument);
    for lower in [20, 19] {
        board.succeeds(1, ceiling(lower));
        assert_eq!(board.thread(1).leaf.get(&whole()), leaf);
    }
    board.succeeds(1, reserve(0));
    assert_eq!(effective(&board, 1), 19, "it counts again");
    board.succeeds(1, reserve(LEAF));
    board.succeeds(1, ceiling(NO_CEILING));
    board.fails(1, ceiling(0), Error::OnReservation);
    board.succeeds(1, reserve(0));
    assert_eq!(effective(&board, 1), 10);
    board.check_core();
}

/// A thread whose reservation is gone runs at the lowest priority, whatever its ceiling.
#[test]
fn without_its_reservation_there_is_no_ceiling() {
    let board: Board<Tree<Host>> = lowest_runs(&[10, 30]);
    board.succeeds(1, system(Call::Reserve, &[THREAD + 1, LEAF]));
    board.succeeds(1, system(Call::Destroy, &[LEAF]));
    board.fails(1, ceiling(30), Error::OnReservation);
    assert_eq!(effective(&board, 1), 0);
}

/// A thread that owes an answer to one on a reservation runs there, too: a ceiling is kept all the
/// same, and counts behind the answer. Which mutexes a server gets depends on no caller.
#[test]
fn on_a_callers_reservation_a_ceiling_is_kept() {
    for reserved in [false, true] {
        let board: Board<Tree<Host>> = boot(&[(1, 10), (2, 30), (1, 35)]);
        board.does(3, system(Call::ThreadSuspend, &[THREAD + 3]));
        board.does(2, receive(ENDPOINT));
        if reserved {
            board.succeeds(1, system(Call::Reserve, &[THREAD + 1, LEAF]));
        }
        board.does(1, call(ENDPOINT, Info(0)));
        let leaf = board.thread(2).leaf.get(&whole());
        board.succeeds(2, ceiling(40));
        assert_eq!(board.regs.get().badge(), 30);
        if reserved {
            assert_eq!(board.thread(2).leaf.get(&whole()), leaf, "it is the caller's still");
            assert_eq!(leaf, board.thread(1).leaf.get(&whole()));
        }
        board.does(2, send(REPLY.into(), Info(0)));
        if reserved {
            board.does(1, receive(ENDPOINT + 1));
        }
        assert_eq!(board.running(), Some(2));
        assert_eq!(effective(&board, 2), 40, "it counts");
        board.succeeds(2, resume(3));
        assert_eq!(board.running(), Some(2), "it keeps others out");
        board.does(2, ceiling(NO_CEILING));
        assert_eq!((board.running(), effective(&board, 2)), (Some(3), 30));
        board.check_core();
    }
}

/// A thread that is lent a reservation along a wait runs by its priority otherwise: mutexes that it
/// locks inside depend on no waiter.
#[test]
fn on_a_lent_reservation_there_is_a_ceiling() {
    let board = lending(&[(1, 10), (1, 30)]);
    board.does(2, set_priority(2, 5));
    lock(&board, 1, 0);
    board.does(1, system(Call::Reserve, &[THREAD + 2, LEAF]));
    let leaf = board.thread(2).leaf.get(&whole());
    lock(&board, 2, 0);
    assert_eq!((board.running(), board.thread(1).leaf.get(&whole())), (Some(1), leaf));
    board.succeeds(1, ceiling(40));
    board.does(1, wake(0));
    board.does(2, receive(ENDPOINT));
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 40), "it counts then");
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
