//! Leaves along waits, where a tree orders threads (S2G-05): who runs, and whose time it is.

use super::{effective, id, mark, wait, wake};
use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::{
    ENDPOINT, LEAF, THREAD, boot, call, receive, reply_wait, send, system, timed,
};
use abi::call::{Call, NOTHING, REPLY, Setting, Timeout, exchange};
use abi::reservation::{Budget, Inheritance, Server, Share};
use abi::{Error, Info, PRIORITIES};
use kernel::leaf::LeafRef;
use kernel::object::thread::State;
use kernel::port::Port;
use kernel::system::Tree;
use policies::tree::NodeId;

type Machine = Board<Tree<Host>>;

/// The node of the scene's leaf: behind both roots and the leaves of priorities.
const PAYS: NodeId = NodeId(2 + PRIORITIES as u32);
const MESSAGE: Info = Info::new(0, 0);

#[track_caller]
fn lock_until(board: &Machine, thread: u32, mutex: usize, until: Option<u64>) {
    if let Some(expected) = mark(board, thread, mutex) {
        board.does(thread, wait(mutex, expected, until));
        assert_eq!(board.thread(thread).state.get(), State::Waiting);
    }
}

#[track_caller]
fn lock(board: &Machine, thread: u32, mutex: usize) {
    lock_until(board, thread, mutex, None);
}

fn sleep(until: u64) -> Regs {
    timed(NOTHING.into(), NOTHING.into(), Info(0), Timeout::At, until)
}

/// The scene's leaf is a thread's own.
fn reserve(board: &Machine, me: u32, thread: u32) {
    board.succeeds(me, system(Call::Reserve, &[THREAD + u64::from(thread), LEAF]));
}

fn set(board: &Machine, me: u32, setting: Setting, (code, words): (u64, [u64; 4])) {
    let args = [LEAF, setting as u64, code];
    board.succeeds(me, system(Call::ReservationSet, &args).with_words(words));
}

/// CPU time that the scene's leaf has had.
fn paid(board: &Machine) -> u64 {
    let now = board.host.now();
    let service = board.machine.kernel.trees.with(|tree| {
        tree.account_all(now);
        tree.service(PAYS)
    });
    service.expect("a tree")
}

fn away(board: &Machine, thread: u32) -> LeafRef {
    let at = board.machine.kernel.threads.get(thread).expect("a thread");
    board.open(|all| at.away.get(all))
}

/// Low 1 owns what high 3 waits for: middle 2 does not run before 3 does (S2G-01, Fig. 1).
#[test]
fn the_middle_waits() {
    let board: Machine = boot(&[(1, 10), (1, 20), (1, 30)]);
    lock(&board, 1, 0);
    lock(&board, 3, 0);
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 30));
    assert!(away(&board, 1) != LeafRef::NONE, "it is in a lent leaf");
    board.does(1, wake(0));
    board.sees(3, Ok(()));
    assert_eq!((board.running(), effective(&board, 1)), (Some(3), 10));
    assert!(away(&board, 1) == LeafRef::NONE, "it is back");
    board.check();
}

/// A leaf is lent along a chain, and by whoever is the first one: also to the heir.
#[test]
fn chains_and_heirs() {
    let board: Machine = boot(&[(1, 10), (1, 20), (1, 30), (1, 25)]);
    board.does(3, sleep(1_000_000));
    board.does(4, sleep(2_000_000));
    lock(&board, 2, 1);
    board.does(2, sleep(500_000));
    lock(&board, 1, 0);
    board.wait(500_000);
    lock(&board, 2, 0);
    board.wait(1_000_000);
    lock(&board, 3, 1);
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 30));
    board.wait(1_000_000);
    assert_eq!(board.running(), Some(1), "the fourth is below the third");
    board.does(1, wake(0));
    assert_eq!((board.running(), effective(&board, 2)), (Some(2), 30));
    board.does(2, wake(1));
    board.sees(3, Ok(()));
    assert_eq!([1, 2].map(|thread| effective(&board, thread)), [10, 20]);
    board.check();
}

/// The first waiter pays, whatever its own priority is, if its leaf is more urgent. A budget holds:
/// without any the owner waits as the waiter would.
#[test]
fn the_waiter_pays_from_its_budget() {
    let board: Machine = boot(&[(1, 10), (1, 20), (1, 30)]);
    set(
        &board,
        3,
        Setting::Budget,
        (0, Budget::encode(Some(Budget::new(Server::Constant, TICK, 10 * TICK)))),
    );
    reserve(&board, 3, 3);
    board.does(3, sleep(TICK));
    board.does(2, sleep(TICK));
    lock(&board, 1, 0);
    board.wait(TICK);
    lock(&board, 3, 0);
    let before = paid(&board);
    assert_eq!(board.running(), Some(1));
    board.wait(TICK / 2);
    assert_eq!((board.running(), paid(&board) - before > 0), (Some(1), true));
    board.wait(TICK);
    assert_eq!(board.running(), Some(2), "the budget is used up");
    board.wait(20 * TICK);
    assert!(paid(&board) <= before + 3 * TICK, "more than the budget");
    let last = board.host.now() + 10 * TICK;
    while board.running() != Some(1) {
        assert!(board.host.now() < last, "the budget does not come back");
        board.wait(TICK / 4);
    }
    board.does(1, wake(0));
    board.check();
}

