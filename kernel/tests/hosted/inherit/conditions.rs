//! Stories of conditions with helpers: the papers' figures, and all ways in which a wait ends.

use super::{
    MUTEX, cond_wait, effective, helpers_of, id, mark, notify, reference, tell, wait, wake,
};
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::Host;
use crate::support::scene::{THREAD, boot, system, timed};
use abi::call::{Call, NOTHING, Timeout, exchange};
use abi::futex::{HELPERS, OWNER_DIED, Scope, WAITERS, number};
use abi::{Error, Info};
use kernel::object::inherit::{ByEdge, Inherit, Kind};
use kernel::object::thread::State;
use kernel::port::Port;
use kernel::system::{DirectLazy, Tree};
use std::panic::{AssertUnwindSafe, catch_unwind};

type Machine = Board<DirectLazy<Host>>;

/// Pairs of words that are conditions; those below are mutexes.
const FIRST: usize = 10;
const MS: u64 = 1_000_000;

/// One domain with threads of priorities 10, 20, 30, ...
fn threads(count: u8) -> Machine {
    let threads: Vec<(u32, u8)> = (1..=count).map(|n| (1, 10 * n)).collect();
    boot(&threads)
}

#[track_caller]
fn lock(board: &Machine, thread: u32, mutex: usize) {
    if let Some(expected) = mark(board, thread, mutex) {
        board.does(thread, wait(mutex, expected, None));
        assert_eq!(board.thread(thread).state.get(), State::Waiting);
    }
}

fn ids(board: &Machine, helpers: &[u32]) -> [u32; HELPERS] {
    std::array::from_fn(|n| helpers.get(n).map_or(0, |helper| id(board, *helper)))
}

/// A thread that owns no mutex waits for a condition of mutex 0.
fn waiting(board: &Machine, condition: usize, helpers: &[u32]) -> Regs {
    let seen = board.read(1, MUTEX + condition) as u32;
    cond_wait(condition, seen, 0, None, ids(board, helpers))
}

#[track_caller]
fn waits(board: &Machine, thread: u32, condition: usize, helpers: &[u32]) {
    board.does(thread, waiting(board, condition, helpers));
    assert_eq!(board.thread(thread).state.get(), State::Waiting);
}

/// A thread locks mutex 0, wakes one that waits for a condition, and gives it up.
#[track_caller]
fn wakes(board: &Machine, thread: u32, condition: usize) {
    lock(board, thread, 0);
    board.does(thread, notify(condition, false));
    board.does(thread, wake(0));
}

fn sleep(until: u64) -> Regs {
    timed(NOTHING.into(), NOTHING.into(), Info(0), Timeout::At, until)
}

/// A thread sleeps for so many milliseconds.
#[track_caller]
fn rests(board: &Machine, thread: u32, time: u64) {
    board.does(thread, sleep(board.host.now() + time * MS));
}

/// The effective priorities of the first threads.
fn all(board: &Machine, count: u32) -> Vec<i16> {
    (1..=count).map(|thread| effective(board, thread)).collect()
}

/// How long high 3 waits for low 1, which has 2 ms of work left, while middle 2 has so much to do.
/// `begin` has 3 wait, `end` has 1 let it go on.
fn response(middle: u64, begin: fn(&Machine), end: fn(&Machine)) -> u64 {
    let board = threads(3);
    begin(&board);
    let mut left = [2 * MS, middle];
    loop {
        let thread = board.running().expect("one has work");
        if thread == 3 {
            return board.host.now();
        }
        match &mut left[thread as usize - 1] {
            0 if thread == 1 => end(&board),
            0 => rests(&board, thread, 1_000),
            work => {
                *work -= MS;
                board.wait(MS);
            }
        }
    }
}

/// With inheritance the response of A does not depend on how long B computes (S2G-E02): of a mutex
/// (Fig. 1), of a condition (Fig. 2). Without a helper it does.
#[test]
fn responses_do_not_depend_on_the_middle() {
    let mutex: fn(&Machine) = |board| {
        lock(board, 1, 0);
        lock(board, 3, 0);
    };
    let helped: fn(&Machine) = |board| waits(board, 3, FIRST, &[1]);
    let alone: fn(&Machine) = |board| waits(board, 3, FIRST, &[]);
    let unlocks: fn(&Machine) = |board| board.does(1, wake(0));
    let notifies: fn(&Machine) = |board| wakes(board, 1, FIRST);
    let lengths = [0, 1, 10, 100].map(|length| length * MS);
    for (begin, end) in [(mutex, unlocks), (helped, notifies)] {
        assert_eq!(lengths.map(|length| response(length, begin, end)), [2 * MS; 4]);
    }
    let responses = lengths.map(|length| response(length, alone, notifies));
    assert_eq!(responses, [2, 3, 12, 102].map(|length| length * MS), "inversion");
}

