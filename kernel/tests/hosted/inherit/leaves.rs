//! Leaves along waits, where a tree orders threads (S2G-05): who runs, and whose time it is.

use super::{effective, id, lock, lock_until, mark, reference, sleep, wait, wake};
use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::host::Host;
use crate::support::scene::{
    ENDPOINT, LEAF, THREAD, boot, call, receive, reply_wait, send, system,
};
use abi::call::{Call, REPLY, Setting, exchange};
use abi::reservation::{Budget, Inheritance, Policy, Server, Share, Timing};
use abi::{Error, Info};
use kernel::leaf::LeafRef;
use kernel::object::deadlines::TimerEntry;
use kernel::port::Port;
use kernel::system::Tree;
use policies::tree::NodeId;

pub(super) type Machine = Board<Tree<Host>>;

/// A board whose tree lends leaves, and charges both.
pub(super) fn lending(threads: &[(u32, u8)]) -> Machine {
    let board: Machine = boot(threads);
    board.machine.kernel.trees.set_inheritance(Inheritance::Charged);
    board
}

/// The node of the scene's leaf: behind both roots.
pub(super) const PAYS: NodeId = NodeId(2);
const MESSAGE: Info = Info::new(0, 0);

/// The scene's leaf is a thread's own.
pub(super) fn reserve(board: &Machine, me: u32, thread: u32) {
    board.succeeds(me, system(Call::Reserve, &[THREAD + u64::from(thread), LEAF]));
}

