//! Whose time it is, and how urgent, while threads are to follow a change of waits.

use super::leaves::{Machine, away, create, lending, reserve, reserve_directly, set};
use super::{lock, lock_until, reference, sleep};
use crate::support::archive::TICK;
use crate::support::host::Event;
use crate::support::scene::{ENDPOINT, NOTIFICATION, THREAD, call, receive, system};
use abi::Info;
use abi::call::{Call, Setting};
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
        between += u32::from(board.machine.kernel.waits.has_followers() && lent == LeafRef::NONE);
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
/// less urgent. Thread 3, which is above both, sleeps until the second one; it watches the leaf, or
/// does not.
fn waits_for_a_while(watches: bool) -> Machine {
    let board = lending(&[(1, 10), (1, 15), (1, 40)]);
    set(&board, 3, Setting::Share, share(20));
    if watches {
        set(&board, 3, Setting::Monitor, (NOTIFICATION, [1, 0, 0, 0]));
    }
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
    let board = waits_for_a_while(false);
    assert!(board.running() == Some(1) && away(&board, 1) != LeafRef::NONE);
    board.wait(TICK);
    set(&board, 3, Setting::Share, share(30));
    board.does(3, sleep(FOREVER));
    assert_eq!(board.running(), Some(1));
    board.wait(TICK);
    is_left(&board);
}

/// The same where the wait ends first, while a thread above runs, which makes the leaf more urgent:
/// that watches its jobs, so its deadlines interrupt.
#[test]
fn a_leaf_that_becomes_more_urgent_before_the_owner_follows_is_left() {
    let board = waits_for_a_while(true);
    board.wait(TICK);
    assert_eq!(board.running(), Some(3));
    board.wait(TICK);
    assert_eq!((board.running(), board.machine.kernel.waits.has_followers()), (Some(3), true));
    set(&board, 3, Setting::Share, share(30));
    board.does(3, sleep(FOREVER));
    is_left(&board);
}

/// A server without a reservation works for an owner that is lent a leaf. It loses its own
/// reservation, while an interrupt is pending: no thread between the owner and the one that lends
/// goes before it.
#[test]
fn a_server_that_comes_to_what_its_caller_is_lent_is_not_passed_over() {
    for polls in 0..8 {
        let board = lending(&[(1, 10), (1, 5), (1, 30), (1, 20), (1, 40)]);
        set(&board, 5, Setting::Share, share(15));
        reserve(&board, 5, 2);
        board.does(5, sleep(4 * TICK));
        board.does(3, sleep(TICK));
        board.does(4, sleep(3 * TICK));
        board.does(2, receive(ENDPOINT));
        lock(&board, 1, 0);
        board.does(1, call(ENDPOINT, Info::new(0, 0)));
        assert_eq!(board.running(), Some(2));
        board.wait(TICK);
        lock(&board, 3, 0);
        assert_eq!(board.running(), Some(2), "on its reservation");
        board.wait(2 * TICK);
        assert_eq!(board.running(), Some(4));
        board.wait(TICK);
        assert_eq!(board.running(), Some(5));
        board.host.interrupt_after(polls);
        board.call(system(Call::Reserve, &[THREAD + 2, 0]));
        while board.step() {}
        assert_eq!(board.running(), Some(5));
        board.check_all();
        board.does(5, sleep(FOREVER));
        assert_eq!(board.running(), Some(2), "on the waiter's leaf, after {polls} polls");
        board.check_all();
    }
}

/// The same of a thread that comes to a leaf that all CPUs share, or goes from one: that is above
/// or below others by its class, which is below no CPU's root.
#[test]
fn a_thread_that_comes_to_shared_time_or_goes_is_not_passed_over() {
    for (comes, polls) in [true, false].into_iter().flat_map(|c| (0..8).map(move |p| (c, p))) {
        let board = lending(&[(1, 1), (1, 10), (1, 30), (1, 40)]);
        let trees = &board.machine.kernel.trees;
        let shared = trees.with(|tree| tree.shared()).expect("a tree");
        let rank = trees.with(|tree| tree.set_share(shared, Share::Priority(35), 0));
        assert_eq!(rank, Some(Ok(())));
        let leaf = create(&board, shared, None, Share::Deadline);
        let domain = board.thread(2).domain.get();
        board.does(4, sleep(2 * TICK));
        board.does(3, sleep(TICK));
        assert_eq!(board.running(), Some(2));
        board.open(|all| {
            let name = trees.name(leaf);
            if comes {
                all.open(domain).reservation.set(name);
            } else {
                reference(&board, 2).reservation.set(all, name);
            }
        });
        if !comes {
            board.does(2, sleep(TICK / 2));
            board.wait(TICK / 2);
        }
        board.wait(TICK);
        assert_eq!(board.running(), Some(if comes { 3 } else { 2 }));
        board.wait(TICK);
        assert_eq!(board.running(), Some(4));
        board.host.interrupt_after(polls);
        board.call(system(Call::Reserve, &[THREAD + 2, 0]));
        while board.step() {}
        assert_eq!(board.running(), Some(4));
        board.check_all();
        board.does(4, sleep(FOREVER));
        assert_eq!(board.running(), Some(if comes { 2 } else { 3 }), "after {polls} polls");
        board.check_all();
    }
}
