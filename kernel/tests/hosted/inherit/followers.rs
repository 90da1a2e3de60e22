//! Changes of waits that are followed in steps, where a tree orders threads: interrupts are served
//! between them, and threads above all that has changed run before the others follow.

use super::{
    cond_wait, effective, follows, helpers_of, id, lock, lock_until, mark, settles, sleep, wait,
    wake,
};
use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::host::Host;
use crate::support::scene::{THREAD, boot, system};
use abi::call::{Call, exchange};
use abi::reservation::Inheritance;
use kernel::system::Tree;

type Machine = Board<Tree<Host>>;

/// Those that wait in a row, each for the one before, and the one that is to wait for the last.
const ROW: u32 = 8;
const LAST: u32 = ROW + 1;
/// One above all of them.
const ABOVE: u32 = LAST + 1;

/// A thread ends the wait of another one.
fn cancel(board: &Machine, me: u32, thread: u32) {
    let slot = THREAD + u64::from(thread);
    board.succeeds(me, system(Call::ThreadSuspend, &[slot]));
    board.succeeds(me, system(Call::ThreadExchange, &[slot, 0, 0, 0, 0, exchange::CANCEL]));
    board.succeeds(me, system(Call::ThreadResume, &[slot]));
}

fn row(until: [u64; 2]) -> Machine {
    super::row(ROW, 10, until)
}

/// An interrupt at any poll of a wait that a whole row follows, and of its end, changes nothing of
/// what comes out.
#[test]
fn interrupts_are_served_between_the_steps() {
    let mut left = 0;
    for polls in 0..3 * u64::from(ROW) {
        let board = row([100 * TICK, TICK]);
        board.wait(TICK);
        let expected = mark(&board, LAST, ROW as usize).expect("it is owned");
        board.host.interrupt_after(polls);
        board.call(wait(ROW as usize, expected, Some(2 * TICK)));
        left += settles(&board);
        assert!(!follows(&board), "none is left behind");
        assert_eq!((board.running(), effective(&board, 1)), (Some(1), 10 * LAST as i16));
        board.check_all();
        board.host.interrupt_after(polls);
        board.host.advance(TICK);
        left += settles(&board);
        assert_eq!((board.running(), effective(&board, 1)), (Some(LAST), 10 * ROW as i16));
        board.check_all();
    }
    assert!(left >= ROW, "{left} times only did an interrupt come between two steps");
}

/// While a thread runs that is above all that has changed, the others have what they had; when it
/// waits, each has what it is to have before any runs.
#[test]
fn a_thread_above_does_not_wait_for_the_others() {
    let board = row([2 * TICK, TICK]);
    board.wait(TICK);
    lock(&board, LAST, ROW as usize);
    assert_eq!((board.running(), effective(&board, 1)), (Some(1), 10 * LAST as i16));
    board.wait(TICK);
    cancel(&board, ABOVE, LAST);
    assert_eq!((board.running(), follows(&board)), (Some(ABOVE), true));
    assert_eq!(effective(&board, 1), 10 * LAST as i16, "what it was lent");
    board.check_all();
    board.does(ABOVE, sleep(100 * TICK));
    assert_eq!((board.running(), follows(&board)), (Some(LAST), false));
    assert_eq!(effective(&board, 1), 10 * ROW as i16);
    board.does(LAST, sleep(100 * TICK));
    assert_eq!(board.running(), Some(1));
    board.does(1, wake(1));
    assert_eq!((board.running(), effective(&board, 1)), (Some(2), 10));
    board.check_all();
}

/// A thread that is above some of what has changed, but not above all, waits for that alone: it
/// runs when what is as urgent as it has been followed.
#[test]
fn a_thread_between_runs_behind_what_is_above() {
    let board = row([2 * TICK, TICK]);
    board.wait(TICK);
    lock(&board, LAST, ROW as usize);
    board.wait(TICK);
    assert_eq!(board.running(), Some(ABOVE));
    // The one that waits is above the rest of the row, and above this one, from now on.
    let priority = 10 * u64::from(ABOVE) + 5;
    let raise = [THREAD + u64::from(LAST), priority];
    board.does(ABOVE, system(Call::ThreadPriority, &raise));
    assert_eq!((board.running(), follows(&board)), (Some(1), false));
    assert_eq!(effective(&board, 1), priority as i16);
    board.check_all();
}

/// A thread that ends before it has followed is none of those that follow.
#[test]
fn a_thread_that_ends_follows_no_more() {
    let board = row([2 * TICK, TICK]);
    board.wait(TICK);
    lock(&board, LAST, ROW as usize);
    board.wait(TICK);
    cancel(&board, ABOVE, LAST);
    assert_eq!((board.running(), follows(&board)), (Some(ABOVE), true));
    for thread in 1..=ROW {
        let end = [THREAD + u64::from(thread)];
        board.does(ABOVE, system(Call::Destroy, &end));
        board.settle();
        board.check_all();
    }
    board.does(ABOVE, sleep(100 * TICK));
    assert_eq!((board.running(), follows(&board)), (Some(LAST), false));
}

/// A helper ends its own wait for a condition, which lends to it then, at the instant at which
/// another thread ends to wait for it: wherever an interrupt comes, it uses the leaf that it is
/// lent.
#[test]
fn a_helper_that_is_lent_to_and_follows_changes_its_leaf() {
    let (waits, helper, lends) = (1, 2, 3);
    let mut left = 0;
    for polls in 0..20 {
        let board: Machine = boot(&[(1, 20), (1, 20), (1, 30)]);
        board.machine.kernel.trees.set_inheritance(Inheritance::Charged);
        let condition = |until| cond_wait(100, 0, 101, until, [id(&board, helper), 0, 0, 0]);
        board.does(lends, sleep(TICK));
        assert!(mark(&board, helper, 1).is_none());
        lock_until(&board, waits, 1, Some(2 * TICK));
        board.does(helper, condition(Some(2 * TICK)));
        board.wait(TICK);
        board.does(lends, condition(None));
        assert_eq!(helpers_of(&board, lends), [(helper, false)], "it waits itself");
        board.host.interrupt_after(polls);
        board.host.advance(TICK);
        left += settles(&board);
        assert_eq!(helpers_of(&board, lends), [(helper, true)]);
        assert_eq!((board.running(), effective(&board, helper)), (Some(helper), 30));
        board.check_all();
    }
    assert!(left > 1, "{left} times only did an interrupt come between two steps");
}