/// What is lent ends with the wait, in each way.
#[test]
fn it_ends_with_the_wait() {
    for end in 0..6 {
        let board: Machine = boot(&[(1, 10), (1, 20), (1, 30)]);
        reserve(&board, 3, 3);
        lock(&board, 1, 0);
        let until = (end == 0).then_some(TICK);
        lock_until(&board, 3, 0, until);
        assert_eq!(board.running(), Some(1));
        let third = THREAD + 3;
        match end {
            0 => {
                board.wait(2 * TICK);
                board.sees(3, Err(Error::Timeout));
                board.does(3, receive(ENDPOINT));
            }
            1 => {
                board.succeeds(1, system(Call::ThreadSuspend, &[third]));
                assert_eq!(board.running(), Some(1), "one that is stopped waits on");
                let cancel = [third, 0, 0, 0, 0, exchange::CANCEL];
                board.does(1, system(Call::ThreadExchange, &cancel));
            }
            2 => board.does(1, system(Call::Destroy, &[third])),
            3 => board.does(1, system(Call::Destroy, &[LEAF])),
            4 => board.does(1, system(Call::Reserve, &[third, 0])),
            _ => board.does(1, system(Call::Destroy, &[THREAD + 1])),
        }
        let next = match end {
            4 => Some(1),
            5 => Some(3),
            _ => Some(2),
        };
        assert_eq!(board.running(), next, "way {end}");
        board.check();
    }
}

/// A server that the owner calls runs on what that is lent, and a server that waits for the mutex
/// lends what its caller pays.
#[test]
fn calls_and_waits_compose() {
    let board: Machine = boot(&[(1, 10), (1, 20), (1, 30), (1, 5)]);
    reserve(&board, 3, 3);
    board.does(3, sleep(TICK));
    board.does(2, sleep(TICK));
    lock(&board, 1, 0);
    board.does(1, sleep(TICK / 2));
    board.does(4, receive(ENDPOINT));
    board.wait(TICK);
    lock(&board, 3, 0);
    board.does(1, call(ENDPOINT, MESSAGE));
    assert_eq!(board.running(), Some(4), "on the time of the waiter");
    let before = paid(&board);
    board.wait(TICK);
    assert!(paid(&board) >= before + TICK / 2, "who waits pays");
    board.does(4, reply_wait(ENDPOINT, MESSAGE));
    board.sees(1, Ok(()));
    board.does(1, wake(0));
    board.sees(3, Ok(()));
    board.check();

    let board: Machine = boot(&[(1, 10), (1, 20), (1, 30), (1, 5)]);
    reserve(&board, 3, 3);
    board.does(3, sleep(TICK));
    board.does(2, sleep(TICK));
    lock(&board, 1, 0);
    board.does(1, sleep(TICK / 2));
    board.does(4, receive(ENDPOINT));
    board.wait(TICK);
    board.does(3, call(ENDPOINT, MESSAGE));
    lock(&board, 4, 0);
    assert_eq!(board.running(), Some(1), "the server's caller lends");
    let before = paid(&board);
    board.wait(TICK);
    assert!(paid(&board) >= before + TICK / 2, "the caller pays");
    board.does(1, wake(0));
    board.sees(4, Ok(()));
    board.check();
}

/// A leaf that is less urgent is not lent, whatever the waiter's priority is.
#[test]
fn what_is_less_urgent_is_not_lent() {
    for inheritance in Inheritance::ALL {
        let board: Machine = boot(&[(1, 10), (1, 20), (1, 30)]);
        board.machine.kernel.trees.with(|tree| tree.set_inheritance(inheritance));
        board.does(3, sleep(TICK));
        board.does(2, sleep(50 * TICK));
        lock(&board, 1, 0);
        board.wait(TICK);
        set(&board, 3, Setting::Share, Share::Priority(5).encode());
        let expected = mark(&board, 3, 0).expect("it is owned");
        board.does(3, system(Call::Reserve, &[THREAD + 3, LEAF]));
        board.does(1, sleep(3 * TICK));
        board.does(3, wait(0, expected, None));
        board.wait(3 * TICK);
        assert_eq!((board.running(), effective(&board, 1)), (Some(1), 10));
        assert_eq!(id(&board, 1), board.read(1, super::MUTEX) as u32 & !abi::futex::WAITERS);
        board.check();
    }
}

