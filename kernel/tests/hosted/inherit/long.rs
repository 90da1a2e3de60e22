//! Chains of waits that are longer than one section may follow: what comes out is that of short
//! ones, wherever an interrupt comes.

use super::{
    MUTEX, cond_wait, effective, follows, id, lock, lock_until, mark, settles, sleep, wait,
};
use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::host::Host;
use crate::support::scene::boot;
use abi::Error;
use kernel::object::thread::State;
use kernel::system::{DirectLazy, Fastpath, IpcHeap, StrictEager, StrictLazy, System, Tree};

/// Threads in a row, each of which waits for the one before.
const ROW: u32 = 40;
/// The one that waits for the last of them, and one above all.
const LAST: u32 = ROW + 1;
const ABOVE: u32 = ROW + 2;

fn row<S: System<Port = Host>>(until: [u64; 2]) -> Board<S> {
    super::row(ROW, 2, until)
}

fn is_lent<S: System<Port = Host>>(board: &Board<S>, urgency: i16) {
    for thread in 1..ROW {
        assert_eq!(effective(board, thread), urgency, "thread {thread}");
    }
    board.check_all();
}

/// A wait lends along the whole row, and its timeout takes that back, with an interrupt at any
/// poll.
fn lends<S: System<Port = Host>>(polls: impl Iterator<Item = u64>) {
    let mut left = 0;
    for polls in polls {
        let board: Board<S> = row([100 * TICK, TICK]);
        board.wait(TICK);
        let expected = mark(&board, LAST, ROW as usize).expect("it is owned");
        board.host.interrupt_after(polls);
        board.call(wait(ROW as usize, expected, Some(2 * TICK)));
        left += settles(&board);
        assert_eq!(board.running(), Some(1));
        is_lent(&board, 2 * LAST as i16);
        board.host.interrupt_after(polls);
        board.host.advance(TICK);
        left += settles(&board);
        assert_eq!(board.running(), Some(LAST));
        is_lent(&board, 2 * ROW as i16);
    }
    assert!(left > 0, "no interrupt came between two steps");
}

#[test]
fn a_long_row_is_lent_to_with_interrupts_anywhere() {
    lends::<StrictEager<Host>>(0..2 * u64::from(ROW));
    lends::<StrictLazy<Host>>((0..2 * u64::from(ROW)).step_by(7));
    lends::<DirectLazy<Host>>((0..2 * u64::from(ROW)).step_by(7));
    lends::<Fastpath<Host>>((0..2 * u64::from(ROW)).step_by(5));
    lends::<IpcHeap<Host>>((0..2 * u64::from(ROW)).step_by(7));
    lends::<Tree<Host>>((0..3 * u64::from(ROW)).step_by(20));
}

/// While a thread runs that is above all that has changed, the others have what they had; when it
/// waits, each has what it is to have before any of them runs.
fn goes_before<S: System<Port = Host>>() {
    let board: Board<S> = row([2 * TICK, TICK]);
    board.wait(TICK);
    lock_until(&board, LAST, ROW as usize, Some(2 * TICK));
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 2 * LAST as i16));
    // The timeout is served first, and then the one above is due.
    board.host.interrupt_after(3);
    board.wait(TICK);
    if board.running() == Some(ABOVE) && follows(&board) {
        assert_eq!(effective(&board, 1), 2 * LAST as i16, "what it was lent");
    }
    board.does(ABOVE, sleep(100 * TICK));
    assert_eq!(board.running(), Some(LAST));
    assert!(!follows(&board), "none is left behind");
    is_lent(&board, 2 * ROW as i16);
}

#[test]
fn a_thread_above_does_not_wait_for_a_long_row() {
    goes_before::<StrictEager<Host>>();
    goes_before::<StrictLazy<Host>>();
    goes_before::<Fastpath<Host>>();
    goes_before::<Tree<Host>>();
}

/// The first one of a row of which others wait may not wait for the last one: with an interrupt at
/// any poll of the search, also if waits change behind that.
#[test]
fn a_ring_of_any_length_is_found() {
    for polls in 0..8 {
        let board: Board<StrictEager<Host>> = row([100 * TICK, 99 * TICK]);
        let expected = mark(&board, 1, ROW as usize).expect("it is owned");
        board.host.interrupt_after(polls);
        board.call(wait(ROW as usize, expected, None));
        if polls % 2 == 1 {
            // A change: the search begins again.
            board.machine.kernel.waits.change();
        }
        board.settle();
        board.sees(1, Err(Error::Deadlock));
        is_lent(&board, 2 * ROW as i16);
    }
}

/// Helpers of conditions that lead to others, in twos: a search follows ways that part and meet
/// again at each of them once.
#[test]
fn ways_that_part_and_meet() {
    let floors = 9;
    let count = 2 * floors + 2;
    let [searches, waits_for_it] = [count + 1, count + 2];
    let threads: Vec<(u32, u8)> = (1..=waits_for_it).map(|at| (1, 100 - 2 * at as u8)).collect();
    let board: Board<StrictEager<Host>> = boot(&threads);
    lock(&board, 1, 1);
    // Those of a floor wait for a condition that those of the next one help.
    while let Some(thread) = board.running().filter(|thread| *thread <= count) {
        if thread > 2 * floors {
            assert_eq!(effective(&board, thread), 98);
            board.does(thread, sleep(TICK));
            continue;
        }
        let floor = (thread - 1) / 2;
        let condition = 100 + floor as usize;
        let [left, right] = [2 * floor + 3, 2 * floor + 4].map(|thread| id(&board, thread));
        let word = board.read(1, MUTEX + condition) as u32;
        board.does(thread, cond_wait(condition, word, 0, None, [left, right, 0, 0]));
        assert_eq!(board.thread(thread).state.get(), State::Waiting);
    }
    lock(&board, searches, 2);
    board.does(searches, sleep(TICK));
    lock(&board, waits_for_it, 2);
    board.wait(TICK);
    board.does(count - 1, sleep(100 * TICK));
    board.does(count, sleep(100 * TICK));
    let polls = board.host.polls.get();
    lock(&board, searches, 1);
    // One for each thread at which ways part, and a few of the call.
    let polls = board.host.polls.get() - polls;
    assert!(polls < u64::from(2 * floors) + 16, "ways are followed twice: {polls}");
    assert_eq!(board.thread(searches).state.get(), State::Waiting);
    board.check_all();
}