/// F waits for a condition with the helpers D and G; D, C, B wait in a row for A, and E for D: A,
/// the end of the chains, has the highest of their priorities, and G that of F, until F is woken
/// (Fig. 3).
#[test]
fn figure_3() {
    let board = threads(7);
    let [a, b, c, d, e, f, g] = [2, 3, 4, 5, 6, 7, 1];
    for thread in [a, b, c, d] {
        lock(&board, thread, thread as usize);
    }
    waits(&board, f, FIRST, &[d, g]);
    assert_eq!(all(&board, 7), [70, 20, 30, 40, 70, 60, 70]);
    lock(&board, d, c as usize);
    rests(&board, g, 10);
    lock(&board, c, b as usize);
    lock(&board, b, a as usize);
    rests(&board, a, 1_000);
    lock(&board, e, d as usize);
    assert_eq!(all(&board, 7), [70, 70, 70, 70, 70, 60, 70]);
    board.wait(10 * MS);
    lock(&board, g, 0);
    board.does(g, notify(FIRST, false));
    assert_eq!(all(&board, 7), [70, 60, 60, 60, 60, 60, 70], "G owns what F waits for");
    board.does(g, wake(0));
    assert_eq!(all(&board, 7), [10, 60, 60, 60, 60, 60, 70]);
    board.sees(f, Ok(()));
}

/// A waits for B's data, B for C's: C runs with the highest of the three priorities, whichever wait
/// begins first (Fig. 4).
#[test]
fn figure_4() {
    let (of_b, of_c) = (FIRST, FIRST + 1);
    for first in [2, 3] {
        let board = threads(3);
        if first == 2 {
            rests(&board, 3, 5);
            waits(&board, 2, of_c, &[1]);
            assert_eq!(all(&board, 3), [20, 20, 30]);
            board.wait(5 * MS);
            waits(&board, 3, of_b, &[2]);
        } else {
            waits(&board, 3, of_b, &[2]);
            assert_eq!(all(&board, 3), [10, 30, 30]);
            waits(&board, 2, of_c, &[1]);
        }
        assert_eq!(all(&board, 3), [30, 30, 30]);
        wakes(&board, 1, of_c);
        assert_eq!(all(&board, 3), [10, 30, 30], "B helps A still");
        board.sees(2, Ok(()));
        board.does(2, wake(0));
        wakes(&board, 2, of_b);
        assert_eq!(all(&board, 3), [10, 20, 30]);
        board.sees(3, Ok(()));
    }
}

/// The helper that wakes keeps its priority in between: it goes on before another thread of that
/// priority, which one that had less meanwhile would stand behind.
#[test]
fn nothing_between_condition_and_mutex() {
    let board: Machine = boot(&[(1, 10), (1, 30), (1, 30)]);
    rests(&board, 2, 5);
    waits(&board, 3, FIRST, &[1]);
    board.wait(5 * MS);
    assert_eq!((board.running(), board.thread(2).state.get()), (Some(1), State::Ready));
    lock(&board, 1, 0);
    board.does(1, notify(FIRST, false));
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 30));
    board.does(1, wake(0));
    assert_eq!(all(&board, 3), [10, 30, 30]);
}

