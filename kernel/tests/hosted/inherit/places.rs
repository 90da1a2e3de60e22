//! Threads that are ready in a lent leaf and in their own one have a place in each, as two threads
//! would.

use super::beside::{leaf_of, limit};
use super::leaves::{Machine, PAYS, create, lending, reserve_directly};
use super::{lock, reference, sleep};
use crate::support::archive::TICK;
use crate::support::scene::{ENDPOINT, NOTIFICATION, THREAD, call, receive, reply_wait, system};
use abi::Info;
use abi::call::Call;
use abi::reservation::{Server, Share, Timing};
use kernel::object::Weak;
use kernel::port::Port;
use policies::tree::NodeId;
use std::collections::BTreeMap;

const MESSAGE: Info = Info::new(0, 0);

/// How often which thread ran in which leaf, looked at in equal distances.
fn watch(board: &Machine, times: u32, mut then: impl FnMut()) -> BTreeMap<(u32, u32), u32> {
    let mut had = BTreeMap::new();
    for _ in 0..times {
        let runs = board.running().expect("a thread is ready");
        *had.entry((runs, leaf_of(board, runs))).or_insert(0) += 1;
        then();
        board.wait(TICK / 4);
    }
    had
}

/// Owners, each of a mutex, and waiters for these, which are on the scene's leaf with this budget.
/// All others are asleep meanwhile.
fn lent(board: &Machine, pairs: &[(u32, u32)], budget: [u64; 2]) {
    limit(board, PAYS, Server::Constant, budget);
    while let Some(me) = board.running() {
        let at = pairs.iter().position(|(owner, _)| *owner == me);
        let waits = pairs.iter().any(|(_, waiter)| *waiter == me);
        if let Some(mutex) = at {
            lock(board, me, mutex);
        }
        let time = if waits {
            2
        } else if at.is_some() {
            1
        } else {
            3
        };
        board.does(me, sleep(board.host.now() + time * TICK));
    }
    let own: Vec<(u32, NodeId)> = pairs.iter().map(|(_, waiter)| (*waiter, PAYS)).collect();
    reserve_directly(board, &own);
    board.wait(2 * TICK);
    for _ in pairs {
        let waiter = board.running().expect("a waiter");
        let mutex = pairs.iter().position(|(_, at)| *at == waiter).expect("it is one");
        lock(board, waiter, mutex);
    }
    board.wait(TICK);
    for (owner, _) in pairs {
        assert_eq!(board.open(|all| reference(board, *owner).leaf.get(all)), PAYS.0);
    }
}

fn had_by(had: &BTreeMap<(u32, u32), u32>, thread: u32, on: impl Fn(u32) -> bool) -> u32 {
    had.iter().filter(|((at, leaf), _)| *at == thread && on(*leaf)).map(|(_, times)| times).sum()
}

/// An owner keeps its turn among the equals of its own leaf, however often it runs in the lent one
/// in between: it has half of what both have there.
#[test]
fn it_has_its_turn_among_its_equals() {
    for period in [3, 5, 7, 12] {
        let board = lending(&[(1, 20), (1, 20), (1, 30)]);
        lent(&board, &[(1, 3)], [TICK, period * TICK]);
        let had = watch(&board, 600, || {});
        let [own, other] = [1, 2].map(|thread| had_by(&had, thread, |leaf| leaf != PAYS.0));
        assert!(own.abs_diff(other) <= 40, "not equals, period {period}: {had:?}");
        let lent = had_by(&had, 1, |leaf| leaf == PAYS.0);
        assert!(u64::from(lent) * period > 500, "the lent budget is not used: {had:?}");
    }
}

/// The same while it calls a server all the time, which runs in its place.
#[test]
fn a_server_has_its_callers_turn() {
    let board = lending(&[(1, 20), (1, 20), (1, 30), (1, 10)]);
    board.does(3, sleep(TICK / 4));
    board.does(1, sleep(TICK / 4));
    board.does(2, sleep(TICK / 4));
    board.does(4, receive(ENDPOINT));
    board.wait(TICK);
    lent(&board, &[(1, 3)], [TICK, 7 * TICK]);
    let had = watch(&board, 800, || match board.running() {
        Some(1) => board.does(1, call(ENDPOINT, MESSAGE)),
        Some(4) => board.does(4, reply_wait(ENDPOINT, MESSAGE)),
        _ => {}
    });
    let on_own = |thread| had_by(&had, thread, |leaf| leaf != PAYS.0);
    let [own, other, server] = [1, 2, 4].map(on_own);
    assert!((own + server).abs_diff(other) <= 60, "not equals: {had:?}");
    assert!(had_by(&had, 4, |leaf| leaf == PAYS.0) > 40, "the waiter pays: {had:?}");
}

/// Two owners in one lent leaf share its budget, and each has its own leaf for itself.
#[test]
fn owners_share_what_they_are_lent() {
    let board = lending(&[(1, 20), (1, 21), (1, 30), (1, 31)]);
    lent(&board, &[(1, 3), (2, 4)], [3 * TICK, 7 * TICK]);
    let had = watch(&board, 800, || {});
    let [first, second] = [1, 2].map(|thread| had_by(&had, thread, |leaf| leaf == PAYS.0));
    assert!(first.abs_diff(second) <= 40 && first > 100, "not equals: {had:?}");
    assert!(had_by(&had, 2, |leaf| leaf != PAYS.0) > 100, "it does not go on: {had:?}");
}