/// A thread that owns a mutex answers a more urgent caller: who waits for the mutex lends from then
/// on, since its leaf is more urgent than what is left.
#[test]
fn an_answer_ends_what_the_caller_lent() {
    let board: Machine = boot(&[(1, 5), (1, 20), (1, 25), (1, 30)]);
    board.does(4, sleep(TICK));
    board.does(3, sleep(3 * TICK));
    board.does(2, sleep(5 * TICK));
    lock(&board, 1, 0);
    board.does(1, receive(ENDPOINT));
    board.wait(TICK);
    board.does(4, call(ENDPOINT, MESSAGE));
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 30));
    board.does(1, sleep(4 * TICK));
    board.wait(2 * TICK);
    lock(&board, 3, 0);
    board.wait(TICK);
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 30));
    board.does(1, send(REPLY.into(), MESSAGE));
    board.does(4, receive(ENDPOINT));
    assert_eq!(effective(&board, 1), 25, "high 3 waits for low 1");
    board.wait(TICK);
    assert_eq!(board.running(), Some(1), "the middle runs first");
}

/// A caller that is more urgent than who lends is served on its own time.
#[test]
fn a_caller_is_more_urgent_than_the_lender() {
    let board: Machine = boot(&[(1, 5), (1, 20), (1, 25), (1, 30)]);
    set(&board, 4, Setting::Share, Share::Priority(15).encode());
    reserve(&board, 4, 3);
    board.does(4, sleep(3 * TICK));
    board.does(2, sleep(4 * TICK));
    board.does(3, sleep(TICK));
    lock(&board, 1, 0);
    board.does(1, sleep(2 * TICK));
    board.wait(TICK);
    lock(&board, 3, 0);
    board.wait(TICK);
    assert!(away(&board, 1) != LeafRef::NONE, "it is lent");
    board.does(1, receive(ENDPOINT));
    board.wait(TICK);
    board.does(4, call(ENDPOINT, MESSAGE));
    assert_eq!(board.running(), Some(1));
    board.wait(TICK);
    assert_eq!(board.running(), Some(1), "middle 2 runs while high 4 waits for an answer");
}

/// More branches than a change is followed to: 26 edges of conditions and calls.
#[test]
fn each_branch_follows() {
    const FIRST: usize = 10;
    // Threads by what they do: W 1; S 2-4; m n k l i j 5-10; g 11-13; c d a b 14-17; o p 18-19.
    let mut priorities = vec![250, 242, 241, 240];
    priorities.extend([235, 234, 233, 232, 231, 230, 220, 219, 221, 154, 153, 152, 151, 249, 248]);
    let threads: Vec<(u32, u8)> = priorities.into_iter().map(|priority| (1, priority)).collect();
    let board: Machine = boot(&threads);
    let waits = |thread: u32, condition: usize, helpers: &[u32]| {
        let ids = std::array::from_fn(|n| helpers.get(n).map_or(0, |at| id(&board, *at)));
        board.does(thread, super::cond_wait(FIRST + condition, 0, 0, None, ids));
        assert_eq!(board.thread(thread).state.get(), State::Waiting, "{thread}");
    };
    board.does(1, sleep(20 * TICK));
    [18, 19].into_iter().for_each(|thread| board.does(thread, sleep(100 * TICK)));
    (2..=4).for_each(|server| board.does(server, receive(ENDPOINT)));
    for (thread, condition, helpers) in
        [(5, 8, [18, 19]), (6, 8, [18, 19]), (7, 7, [5, 6]), (8, 7, [5, 6]), (9, 6, [7, 8]), (10, 6, [7, 8])]
    {
        waits(thread, condition, &helpers);
    }
    board.does(13, sleep(10 * TICK));
    for caller in [11, 12] {
        board.does(caller, call(ENDPOINT, MESSAGE));
        waits(caller - 9, 5, &[9, 10]);
    }
    for (thread, condition, helpers) in [
        (14, 3, &[11, 12, 13][..]),
        (15, 3, &[11, 12, 13]),
        (16, 2, &[14, 15]),
        (17, 2, &[14, 15]),
    ] {
        waits(thread, condition, helpers);
    }
    board.wait(10 * TICK);
    board.does(13, call(ENDPOINT, MESSAGE));
    assert_eq!(board.running(), Some(4));
    board.wait(10 * TICK);
    waits(1, 1, &[16, 17]);
    assert_eq!(effective(&board, 4), 250);
    board.check();
}