/// The highest priority is woken first, and in one priority the longest wait; all are in that order
/// too, also if interrupts come between them.
#[test]
fn order_of_wakeups() {
    for interrupted in [false, true] {
        let board: Machine = boot(&[(1, 10), (1, 20), (1, 30), (1, 20), (1, 40)]);
        rests(&board, 5, 5);
        waits(&board, 3, FIRST, &[1]);
        rests(&board, 1, 4);
        waits(&board, 2, FIRST, &[]);
        waits(&board, 4, FIRST, &[]);
        assert_eq!(helpers_of(&board, 4), [(1, true)], "what the first waiter has named");
        board.wait(5 * MS);
        waits(&board, 5, FIRST, &[]);
        lock(&board, 1, 0);
        board.does(1, notify(FIRST, false));
        // An interrupt at every other poll.
        board.host.noise_once_in.set(if interrupted { 2 } else { 0 });
        let mut calls = 1;
        board.call(notify(FIRST, true));
        while board.regs.get().again {
            board.interrupts();
            assert_eq!(effective(&board, 1), 40);
            calls += 1;
            board.reissue();
        }
        board.host.noise_once_in.set(0);
        assert_eq!(calls > 1, interrupted, "{calls} calls");
        board.check();
        for (thread, next) in [(1, 5), (5, 3), (3, 2), (2, 4)] {
            board.does(thread, wake(0));
            assert_eq!(board.read(1, MUTEX) as u32 & !WAITERS, id(&board, next));
            if board.running() != Some(next) {
                rests(&board, board.running().expect("one runs"), 50);
            }
        }
    }
}

/// A deadline ends a wait that no wake-up has ended before: also if both are due at one instant,
/// where the interrupt comes first. After a wake-up it is no deadline any more.
#[test]
fn deadline_and_wakeup() {
    for (early, woken) in [(0, false), (1, true)] {
        let board = threads(3);
        let regs = cond_wait(FIRST, 0, 0, Some(MS), ids(&board, &[1]));
        board.does(3, regs);
        lock(&board, 1, 0);
        board.host.advance(MS - early);
        board.call(notify(FIRST, false));
        board.settle();
        board.check();
        assert_eq!(board.thread(3).state.get() == State::Waiting, woken);
        if woken {
            board.wait(5 * MS);
            assert_eq!((board.running(), effective(&board, 1)), (Some(1), 30));
            board.does(1, wake(0));
            board.sees(3, Ok(()));
        } else {
            board.sees(3, Err(Error::Timeout));
            assert_eq!(effective(&board, 1), 10);
            assert_eq!(board.read(1, MUTEX + FIRST), 0, "none waits");
        }
    }
}

/// Cancellation takes a thread out of a condition, and out of the mutex that it has moved to.
#[test]
fn cancelled_waits() {
    let cancel = [THREAD + 3, 0, 0, 0, 0, exchange::CANCEL];
    for moved in [false, true] {
        let board = threads(3);
        waits(&board, 3, FIRST, &[1]);
        if moved {
            lock(&board, 1, 0);
            board.does(1, notify(FIRST, false));
        }
        board.succeeds(1, system(Call::ThreadSuspend, &[THREAD + 3]));
        assert_eq!(effective(&board, 1), 30, "a stopped thread waits still");
        board.does(1, system(Call::ThreadExchange, &cancel));
        assert_eq!(all(&board, 2), [10, 20]);
        let status = board.thread(3).context.regs.get().status();
        assert_eq!(status.result(), Err(Error::Cancelled));
    }
}

/// The owner of the mutex ends while a woken thread waits for that.
#[test]
fn the_owner_ends() {
    let board = threads(3);
    waits(&board, 3, FIRST, &[1]);
    lock(&board, 1, 0);
    board.does(1, notify(FIRST, false));
    board.does(1, system(Call::Destroy, &[THREAD + 1]));
    board.sees(3, Ok(()));
    assert_eq!(board.regs.get().badge(), OWNER_DIED);
}

/// Helpers end while they are lent to, by others and by themselves; waiters end.
#[test]
fn ends() {
    let board = threads(5);
    waits(&board, 5, FIRST, &[2, 3]);
    assert_eq!(all(&board, 5), [10, 50, 50, 40, 50]);
    let ended = id(&board, 2);
    rests(&board, 2, 1_000);
    board.succeeds(3, system(Call::Destroy, &[THREAD + 2]));
    assert_eq!(helpers_of(&board, 5), [(3, true)]);
    board.fails(3, tell(FIRST, ended, true), Error::Stale);
    board.does(3, system(Call::Destroy, &[THREAD + 3]));
    assert_eq!(helpers_of(&board, 5), []);
    board.does(4, tell(FIRST, id(&board, 1), true));
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 50));
    rests(&board, 1, 1_000);
    board.succeeds(4, system(Call::Destroy, &[THREAD + 5]));
    assert_eq!(effective(&board, 1), 10);
    assert_eq!(board.read(1, MUTEX + FIRST), 0);
}

