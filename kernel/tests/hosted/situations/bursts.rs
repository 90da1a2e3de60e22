//! Many deadlines at one instant, and a thread above those that they concern.

use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::{Event, Host};
use crate::support::scene::{FREE, NOTIFICATION, TIMER, boot_with, plenty, receive, system, timed};
use abi::call::{Call, NOTHING, Timeout};
use abi::object::Resource;
use abi::{Error, Info};
use kernel::port::Port;
use kernel::system::{DirectLazy, Fastpath, StrictEager, System};

/// When the deadlines pass.
const AT: u64 = 300_000;
/// How many timers the low domain has.
const BURST: u64 = 64;
/// Deadlines that an interrupt serves, whomever they concern.
const SERVED: u64 = 8;
/// Nanoseconds that the highest thread has at least between two such interrupts.
const SHARE: u64 = 10_000;

const HIGH: u32 = 1;
const LOW: u32 = 2;
const MIDDLE: u32 = 3;

fn sleep(until: u64) -> Regs {
    timed(NOTHING.into(), NOTHING.into(), Info(0), Timeout::At, until)
}

/// The low thread has armed all its timers for [`AT`], and waits for them if it `waits`; the
/// highest thread sleeps until then and has come last.
fn burst<S: System<Port = Host>>(until: u64, waits: bool) -> Board<S> {
    let mut quotas = plenty();
    quotas[Resource::Timers as usize] = BURST;
    let board: Board<S> = boot_with(&[(1, 200), (2, 10), (1, 100)], &quotas);
    board.does(HIGH, sleep(1_000));
    board.does(MIDDLE, sleep(2_000));
    for timer in FREE..FREE + BURST {
        board.succeeds(LOW, system(Call::TimerCreate, &[timer, NOTIFICATION + 1]));
        board.succeeds(LOW, system(Call::TimerSet, &[timer, AT]));
    }
    if waits {
        board.does(LOW, receive(NOTIFICATION + 1));
    }
    board.wait(1_000);
    board.sees_in_receive(HIGH, Error::Timeout);
    board.does(HIGH, sleep(until));
    board
}

fn armed<S: System<Port = Host>>(board: &Board<S>) -> u64 {
    let timers = &board.machine.kernel.timers;
    let timers = (0..timers.size()).filter_map(|index| timers.get(index));
    timers.filter(|timer| board.object(Some(*timer)).place.is_set()).count() as u64
}

fn the_highest_keeps_its_share<S: System<Port = Host>>() {
    for waits in [false, true] {
        let board = burst::<S>(AT - 10, waits);
        board.wait(AT - 10 - 1_000);
        board.sees_in_receive(HIGH, Error::Timeout);
        board.wait(10);
        let mut left = BURST - SERVED;
        while left > 0 {
            assert_eq!((board.running(), armed(&board)), (Some(HIGH), left));
            board.wait(SHARE - 1);
            assert_eq!(armed(&board), left, "deadlines below take more than their share");
            board.wait(1);
            left -= SERVED;
        }
        assert_eq!((board.running(), armed(&board)), (Some(HIGH), 0));
    }
}

#[test]
fn deadlines_below_take_no_more_than_a_share() {
    the_highest_keeps_its_share::<DirectLazy<Host>>();
    the_highest_keeps_its_share::<Fastpath<Host>>();
    the_highest_keeps_its_share::<StrictEager<Host>>();
}

#[test]
fn deadlines_above_pass_by_those_below() {
    let board: Board<DirectLazy<Host>> = burst(AT + 1, true);
    board.wait(2_000 - 1_000);
    board.sees_in_receive(MIDDLE, Error::Timeout);
    board.host.advance(AT + 1 - 2_000);
    board.take(Event::Timer);
    board.sees_in_receive(HIGH, Error::Timeout);
    assert_eq!(armed(&board), BURST - SERVED);
    // A deadline within the share interrupts at its instant.
    board.succeeds(HIGH, system(Call::TimerSet, &[TIMER, AT + 50]));
    assert_eq!(board.host.armed(), Some(AT + 50));
    board.does(HIGH, receive(NOTIFICATION));
    board.host.advance(50);
    board.take(Event::Timer);
    board.sees(HIGH, Ok(()));
}

#[test]
fn nothing_is_put_off_while_nothing_higher_runs() {
    let board: Board<DirectLazy<Host>> = burst(2 * AT, true);
    board.wait(2_000 - 1_000);
    board.does(MIDDLE, sleep(2 * AT));
    assert_eq!(board.running(), None);
    board.wait(AT - 2_000);
    board.sees(LOW, Ok(()));
}

#[test]
fn the_share_grows_with_what_an_interrupt_took() {
    let board: Board<DirectLazy<Host>> = burst(AT - 10, false);
    board.wait(AT - 10 - 1_000);
    board.host.advance(10);
    board.host.poll_takes.set(1_000);
    board.take(Event::Timer);
    let now = board.host.now();
    let took = now - AT;
    assert!(took > SERVED * 1_000, "polls between deadlines, and while searching");
    assert_eq!(board.host.armed(), Some(now + 8 * took));
}
