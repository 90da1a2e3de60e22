//! Whose time it is, and how urgent, while threads are to follow a change of waits.

use super::leaves::{Machine, away, create, lending, reserve, reserve_directly, set};
use super::{lock, lock_until, reference, sleep};
use crate::support::archive::TICK;
use crate::support::host::Event;
use crate::support::scene::{NOTIFICATION, receive};
use abi::call::Setting;
use abi::reservation::{Curve, Policy, Share, WHOLE};
use kernel::leaf::LeafRef;

const FOREVER: u64 = 1 << 50;

/// Owner 1 shares a class with 2, and is lent a leaf by 3 until that waits no longer. Between two
/// steps of that an interrupt wakes 4: what it runs is not charged to the owner.
#[test]
fn a_thread_that_runs_between_two_steps_is_not_charged_to_the_owner() {
    let mut between = 0;
    for polls in 0..12 {
        let board = lending(&[(1, 10), (1, 10), (1, 20), (1, 30)]);
        let trees = &board.machine.kernel.trees;
        let root = trees.with(|tree| tree.root(0)).expect("a tree");
        let class = create(&board, root, Some(Policy::ServiceCurves), Share::Priority(10));
        let share = Curve::linear(WHOLE / 2);
        let leaves =
            [1, 2].map(|_| create(&board, class, None, Share::Curve { guaranteed: None, share }));
        board.does(4, receive(NOTIFICATION));
        board.does(3, sleep(TICK));
        board.does(1, sleep(TICK / 2));
        board.does(2, sleep(TICK / 2));
        reserve_directly(&board, &[(1, leaves[0]), (2, leaves[1])]);
        board.wait(TICK / 2);
        lock(&board, 1, 0);
        board.wait(TICK / 2);
        lock_until(&board, 3, 0, Some(2 * TICK));
        assert_eq!(board.running(), Some(1));
        board.host.interrupt_after(polls);
        board.host.advance(TICK);
        while let Some(event) = board.host.waiting().filter(|event| *event == Event::Timer) {
            board.take(event);
        }
        let lent = board.open(|all| reference(&board, 1).lent.get(all));
        between += u32::from(trees.has_followers() && lent == LeafRef::NONE);
        board.host.raise(Event::Irq(3));
        board.interrupts();
        assert_eq!(board.running(), Some(4));
        board.wait(200 * TICK);
        board.does(4, sleep(FOREVER));
        board.does(3, sleep(FOREVER));
        board.check_all();
        let had = || leaves.map(|leaf| trees.with(|tree| tree.service(leaf)).expect("a tree"));
        let before = had();
        (0..40).for_each(|_| board.wait(TICK / 2));
        let after = had();
        let [one, two] = [0, 1].map(|at| after[at] - before[at]);
        assert!(one.abs_diff(two) <= 6 * TICK, "{one} and {two} after {polls} polls");
    }
    assert!(between > 0, "no interrupt came between the steps");
}

fn share(priority: u16) -> (u64, [u64; 4]) {
    Share::Priority(priority).encode()
}

/// Thread 2, on a leaf of priority 20, waits until the third tick for what thread 1 owns, which is
/// less urgent. Thread 3, which is above both, sleeps until the second one.
fn waits_for_a_while() -> Machine {
    let board = lending(&[(1, 10), (1, 15), (1, 40)]);
    set(&board, 3, Setting::Share, share(20));
    reserve(&board, 3, 2);
    board.does(3, sleep(2 * TICK));
    board.does(2, sleep(TICK));
    lock(&board, 1, 0);
    board.wait(TICK);
    lock_until(&board, 2, 0, Some(3 * TICK));
    board
}

/// Thread 1 is on no leaf but its own, and does not run before thread 2.
fn is_left(board: &Machine) {
    for _ in 0..20 {
        assert_eq!(board.running(), Some(2), "the owner runs on time that it is lent no more");
        board.wait(TICK);
    }
    assert!(away(board, 1) == LeafRef::NONE);
    board.check_all();
}

/// The leaf that a waiter lends becomes more urgent, and then the wait ends: the owner does not run
/// on it any more.
#[test]
fn a_leaf_that_became_more_urgent_is_left_with_the_wait() {
    let board = waits_for_a_while();
    assert!(board.running() == Some(1) && away(&board, 1) != LeafRef::NONE);
    board.wait(TICK);
    set(&board, 3, Setting::Share, share(30));
    board.does(3, sleep(FOREVER));
    assert_eq!(board.running(), Some(1));
    board.wait(TICK);
    is_left(&board);
}

/// The same where the wait ends first, while a thread above runs, which makes the leaf more urgent.
#[test]
fn a_leaf_that_becomes_more_urgent_before_the_owner_follows_is_left() {
    let board = waits_for_a_while();
    board.wait(TICK);
    assert_eq!(board.running(), Some(3));
    board.wait(TICK);
    assert_eq!((board.running(), board.machine.kernel.trees.has_followers()), (Some(3), true));
    set(&board, 3, Setting::Share, share(30));
    board.does(3, sleep(FOREVER));
    is_left(&board);
}