/// Helpers come and go while a thread waits; each refusal says why.
#[test]
fn sets_of_helpers() {
    let board: Machine =
        boot(&[(1, 10), (1, 11), (1, 12), (1, 13), (1, 14), (1, 40), (2, 15), (1, 41)]);
    let helps = |thread, helps| tell(FIRST, id(&board, thread), helps);
    // Without a waiter the kernel says only whether there is such a thread.
    board.succeeds(8, helps(1, true));
    board.succeeds(8, helps(1, false));
    board.fails(8, helps(7, true), Error::Stale);
    board.fails(8, tell(FIRST, 0, true), Error::Stale);
    let number = number(Call::InheritHelp, Scope::Domain, Timeout::Never);
    let extremes = [[1 << 32, 1], [id(&board, 1).into(), 2], [u64::MAX, u64::MAX]];
    for [helper, helps] in extremes {
        let regs = Regs::call(number, &[super::address(FIRST), helper, helps]);
        board.fails(8, regs, Error::InvalidArgument);
    }
    rests(&board, 8, 5);
    // One that is named twice helps once, one of another domain does not help.
    board.does(6, cond_wait(FIRST, 0, 0, None, ids(&board, &[1, 7, 1, 2])));
    board.wait(5 * MS);
    assert_eq!(all(&board, 7), [40, 40, 12, 13, 14, 40, 15]);
    board.fails(8, helps(1, true), Error::HelpsAlready);
    board.fails(8, helps(3, false), Error::NoHelper);
    board.succeeds(8, helps(3, true));
    board.succeeds(8, helps(4, true));
    board.fails(8, helps(5, true), Error::TooManyHelpers);
    board.succeeds(8, helps(1, false));
    assert_eq!(all(&board, 7), [10, 40, 40, 40, 14, 40, 15]);
    board.succeeds(8, helps(5, true));
    assert_eq!(effective(&board, 5), 40);
}

/// A helper that waits for the condition itself, or for what leads there, is passed over as long as
/// it does: no error, and no ring.
#[test]
fn helpers_that_wait() {
    let board = threads(4);
    rests(&board, 4, 5);
    waits(&board, 3, FIRST, &[3, 2, 1]);
    assert_eq!(helpers_of(&board, 3), [(3, false), (2, true), (1, true)]);
    waits(&board, 2, FIRST, &[]);
    assert_eq!(helpers_of(&board, 3), [(3, false), (2, false), (1, true)]);
    assert_eq!(all(&board, 3), [30, 20, 30]);
    board.wait(5 * MS);
    wakes(&board, 4, FIRST);
    rests(&board, 4, 5);
    rests(&board, 3, 5);
    assert_eq!(helpers_of(&board, 2), [(3, true), (2, false), (1, true)]);
    assert_eq!(all(&board, 4), [20, 20, 30, 40]);
}

/// A reader helps that there is room and waits for data, a writer the other way round: the second
/// one to wait passes the first one over, and lends to all others.
#[test]
fn both_ends_of_a_queue() {
    let (data, room) = (FIRST, FIRST + 1);
    let board = threads(4);
    let [reader, writer, other] = [3, 4, 1];
    waits(&board, writer, room, &[reader, other]);
    assert_eq!(all(&board, 4), [40, 20, 40, 40]);
    if board.running() == Some(other) {
        rests(&board, other, 5);
    }
    waits(&board, reader, data, &[writer, 2]);
    assert_eq!(helpers_of(&board, reader), [(writer, false), (2, true)]);
    assert_eq!(helpers_of(&board, writer), [(reader, true), (other, true)]);
    assert_eq!(all(&board, 4), [40, 40, 40, 40]);
}

/// A wait for a mutex that closes a ring through a helper fails, as one through mutexes does.
#[test]
fn a_ring_through_a_helper() {
    let board = threads(3);
    lock(&board, 3, 1);
    waits(&board, 3, FIRST, &[1]);
    let expected = mark(&board, 1, 1).expect("it is owned");
    board.fails(1, wait(1, expected, None), Error::Deadlock);
    wakes(&board, 1, FIRST);
    board.sees(3, Ok(()));
}