/// However many threads stand by at a leaf, a time slice is as long as ever.
#[test]
fn decisions_are_no_more_than_slices() {
    let board = lending(&[(1, 20), (1, 20), (1, 20), (1, 20), (1, 30), (1, 30), (1, 30), (1, 30)]);
    let pairs: Vec<(u32, u32)> = (1..=4).map(|owner| (owner, owner + 4)).collect();
    lent(&board, &pairs, [TICK, 1000 * TICK]);
    board.wait(TICK);
    let mut steps = 0;
    for _ in 0..200 {
        board.host.advance(TICK);
        steps += board.settle();
        board.check();
    }
    assert!(steps <= 60, "{steps} events in 50 slices");
}

/// A thread that is given another priority keeps its place in the lent leaf, which is as ready as
/// before.
#[test]
fn what_stays_the_same_is_not_left() {
    let board = lending(&[(1, 20), (1, 20), (1, 30), (1, 31)]);
    lent(&board, &[(1, 3), (2, 4)], [50 * TICK, 100 * TICK]);
    let first = board.running().expect("an owner");
    for priority in [25, 22, 22] {
        board.succeeds(first, system(Call::ThreadPriority, &[THREAD + u64::from(first), priority]));
        assert_eq!((board.running(), leaf_of(&board, first)), (Some(first), PAYS.0));
        let own = board.open(|all| reference(&board, first).beside.get(all));
        let urgency = board.machine.kernel.trees.urgency_of(own);
        assert_eq!(urgency, priority as i16, "it stands by at its own leaf");
        board.check_all();
    }
}

/// A class below the root, with the own leaf of the first thread.
fn own_leaf(board: &Machine, priority: u16) -> NodeId {
    let root = board.machine.kernel.trees.with(|tree| tree.root(0)).expect("a tree");
    create(board, root, None, Share::Priority(priority))
}

/// The job of a thread that stands by at its own reservation ends late: its monitor is told.
#[test]
fn a_late_job_is_told() {
    let board = lending(&[(1, 20), (1, 40), (1, 30)]);
    let (trees, own) = (&board.machine.kernel.trees, own_leaf(&board, 50));
    let timing = Some(Timing { deadline: 5 * TICK, period: 100 * TICK });
    assert_eq!(trees.with(|tree| tree.set_timing(own, timing, 0)), Some(Ok(())));
    let notification = board.machine.kernel.notifications.get(0).expect("it is the first");
    let monitor = Some(Weak::new(notification));
    assert_eq!(trees.watch(own, monitor, [1, 0], (0, board.host.now())), Ok(()));
    board.does(2, receive(NOTIFICATION));
    board.does(3, sleep(2 * TICK));
    board.does(1, sleep(TICK));
    reserve_directly(&board, &[(1, own), (3, PAYS)]);
    board.wait(TICK);
    lock(&board, 1, 0);
    board.wait(TICK);
    lock(&board, 3, 0);
    assert_eq!((board.running(), leaf_of(&board, 1)), (Some(1), PAYS.0));
    board.wait(20 * TICK);
    assert_eq!(board.running(), Some(1), "the miss is not so urgent");
    board.does(1, sleep(board.host.now() + TICK));
    board.settle();
    board.sees(2, Ok(()));
    let jobs = trees.with(|tree| tree.inspect(own)).flatten().expect("a leaf").jobs;
    assert_eq!((jobs.ended, jobs.missed), (1, 1));
}

/// What is left of the own budget was kept from nobody while its thread ran in a lent leaf; it was
/// from another thread of the same reservation.
#[test]
fn an_own_budget_that_is_not_used_is_not_unserved() {
    for others in [false, true] {
        let board = lending(&[(1, 20), (1, 10), (1, 30)]);
        let (trees, own) = (&board.machine.kernel.trees, own_leaf(&board, 50));
        limit(&board, own, Server::Periodic, [2 * TICK, 10 * TICK]);
        board.does(3, sleep(2 * TICK));
        board.does(1, sleep(TICK));
        board.does(2, sleep(3 * TICK));
        let second = others.then_some((2, own));
        let all: Vec<(u32, NodeId)> = [(1, own), (3, PAYS)].into_iter().chain(second).collect();
        reserve_directly(&board, &all);
        // Its first budget comes with its first period.
        board.wait(12 * TICK);
        while board.running() != Some(3) {
            let me = board.running().expect("a thread");
            assert!(board.host.now() < 40 * TICK, "{me} stays");
            board.wait(TICK);
        }
        board.does(3, sleep(board.host.now() + 30 * TICK));
        while board.running() != Some(1) {
            board.wait(TICK / 4);
        }
        lock(&board, 1, 0);
        while board.running() != Some(3) {
            board.wait(TICK / 4);
        }
        lock(&board, 3, 0);
        let before = trees.with(|tree| tree.unserved(own)).flatten().expect("a leaf");
        board.wait(60 * TICK);
        assert_eq!(leaf_of(&board, 1), PAYS.0);
        trees.with(|tree| tree.account_all(board.host.now()));
        board.does(1, sleep(board.host.now() + TICK));
        board.wait(12 * TICK);
        let unserved = trees.with(|tree| tree.unserved(own)).flatten().expect("a leaf") - before;
        assert_eq!(unserved > 0, others, "{unserved}");
    }
}