pub(super) fn set(board: &Machine, me: u32, setting: Setting, (code, words): (u64, [u64; 4])) {
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

pub(super) fn away(board: &Machine, thread: u32) -> LeafRef {
    let at = board.machine.kernel.threads.get(thread).expect("a thread");
    board.open(|all| at.away.get(all))
}

/// Low 1 owns what high 3 waits for: middle 2 does not run before 3 does (S2G-01, Fig. 1).
#[test]
fn the_middle_waits() {
    let board: Machine = lending(&[(1, 10), (1, 20), (1, 30)]);
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

/// A leaf is lent along a chain, and by the thread that is first: also to the heir.
#[test]
fn chains_and_heirs() {
    let board: Machine = lending(&[(1, 10), (1, 20), (1, 30), (1, 25)]);
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
    let board: Machine = lending(&[(1, 10), (1, 20), (1, 30)]);
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
        let board: Machine = lending(&[(1, 10), (1, 20), (1, 30)]);
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

/// Thread 1 owns the mutex, 4 is a server that waits, and 3, on the scene's leaf, runs.
fn with_a_server() -> Machine {
    let board = lending(&[(1, 10), (1, 20), (1, 30), (1, 5)]);
    reserve(&board, 3, 3);
    board.does(3, sleep(TICK));
    board.does(2, sleep(TICK));
    lock(&board, 1, 0);
    board.does(1, sleep(TICK / 2));
    board.does(4, receive(ENDPOINT));
    board.wait(TICK);
    board
}

/// A server that the owner calls runs on what that is lent, and a server that waits for the mutex
/// lends what its caller pays.
#[test]
fn calls_and_waits_compose() {
    let board = with_a_server();
    lock(&board, 3, 0);
    board.does(1, call(ENDPOINT, MESSAGE));
    assert_eq!(board.running(), Some(4), "on the time of the waiter");
    let before = paid(&board);
    board.wait(TICK);
    assert!(paid(&board) >= before + TICK / 2, "the waiter pays");
    board.does(4, reply_wait(ENDPOINT, MESSAGE));
    board.sees(1, Ok(()));
    board.does(1, wake(0));
    board.sees(3, Ok(()));
    board.check();

    let board = with_a_server();
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
        let board: Machine = lending(&[(1, 10), (1, 20), (1, 30)]);
        board.machine.kernel.trees.set_inheritance(inheritance);
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

/// A thread that owns a mutex answers a more urgent caller: the one that waits for the mutex lends
/// from then on, since its leaf is more urgent than what is left.
#[test]
fn an_answer_ends_what_the_caller_lent() {
    let board: Machine = lending(&[(1, 5), (1, 20), (1, 25), (1, 30)]);
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

/// A caller that is more urgent than the one that lends is served on its own time.
#[test]
fn a_caller_is_more_urgent_than_the_lender() {
    let board: Machine = lending(&[(1, 5), (1, 20), (1, 25), (1, 30)]);
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

/// One that waits for another mutex, of a high priority but on a leaf that is worth nothing, does
/// not keep the owner from what the next one lends.
#[test]
fn a_worthless_leaf_hides_no_other_one() {
    let board: Machine = lending(&[(1, 5), (1, 20), (1, 30), (1, 40)]);
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

/// A lender whose reservation is gone would run at the lowest priority: so it does not lend what
/// its caller has, which does not pay for it.
#[test]
fn a_lender_without_a_leaf_lends_no_caller_s() {
    let board: Machine = lending(&[(1, 5), (1, 20), (1, 10), (1, 30)]);
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
    let would = board.open(|all| board.machine.kernel.trees.own_leaf_of(all, reference(&board, 3)));
    let uses = effective(&board, 1);
    let would = board.machine.kernel.trees.urgency_of(would);
    assert_eq!((would, uses), (0, 5), "it is lent what the lender has not");
}

/// A node of the tree, made without a capability.
pub(super) fn create(
    board: &Machine,
    class: NodeId,
    policy: Option<Policy>,
    share: Share,
) -> NodeId {
    let trees = &board.machine.kernel.trees;
    let made = trees.with(|tree| tree.create(class, policy, share));
    let node = made.expect("a tree").expect("it fits");
    trees.begin(node, class);
    node
}

/// Threads that are not queued are on these leaves from now on.
pub(super) fn reserve_directly(board: &Machine, own: &[(u32, NodeId)]) {
    let trees = &board.machine.kernel.trees;
    board.open(|all| {
        for (thread, leaf) in own {
            let at = reference(board, *thread);
            at.reservation.set(all, trees.name(*leaf));
            let (deadlines, sleeper) = (&board.machine.cpu.deadlines, TimerEntry::Thread(at));
            if let Some(until) = deadlines.remove(sleeper) {
                deadlines.insert(until, sleeper, trees.urgency_of_sleeper(all, at));
            }
        }
    });
}

/// Threads 3 and 4 are on leaves of one class of earliest deadlines from now on, 4 on that with the
/// earlier one.
fn reserve_deadlines(board: &Machine) -> [NodeId; 2] {
    let trees = &board.machine.kernel.trees;
    let root = trees.with(|tree| tree.root(0)).expect("a tree");
    let class = create(board, root, Some(Policy::EarliestDeadline), Share::Priority(30));
    let leaves = [3, 4].map(|thread: u32| {
        let leaf = create(board, class, None, Share::Deadline);
        let deadline = u64::from(10 - thread) * 10 * TICK;
        let timing = Some(Timing { deadline, period: 200 * TICK });
        assert_eq!(trees.with(|tree| tree.set_timing(leaf, timing, 0)), Some(Ok(())));
        leaf
    });
    board.does(3, sleep(TICK));
    board.does(4, sleep(2 * TICK));
    reserve_directly(board, &[(3, leaves[0]), (4, leaves[1])]);
    leaves
}

/// Of waiters on leaves of one class the most urgent one lends, and has the mutex next, though
/// another one has waited for longer.
#[test]
fn the_earliest_deadline_of_a_class_is_lent() {
    let board: Machine = lending(&[(1, 5), (1, 20), (1, 30), (1, 30)]);
    let leaves = reserve_deadlines(&board);
    lock(&board, 2, 0);
    board.does(2, sleep(3 * TICK));
    board.wait(TICK);
    lock(&board, 3, 0);
    board.wait(TICK);
    lock(&board, 4, 0);
    board.wait(TICK);
    let leaf = board.open(|all| reference(&board, 2).leaf.get(all));
    assert_eq!((board.running(), leaf), (Some(2), leaves[1].0), "the later deadline is lent");
    board.does(2, wake(0));
    board.sees(4, Ok(()));
    board.check();
}

/// What a caller is lent its server lends on, when it waits itself, if it serves; else only what
/// the caller has.
#[test]
fn a_server_lends_on_what_its_callers_are_lent() {
    for serves in [true, false] {
        let board = lending(&[(1, 10), (1, 20), (1, 30), (1, 15), (1, 5)]);
        board.does(3, sleep(3 * TICK));
        board.does(2, sleep(9 * TICK));
        lock(&board, 4, 1);
        board.does(4, sleep(2 * TICK));
        lock(&board, 1, 0);
        board.does(1, sleep(5 * TICK));
        if serves {
            board.succeeds(5, system(Call::Serve, &[ENDPOINT, 1]));
        }
        board.does(5, receive(ENDPOINT));
        board.wait(2 * TICK);
        board.does(4, call(ENDPOINT, MESSAGE));
        lock(&board, 5, 0);
        assert_eq!(effective(&board, 1), 15);
        board.wait(TICK);
        lock(&board, 3, 1);
        assert_eq!(effective(&board, 1), if serves { 30 } else { 15 });
        board.wait(2 * TICK);
        board.does(1, wake(0));
        assert_eq!((board.running(), effective(&board, 5)), (Some(5), 30));
        board.does(5, reply_wait(ENDPOINT, MESSAGE));
        assert_eq!((board.running(), effective(&board, 4)), (Some(4), 30));
        board.check();
    }
}

/// The same of waiters for two mutexes of one owner: the one for which a thread of the later
/// deadline waits, and has waited for longer, does not hide the other one.
#[test]
fn the_earliest_deadline_of_several_mutexes_is_lent() {
    let board: Machine = lending(&[(1, 5), (1, 20), (1, 30), (1, 30)]);
    let leaves = reserve_deadlines(&board);
    lock(&board, 2, 0);
    lock(&board, 2, 1);
    board.does(2, sleep(3 * TICK));
    board.wait(TICK);
    lock(&board, 3, 0);
    board.wait(TICK);
    lock(&board, 4, 1);
    board.wait(TICK);
    let leaf = board.open(|all| reference(&board, 2).leaf.get(all));
    assert_eq!((board.running(), leaf), (Some(2), leaves[1].0), "the later deadline is lent");
    board.check();
}

/// A waiter in another time partition lends nothing, and does not keep the next one, in that of the
/// owner, from it: else a partition delays another one by a wait for what both use.
#[test]
fn a_waiter_of_another_partition_hides_none() {
    let board: Machine = lending(&[(1, 5), (1, 20), (1, 30), (1, 30)]);
    let root = board.machine.kernel.trees.with(|tree| tree.root(0)).expect("a tree");
    let windows = create(&board, root, Some(Policy::Partitions), Share::Priority(100));
    let [one, other] = [1, 2].map(|number| {
        let share = Share::Partition { number, priority: 50 };
        create(&board, windows, Some(Policy::FixedPriority), share)
    });
    let elsewhere = create(&board, other, None, Share::Priority(3));
    let [low, high] = [1, 3].map(|at| create(&board, one, None, Share::Priority(at)));
    board.does(3, sleep(TICK));
    board.does(4, sleep(2 * TICK));
    lock(&board, 2, 0);
    board.does(2, sleep(100 * TICK));
    board.wait(TICK);
    lock(&board, 3, 0);
    board.wait(TICK);
    lock(&board, 4, 0);
    reserve_directly(&board, &[(2, low), (3, elsewhere), (4, high)]);
    for thread in [3, 4] {
        board.does(1, system(Call::ThreadPriority, &[THREAD + thread, 31]));
    }
    let leaf = board.open(|all| board.machine.kernel.trees.leaf_of(all, reference(&board, 2)));
    assert_eq!(leaf, high.0, "what is in its partition waits behind all there");
    board.check();
}

/// A server that answers on a leaf that is lent to its caller ends no job of that one's, which goes
/// on there.
#[test]
fn an_answer_on_a_lent_leaf_ends_no_job_of_the_caller() {
    let board: Machine = lending(&[(1, 10), (1, 20), (1, 30), (1, 5)]);
    let timing = Timing { deadline: 40 * TICK, period: 50 * TICK };
    board.does(3, sleep(TICK));
    board.does(2, sleep(100 * TICK));
    set(&board, 1, Setting::Share, Share::Priority(15).encode());
    set(&board, 1, Setting::Timing, (0, Timing::encode(Some(timing))));
    reserve(&board, 1, 1);
    lock(&board, 1, 0);
    board.does(1, sleep(TICK / 2));
    board.does(4, receive(ENDPOINT));
    board.wait(TICK / 2);
    board.wait(TICK / 2);
    lock(&board, 3, 0);
    assert!(away(&board, 1) != LeafRef::NONE, "it is lent");
    let is_over = || {
        let now = board.host.now();
        let job = board.machine.kernel.trees.with(|tree| tree.job(PAYS, now));
        job.flatten().expect("a job").is_over
    };
    assert!(!is_over(), "it runs");
    board.does(1, call(ENDPOINT, MESSAGE));
    assert_eq!((board.running(), is_over()), (Some(4), false));
    board.does(4, reply_wait(ENDPOINT, MESSAGE));
    board.sees(1, Ok(()));
    assert_eq!((board.running(), is_over()), (Some(1), false), "the caller's job goes on");
    board.check();
}
