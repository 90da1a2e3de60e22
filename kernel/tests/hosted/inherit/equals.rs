//! A priority that a thread has for a time costs it no turn among its equals, and brings it none.

use super::ceilings::ceiling;
use super::{effective, lock, lock_until, mark, sleep, wake};
use crate::support::archive::{SLICE, TICK};
use crate::support::board::Board;
use crate::support::host::Host;
use crate::support::scene::{LEAF, THREAD, boot, system};
use abi::call::Call;
use abi::futex::NO_CEILING;
use abi::reservation::Inheritance;
use kernel::port::Port;
use kernel::system::*;

/// Runs a story under each way to keep the ready queue.
macro_rules! by_priorities {
    ($story:ident) => {
        $story::<Fastpath<Host>>();
        $story::<Slowpath<Host>>();
        $story::<DirectLazy<Host>>();
        $story::<DirectEager<Host>>();
        $story::<StrictLazy<Host>>();
        $story::<StrictEager<Host>>();
    };
}

/// The same, and under a tree.
macro_rules! under_each {
    ($story:ident) => {
        by_priorities!($story);
        $story::<Tree<Host>>();
    };
}

/// Equals 1 and 2 of which 1 runs and owns the mutex, and 3 above them, which sleeps until an
/// instant.
fn equals<S: System<Port = Host>>(until: u64) -> Board<S> {
    let board: Board<S> = boot(&[(1, 10), (1, 10), (1, 30)]);
    board.machine.kernel.trees.set_inheritance(Inheritance::Charged);
    board.does(3, sleep(until));
    assert_eq!(board.running(), Some(1));
    assert!(mark(&board, 1, 0).is_none());
    board
}

/// Lets time pass until a thread runs, in quarters of a tick. How many of them.
fn quarters_until<S: System<Port = Host>>(board: &Board<S>, thread: u32) -> u64 {
    let mut quarters = 0;
    while board.running() != Some(thread) {
        board.wait(TICK / 4);
        quarters += 1;
        assert!(quarters < 100 * SLICE, "thread {thread} does not run");
    }
    quarters
}

/// The owner runs for the one above, and goes on with its slice when that sleeps.
fn an_owner_keeps_its_turn<S: System<Port = Host>>() {
    let board = equals::<S>(TICK);
    board.wait(TICK);
    lock(&board, 3, 0);
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 30));
    board.does(1, wake(0));
    board.does(3, wake(0));
    board.does(3, sleep(1000 * TICK));
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 10), "{}", S::NAME);
    let left = quarters_until(&board, 2);
    assert!((4 * SLICE - 9..=4 * SLICE).contains(&left), "{}: {left} quarters", S::NAME);
}

/// The one above does not wait for ever: when it gives up and sleeps, the owner goes on.
fn a_timeout_costs_no_turn<S: System<Port = Host>>() {
    let board = equals::<S>(TICK);
    board.wait(TICK);
    lock_until(&board, 3, 0, Some(TICK + TICK / 2));
    board.wait(TICK / 2);
    board.does(3, sleep(1000 * TICK));
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 10), "{}", S::NAME);
}

/// An owner whose turn it is not runs for the one above, and then its equal goes on.
fn an_owner_gains_no_turn<S: System<Port = Host>>() {
    let board = equals::<S>(TICK);
    board.does(1, system(Call::Yield, &[abi::call::NOTHING.into()]));
    assert_eq!(board.running(), Some(2));
    board.wait(TICK);
    lock(&board, 3, 0);
    assert_eq!(board.running(), Some(1));
    board.does(1, wake(0));
    board.does(3, wake(0));
    board.does(3, sleep(1000 * TICK));
    assert_eq!(board.running(), Some(2), "{}", S::NAME);
}

/// Equals that own the mutex for the one above again and again share the time.
fn equals_share<S: System<Port = Host>>() {
    let board = equals::<S>(TICK);
    board.does(1, wake(0));
    let mut ran = [0_u64; 4];
    for round in 1..=40 * SLICE {
        let who = board.running().expect("one of the equals");
        assert!(who < 3);
        if who == 1 {
            mark(&board, 1, 0);
        }
        let until = board.host.now() + 5 * TICK / 4;
        while board.running() != Some(3) {
            let who = board.running().expect("a thread");
            ran[who as usize] += 1;
            board.wait(TICK / 4);
            assert!(board.host.now() <= until + TICK, "{}: round {round}", S::NAME);
        }
        lock(&board, 3, 0);
        if board.running() == Some(1) {
            board.does(1, wake(0));
        }
        board.does(3, wake(0));
        board.does(3, sleep(board.host.now() + 5 * TICK / 4));
    }
    let (one, two) = (ran[1] as f64, ran[2] as f64);
    assert!((0.8..1.25).contains(&(one / two)), "{}: {ran:?}", S::NAME);
}

/// A ceiling that none else uses.
fn a_ceiling_costs_no_turn<S: System<Port = Host>>() {
    let board = equals::<S>(1000 * TICK);
    for _ in 1..SLICE {
        board.succeeds(1, ceiling(20));
        board.wait(TICK);
        board.succeeds(1, ceiling(NO_CEILING));
        assert_eq!(board.running(), Some(1), "{}", S::NAME);
    }
    assert!(quarters_until(&board, 2) <= 4 * SLICE);
}

/// A slice that ends while the thread has a ceiling has ended.
fn a_ceiling_prolongs_no_slice<S: System<Port = Host>>() {
    let board = equals::<S>(1000 * TICK);
    board.succeeds(1, ceiling(20));
    (0..SLICE).for_each(|_| board.wait(TICK));
    board.does(1, ceiling(NO_CEILING));
    assert!(quarters_until(&board, 2) <= 4, "{}", S::NAME);
}

#[test]
fn owners_keep_their_turn() {
    under_each!(an_owner_keeps_its_turn);
}

#[test]
fn timeouts_cost_no_turn() {
    under_each!(a_timeout_costs_no_turn);
}

#[test]
fn owners_gain_no_turn() {
    under_each!(an_owner_gains_no_turn);
}

#[test]
fn equals_with_a_mutex_share_the_time() {
    under_each!(equals_share);
}

#[test]
fn ceilings_cost_no_turn() {
    under_each!(a_ceiling_costs_no_turn);
}

#[test]
fn ceilings_prolong_no_slice() {
    under_each!(a_ceiling_prolongs_no_slice);
}

/// Who was given another priority, or another reservation, while it was raised has no turn where
/// it falls back to.
#[test]
fn a_turn_ends_with_what_it_was_in() {
    let thread = THREAD + 1;
    let priority = |priority| system(Call::ThreadPriority, &[thread, priority]);
    let reserve = |leaf| system(Call::Reserve, &[thread, leaf]);
    for changes in [[priority(5), priority(10)], [reserve(LEAF), reserve(0)]] {
        let board = equals::<Tree<Host>>(1000 * TICK);
        board.succeeds(1, ceiling(20));
        for change in changes {
            board.succeeds(1, change);
        }
        board.does(1, ceiling(NO_CEILING));
        assert_eq!(board.running(), Some(2));
    }
}