/// The same when the wait ends: nobody stays on what is lent no longer.
#[test]
fn each_branch_leaves() {
    const FIRST: usize = 10;
    // As above.
    let mut priorities = vec![250, 242, 241, 240];
    priorities.extend([235, 234, 233, 232, 231, 230, 220, 219, 221, 154, 153, 152, 151, 249, 248]);
    let threads: Vec<(u32, u8)> = priorities.into_iter().map(|priority| (1, priority)).collect();
    let board: Machine = boot(&threads);
    let waits = |thread: u32, condition: usize, helpers: &[u32], until: Option<u64>| {
        let ids = std::array::from_fn(|n| helpers.get(n).map_or(0, |at| id(&board, *at)));
        board.does(thread, super::cond_wait(FIRST + condition, 0, 0, until, ids));
        assert_eq!(board.thread(thread).state.get(), State::Waiting, "{thread}");
    };
    reserve(&board, 1, 1);
    board.does(1, sleep(20 * TICK));
    [18, 19].into_iter().for_each(|thread| board.does(thread, sleep(100 * TICK)));
    (2..=4).for_each(|server| board.does(server, receive(ENDPOINT)));
    for (thread, condition, helpers) in [
        (5, 8, [18, 19]),
        (6, 8, [18, 19]),
        (7, 7, [5, 6]),
        (8, 7, [5, 6]),
        (9, 6, [7, 8]),
        (10, 6, [7, 8]),
    ] {
        waits(thread, condition, &helpers, None);
    }
    board.does(13, sleep(10 * TICK));
    board.does(11, sleep(30 * TICK));
    board.does(12, sleep(40 * TICK));
    for (thread, condition, helpers) in [
        (14, 3, &[11, 12, 13][..]),
        (15, 3, &[11, 12, 13]),
        (16, 2, &[14, 15]),
        (17, 2, &[14, 15]),
    ] {
        waits(thread, condition, helpers, None);
    }
    // Third server 2: of three it has waited for longest.
    board.wait(10 * TICK);
    board.does(13, call(ENDPOINT, MESSAGE));
    board.wait(10 * TICK);
    waits(1, 1, &[16, 17], Some(60 * TICK));
    assert!(away(&board, 2) != LeafRef::NONE, "it is lent the first one's");
    board.does(2, sleep(45 * TICK));
    for (caller, server) in [(11, 3), (12, 4)] {
        board.wait(10 * TICK);
        board.does(caller, call(ENDPOINT, MESSAGE));
        waits(server, 5, &[9, 10], None);
    }
    board.wait(5 * TICK);
    assert_eq!(board.running(), Some(2));
    board.host.advance(20 * TICK);
    board.settle();
    let leaf = board.open(|all| super::reference(&board, 2).leaf.get(all));
    assert!(leaf != PAYS.0, "it stays on the leaf of one that waits no longer");
    board.sees(1, Err(Error::Timeout));
    board.check();
}

/// One that waits for another mutex, of a high priority but on a leaf that is worth nothing, does
/// not keep the owner from what the next one lends.
#[test]
fn a_worthless_leaf_hides_no_other_one() {
    let board: Machine = boot(&[(1, 5), (1, 20), (1, 30), (1, 40)]);
    set(&board, 4, Setting::Share, Share::Priority(1).encode());
    board.does(4, sleep(TICK));
    board.does(3, sleep(2 * TICK));
    board.does(2, sleep(4 * TICK));
    lock(&board, 1, 0);
    lock(&board, 1, 1);
    board.does(1, sleep(3 * TICK));
    board.wait(TICK);
    reserve(&board, 4, 4);
    lock(&board, 4, 1);
    board.wait(TICK);
    lock(&board, 3, 0);
    board.wait(TICK);
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 30));
}

/// A lender whose reservation is gone would run at the lowest priority: so it does not lend what its
/// caller has, who does not pay for it.
#[test]
fn a_lender_without_a_leaf_lends_no_caller_s() {
    let board: Machine = boot(&[(1, 5), (1, 20), (1, 10), (1, 30)]);
    board.does(4, sleep(2 * TICK));
    board.does(2, sleep(4 * TICK));
    reserve(&board, 3, 3);
    board.does(3, sleep(TICK));
    lock(&board, 1, 0);
    board.does(1, sleep(3 * TICK));
    board.wait(TICK);
    board.does(3, receive(ENDPOINT));
    board.wait(TICK);
    board.does(4, call(ENDPOINT, MESSAGE));
    lock(&board, 3, 0);
    board.wait(TICK);
    assert_eq!((board.running(), away(&board, 1) != LeafRef::NONE), (Some(1), true));
    board.does(1, system(Call::Destroy, &[LEAF]));
    let would = board.open(|all| {
        board.machine.kernel.trees.own_leaf_of(all, super::reference(&board, 3))
    });
    let uses = effective(&board, 1);
    let roots = board.machine.kernel.trees.roots();
    assert_eq!((would - roots, uses), (0, 5), "it is lent what the lender has not");
}
