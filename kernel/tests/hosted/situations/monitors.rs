//! Monitors: what is told of reservations whose time runs out.

use super::reservations::{Tested, create, limit, reserve, set, set_share};
use crate::support::context::Regs;
use crate::support::host::{Event, Host};
use crate::support::scene::{
    ENDPOINT, FREE, LEAF, NOTIFICATION, ROOT, THREAD, begin_job, boot, call, receive, reply_wait,
    system, timed,
};
use abi::call::{Call, NOTHING, Setting, Timeout};
use abi::reservation::{Policy, Share, Timing};
use abi::{Error, Info, Rights};
use kernel::port::Port;
use kernel::system::Tree;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const TASK: u32 = 1;
const MONITOR: u32 = 2;
const MISSED: u64 = 4;
const OVERRAN: u64 = 8;

fn monitor(slot: u64, notification: u64, bits: [u64; 2]) -> Regs {
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

fn sleep(until: u64) -> Regs {
    timed(NOTHING.into(), NOTHING.into(), Info(0), Timeout::At, until)
}

/// How often the timer interrupts the first thread behind its wake-up, where so many leaves of a
/// class below it have missed just before, and its monitor is below it as well.
fn interrupts(leaves: u64) -> usize {
    let board: Tested = boot::<Tree<Host>>(&[(1, 200), (1, 20), (1, 10)]);
    let wakes = 5 * MS + 110 * US;
    board.does(1, sleep(wakes));
    board.does(2, sleep(100 * US));
    board.does(3, begin_job());
    board.wait(100 * US - board.host.now());
    board.succeeds(2, create(FREE, ROOT, Some(Policy::FixedPriority), Share::Priority(10)));
    let released = board.host.now();
    for leaf in FREE + 1..=FREE + leaves {
        board.succeeds(2, create(leaf, FREE, None, Share::Priority(5)));
        let timing = Timing { deadline: 5 * MS, period: 50 * MS };
        board.succeeds(2, set(leaf, Setting::Timing, Timing::encode(Some(timing))));
        board.succeeds(2, monitor(leaf, NOTIFICATION, [1, 0]));
        board.succeeds(2, reserve(THREAD + 3, leaf));
    }
    board.does(2, receive(NOTIFICATION));
    // All miss, and the first is told.
    board.host.advance(released + 5 * MS + 1 - board.host.now());
    while board.running() != Some(2) {
        board.take(Event::Timer);
    }
    board.host.advance(wakes - board.host.now());
    board.take(Event::Timer);
    let mut count = 0;
    while board.host.waiting().is_some() {
        board.take(Event::Timer);
        count += 1;
    }
    assert_eq!(board.running(), Some(1));
    board.check_all();
    count
}

#[test]
fn misses_below_do_not_interrupt_what_wakes_above() {
    assert_eq!([1, 2, 7, 14].map(interrupts), [0; 4]);
}

const CLIENT: u32 = 1;
const VICTIM: u32 = 2;
const SERVER: u32 = 3;
const WORKER: u32 = 4;
const LOW_CLASS: u64 = FREE;
const LOW_LEAF: u64 = FREE + 1;

/// A low server, called by a client that is above the victim, is to be told of a leaf below itself;
/// then the client waits.
fn called() -> Tested {
    let board: Tested = boot::<Tree<Host>>(&[(1, 200), (1, 150), (1, 10), (1, 5)]);
    board.does(CLIENT, sleep(100 * US));
    board.does(VICTIM, sleep(200 * US));
    let priority = Share::Priority(8);
    board.succeeds(SERVER, create(LOW_CLASS, ROOT, Some(Policy::FixedPriority), priority));
    board.succeeds(SERVER, create(LOW_LEAF, LOW_CLASS, None, Share::Priority(5)));
    let timing = Timing { deadline: 5 * MS, period: 50 * MS };
    board.succeeds(SERVER, set(LOW_LEAF, Setting::Timing, Timing::encode(Some(timing))));
    board.does(SERVER, receive(ENDPOINT + 1));
    board.does(WORKER, begin_job());
    board.wait(100 * US);
    board.does(CLIENT, call(ENDPOINT + 1, Info(0)));
    board.succeeds(SERVER, monitor(LOW_LEAF, NOTIFICATION, [1, 0]));
    board.succeeds(SERVER, reserve(THREAD + u64::from(WORKER), LOW_LEAF));
    board.does(SERVER, reply_wait(ENDPOINT + 1, Info(0)));
    board.does(CLIENT, receive(NOTIFICATION + 1));
    assert_eq!(board.running(), Some(WORKER));
    board
}

#[test]
fn a_miss_is_not_as_urgent_as_who_has_called_its_monitor() {
    let board = called();
    board.wait(100 * US);
    assert_eq!(board.running(), Some(VICTIM));
    assert_eq!(board.host.armed(), None, "a miss below the victim interrupts it");
}

#[test]
fn a_sleeper_is_not_as_urgent_as_who_has_called_its_monitor() {
    let board = called();
    board.does(WORKER, sleep(5 * MS));
    board.wait(6 * MS);
    assert_eq!(board.running(), Some(VICTIM));
    let first = board.machine.cpu.deadlines.first();
    assert_eq!(first, 5 * MS, "a timeout below the victim is not deferred");
}
