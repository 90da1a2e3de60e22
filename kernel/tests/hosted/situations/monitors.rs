//! Monitors: what is told of reservations whose time runs out.

use super::reservations::{Tested, limit, reserve, set, set_share};
use crate::support::host::Host;
use crate::support::scene::{
    FREE, LEAF, NOTIFICATION, ROOT, THREAD, begin_job, boot, receive, system,
};
use abi::call::{Call, Setting};
use abi::reservation::{Share, Timing};
use abi::{Error, Rights};
use kernel::system::Tree;

const MS: u64 = 1_000_000;
const TASK: u32 = 1;
const MONITOR: u32 = 2;
const MISSED: u64 = 4;
const OVERRAN: u64 = 8;

fn monitor(slot: u64, notification: u64, bits: [u64; 2]) -> crate::support::context::Regs {
    let [missed, overran] = bits;
    system(Call::ReservationSet, &[slot, Setting::Monitor as u64, notification])
        .with_words([missed, overran, 0, 0])
}

/// The first thread runs on the leaf, with jobs that are due after 5 ms; the second one, which is
/// more urgent, is told of it and waits.
fn watched() -> Tested {
    let board: Tested = boot::<Tree<Host>>(&[(1, 50), (1, 200), (1, 10)]);
    let badge = MISSED | OVERRAN;
    let copy = [NOTIFICATION, FREE, u64::from(Rights::ALL.0), badge];
    board.succeeds(MONITOR, system(Call::CapCopy, &copy));
    board.succeeds(MONITOR, set_share(LEAF, Share::Priority(60)));
    let timing = Timing { deadline: 5 * MS, period: 10 * MS };
    board.succeeds(MONITOR, set(LEAF, Setting::Timing, Timing::encode(Some(timing))));
    board.succeeds(MONITOR, reserve(THREAD + u64::from(TASK), LEAF));
    board.succeeds(MONITOR, monitor(LEAF, FREE, [MISSED, OVERRAN]));
    board
}

#[test]
fn a_miss_is_told_at_the_deadline_and_once() {
    let board = watched();
    board.does(MONITOR, receive(NOTIFICATION));
    board.does(TASK, begin_job());
    board.wait(4 * MS);
    assert_eq!(board.running(), Some(TASK));
    board.wait(MS + MS / 2);
    board.sees(MONITOR, Ok(()));
    assert_eq!(board.regs.get().badge(), MISSED);
    board.does(MONITOR, receive(NOTIFICATION));
    board.wait(50 * MS);
    assert_eq!(board.running(), Some(TASK), "it is one job");
    board.succeeds(TASK, system(Call::ReservationInspect, &[LEAF]));
    let [ended, missed, ..] = board.regs.get().words;
    assert_eq!((ended, missed), (0, 1), "it goes on");
}

#[test]
fn a_used_up_budget_is_told() {
    let board = watched();
    board.succeeds(MONITOR, limit(LEAF, MS, 4 * MS));
    board.does(MONITOR, receive(NOTIFICATION));
    board.wait(MS + MS / 10);
    board.sees(MONITOR, Ok(()));
    assert_eq!(board.regs.get().badge(), OVERRAN);
    board.does(MONITOR, receive(NOTIFICATION));
    assert_eq!(board.running(), Some(3), "and the task waits");
}

#[test]
fn what_comes_together_is_one_signal() {
    let board = watched();
    board.succeeds(MONITOR, limit(LEAF, MS, 4 * MS));
    board.does(MONITOR, receive(NOTIFICATION + 1));
    board.does(TASK, begin_job());
    board.does(TASK, system(Call::Signal, &[NOTIFICATION + 1]));
    board.sees(MONITOR, Ok(()));
    // The monitor computes: the task has no budget used, and its job is late.
    board.wait(6 * MS);
    board.succeeds(MONITOR, system(Call::Yield, &[]));
    board.does(MONITOR, receive(NOTIFICATION));
    board.sees(MONITOR, Ok(()));
    assert_eq!(board.regs.get().badge(), MISSED);
}

#[test]
fn nobody_is_told_what_was_given_up() {
    let board = watched();
    board.succeeds(MONITOR, monitor(LEAF, 0, [MISSED, OVERRAN]));
    board.does(MONITOR, receive(NOTIFICATION));
    board.wait(20 * MS);
    assert_eq!(board.running(), Some(TASK));
    // A notification that is gone.
    let board = watched();
    board.succeeds(MONITOR, system(Call::Destroy, &[NOTIFICATION]));
    board.does(MONITOR, receive(NOTIFICATION + 1));
    board.wait(20 * MS);
    assert_eq!(board.running(), Some(TASK));
}

#[test]
fn only_what_the_caller_may_signal_is_told() {
    let board = watched();
    board.fails(MONITOR, monitor(LEAF, FREE, [1, 0]), Error::InvalidArgument);
    board.fails(MONITOR, monitor(LEAF, FREE, [MISSED, 16]), Error::InvalidArgument);
    board.fails(MONITOR, monitor(LEAF, NOTIFICATION, [2, 0]), Error::InvalidArgument);
    board.succeeds(MONITOR, monitor(LEAF, NOTIFICATION, [1, 1]));
    board.fails(MONITOR, monitor(LEAF, LEAF, [1, 0]), Error::WrongKind);
    board.fails(MONITOR, monitor(ROOT, FREE, [MISSED, 0]), Error::WrongState);
    let deaf = [NOTIFICATION, FREE + 1, u64::from(Rights::RECEIVE.0), 0];
    board.succeeds(MONITOR, system(Call::CapCopy, &deaf));
    board.fails(MONITOR, monitor(LEAF, FREE + 1, [1, 0]), Error::MissingRight);
    let blind = [LEAF, FREE + 2, u64::from(Rights::RESERVE.0), 0];
    board.succeeds(MONITOR, system(Call::CapCopy, &blind));
    board.fails(MONITOR, monitor(FREE + 2, FREE, [MISSED, 0]), Error::MissingRight);
}