/// Words are of one kind and of one mutex, and who wakes owns that.
#[test]
fn refusals() {
    let board = threads(3);
    board.fails(3, cond_wait(FIRST, 1, 0, None, [0; 4]), Error::Changed);
    board.fails(3, cond_wait(FIRST, 0, FIRST, None, [0; 4]), Error::InvalidArgument);
    board.fails(3, cond_wait(FIRST, 0, 0, Some(0), [0; 4]), Error::Timeout);
    for call in [Call::InheritCondWait, Call::InheritRequeue, Call::InheritHelp] {
        let shared = number(call, Scope::Shared, Timeout::Never);
        let args = [super::address(FIRST), 0, super::address(0)];
        board.fails(3, Regs::call(shared, &args), Error::InvalidArgument);
    }
    board.succeeds(3, notify(FIRST, true));
    waits(&board, 3, FIRST, &[]);
    board.fails(2, cond_wait(FIRST, 0, 1, None, [0; 4]), Error::OtherMutex);
    board.fails(2, notify(FIRST, false), Error::WrongState);
    lock(&board, 1, 0);
    board.fails(2, notify(FIRST, false), Error::WrongState);
    let words = board.read(1, MUTEX + FIRST);
    board.write(1, MUTEX + FIRST, words | u64::from(WAITERS));
    board.fails(2, wait(FIRST, WAITERS, None), Error::BrokenQueue);
    board.fails(2, wake(FIRST), Error::BrokenQueue);
    board.write(1, MUTEX + FIRST, words);
    let expected = mark(&board, 2, 0).expect("it is owned");
    board.does(2, wait(0, expected, None));
    board.fails(1, cond_wait(0, expected, 1, None, [0; 4]), Error::BrokenQueue);
    board.fails(1, notify(0, true), Error::BrokenQueue);
    board.write(1, MUTEX + FIRST, 0);
    board.succeeds(1, notify(FIRST, true));
    assert_eq!(board.thread(3).state.get(), State::Waiting, "what the words say counts");
    board.write(1, MUTEX + FIRST, words);
    board.does(1, notify(FIRST, true));
    board.does(1, wake(0));
    board.sees(3, Ok(()));
}

/// Where a tree orders threads, the first priority is woken first all the same.
#[test]
fn under_the_tree() {
    let board: Board<Tree<Host>> = boot(&[(1, 10), (1, 20), (1, 30)]);
    let helper = id(&board, 1);
    let sleep = timed(NOTHING.into(), NOTHING.into(), Info(0), Timeout::At, 1_000_000);
    board.does(3, sleep);
    for thread in [2, 3] {
        board.does(thread, cond_wait(FIRST, 0, 0, None, [helper, 0, 0, 0]));
        board.wait(1_000_000);
    }
    mark(&board, 1, 0);
    board.does(1, notify(FIRST, false));
    board.does(1, wake(0));
    board.sees(3, Ok(()));
}

/// Each invariant of turnstiles notices what it is for.
#[test]
fn invariants() {
    type Corrupt = fn(&Inherit<Host>, &Machine);
    let found: [(&str, Corrupt); 6] = [
        ("a turnstile is listed by another priority than it lends", |waits, _| {
            waits.turnstile.edge(ByEdge::OWNER).lends.set(false);
        }),
        ("an edge to another thread", |waits, board| {
            waits.turnstile.edge(ByEdge::OWNER).to.set(Some(reference(board, 3)));
        }),
        ("an edge is marked that leads nowhere", |waits, _| {
            waits.turnstile.edge(ByEdge::OWNER).to.set(None);
        }),
        ("waiters lend to another thread along the short way", |waits, board| {
            waits.turnstile.only.set(Some(reference(board, 3)));
        }),
        ("a mutex has two owners", |waits, _| waits.turnstile.kind.set(Kind::Mutex)),
        ("words were to name a thread that does not wait there", |waits, _| {
            waits.turnstile.named.set(None);
        }),
    ];
    for (message, corrupt) in found {
        let board = threads(4);
        waits(&board, 4, FIRST, &[1, 2, 4]);
        let at = board.thread(4).inherit.waits.get().expect("it waits");
        corrupt(&board.thread(at.index()).inherit, &board);
        let cause = catch_unwind(AssertUnwindSafe(|| board.check())).expect_err(message);
        let text = cause.downcast_ref::<&str>().map(|text| text.to_string());
        let text = text.or_else(|| cause.downcast_ref::<String>().cloned()).unwrap_or_default();
        assert!(text.contains(message), "found something else: {text}");
    }
}
