//! Deadlines of low threads under a high one: they wait until they could run at all.

use crate::support::archive::TICK;
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::effort::INTERPRETED;
use crate::support::host::{Event, Host};
use crate::support::scene::{
    DOMAIN, ENDPOINT, FREE, NOTIFICATION, THREAD, boot, boot_with, call, plenty, receive, send,
    send_receive, system, timed,
};
use abi::Info;
use abi::call::{Call, NOTHING, Timeout};
use abi::object::Resource;
use kernel::object::thread::State;
use kernel::port::Port;
use kernel::system::{
    DirectEager, DirectLazy, Fastpath, Slowpath, StrictEager, StrictLazy, System, Tree,
};

const MESSAGE: Info = Info::new(0, 0);
/// When the burst is due: in the middle of a tick.
const AT: u64 = 2 * TICK + TICK / 2;
/// Timers in the burst.
const TIMERS: u64 = if INTERPRETED { 30 } else { 1000 };
/// The threads, of priority 10, 100, 5 and 20.
const LOW: u32 = 1;
const HIGH: u32 = 2;
const LOWEST: u32 = 3;
const MEDIUM: u32 = 4;

macro_rules! under_priorities {
    ($situation:ident) => {
        $situation::<Fastpath<Host>>();
        $situation::<Slowpath<Host>>();
        $situation::<DirectLazy<Host>>();
        $situation::<DirectEager<Host>>();
        $situation::<StrictLazy<Host>>();
        $situation::<StrictEager<Host>>();
    };
}

macro_rules! under_each_kernel {
    ($situation:ident) => {
        under_priorities!($situation);
        $situation::<Tree<Host>>();
    };
}

fn sleep(until: u64) -> Regs {
    timed(NOTHING.into(), NOTHING.into(), MESSAGE, Timeout::At, until)
}

/// Makes a call that comes back, without a check of everything.
fn quickly<S: System<Port = Host>>(board: &Board<S>, regs: Regs) {
    board.call(regs);
    board.settle();
    assert_eq!(board.regs.get().status().result(), Ok(()));
}

/// Thread [`LOW`] runs and has armed all timers; thread [`HIGH`] has done this first, the others
/// these: they wait.
fn armed<S: System<Port = Host>>(high: Regs, medium: Regs) -> Board<S> {
    let mut quotas = plenty();
    quotas[Resource::Timers as usize] = TIMERS;
    let board = boot_with(&[(1, 10), (2, 100), (1, 5), (1, 20)], &quotas);
    board.does(HIGH, high);
    board.does(MEDIUM, medium);
    for _ in 0..TIMERS {
        quickly(&board, system(Call::TimerCreate, &[FREE, NOTIFICATION]));
        quickly(&board, system(Call::TimerSet, &[FREE, AT]));
        quickly(&board, system(Call::CapDelete, &[FREE]));
    }
    board.check();
    board
}

/// Thread [`LOW`] waits for the burst, which is due, and [`HIGH`] runs.
fn under_high<S: System<Port = Host>>() -> Board<S> {
    let board = armed::<S>(receive(ENDPOINT), receive(ENDPOINT + 2));
    board.does(LOW, send_receive(ENDPOINT, NOTIFICATION, MESSAGE));
    board.sees(HIGH, Ok(()));
    board.wait(AT);
    assert_eq!(board.running(), Some(HIGH));
    assert!(!is_served(&board), "timers of a low thread have fired");
    board
}

/// Whether the burst has woken thread [`LOW`].
fn is_served<S: System<Port = Host>>(board: &Board<S>) -> bool {
    board.thread(LOW).state.get() == State::Ready
}

fn burst<S: System<Port = Host>>() {
    let board = armed::<S>(receive(ENDPOINT), receive(ENDPOINT + 2));
    board.does(LOW, send_receive(ENDPOINT, NOTIFICATION, MESSAGE));
    board.host.advance(AT);
    let first = board.settle();
    assert!(first <= 1, "{first} interrupts for a burst that concerns lower threads");
    board.host.advance(TICK / 2);
    let mut interrupts = board.settle();
    for _ in 0..20 {
        board.host.advance(TICK);
        interrupts += board.settle();
    }
    assert!(interrupts <= 22, "{interrupts} interrupts in 20 ticks");
    assert!(!is_served(&board), "timers of a low thread have fired");
    board.sees(HIGH, Ok(()));
    board.check();
}

#[test]
fn a_burst_below_the_running_thread_costs_an_interrupt_a_tick() {
    under_each_kernel!(burst);
}

fn own<S: System<Port = Host>>() {
    for late in [0, 1] {
        // While the thread that armed the timers runs, and while the CPU idles.
        for idle in [false, true] {
            let board = armed::<S>(sleep(AT + late), receive(ENDPOINT + 2));
            if idle {
                board.does(LOW, receive(NOTIFICATION));
                board.does(LOWEST, receive(ENDPOINT + 2));
            }
            board.host.advance(AT + late);
            board.take(Event::Timer);
            assert_eq!(board.running(), Some(HIGH), "a deadline waits for those of a low thread");
            assert!(board.settle() <= 1, "low deadlines interrupt a high thread");
            board.check();
            assert_eq!(board.running(), Some(HIGH));
        }
    }
}

#[test]
fn a_high_deadline_in_a_burst_of_low_ones_is_served_at_once() {
    under_each_kernel!(own);
}

fn served_after<S: System<Port = Host>>(what: Regs) {
    let board = under_high::<S>();
    board.does(HIGH, what);
    board.sees(LOW, Ok(()));
    assert!(board.machine.cpu.deadlines.first() > board.host.now(), "a deadline is lost");
}

fn decisions<S: System<Port = Host>>() {
    served_after::<S>(receive(ENDPOINT));
    served_after::<S>(sleep(AT + 5 * TICK));
    served_after::<S>(system(Call::ThreadPriority, &[THREAD + u64::from(HIGH), 9]));
    served_after::<S>(system(Call::ThreadSuspend, &[THREAD + u64::from(HIGH)]));
    served_after::<S>(system(Call::Destroy, &[THREAD + u64::from(HIGH)]));
}

#[test]
fn what_was_deferred_is_served_when_the_high_thread_makes_room() {
    under_each_kernel!(decisions);
}

fn by_another<S: System<Port = Host>>() {
    // The deadline is above the burst, and the domain of the thread that runs is destroyed.
    let board = armed::<S>(receive(ENDPOINT), sleep(AT));
    board.does(LOW, send_receive(ENDPOINT, NOTIFICATION, MESSAGE));
    board.wait(AT);
    assert_eq!(board.running(), Some(HIGH));
    board.does(HIGH, system(Call::ThreadPriority, &[THREAD + u64::from(MEDIUM), 120]));
    assert_eq!(board.running(), Some(MEDIUM), "a deadline that became urgent is deferred");
    assert!(!is_served(&board), "timers of a low thread have fired");
    board.does(MEDIUM, system(Call::Destroy, &[DOMAIN + 1]));
    assert_eq!(board.running(), Some(MEDIUM));
    assert!(!is_served(&board), "timers of a low thread have fired");
    board.does(MEDIUM, receive(ENDPOINT + 2));
    board.sees(LOW, Ok(()));
}

#[test]
fn a_priority_that_changes_takes_the_deadline_along() {
    under_each_kernel!(by_another);
}

fn donated<S: System<Port = Host>>(strict: bool) {
    let board = armed::<S>(receive(ENDPOINT), receive(ENDPOINT + 2));
    // The lowest thread waits for a call before the burst.
    let own = THREAD + u64::from(LOWEST);
    board.does(LOW, system(Call::ThreadPriority, &[own, 15]));
    board.does(LOWEST, receive(ENDPOINT + 1));
    board.succeeds(LOW, system(Call::ThreadPriority, &[own, 5]));
    board.does(LOW, send_receive(ENDPOINT, NOTIFICATION, MESSAGE));
    board.wait(AT);
    board.does(HIGH, call(ENDPOINT + 1, MESSAGE));
    if strict {
        board.sees(LOW, Ok(()));
        return;
    }
    assert_eq!(board.running(), Some(LOWEST), "a direct switch goes past what is deferred");
    board.wait(TICK / 2);
    board.sees(LOW, Ok(()));
}

#[test]
fn a_donation_past_what_is_deferred_ends_with_the_tick() {
    donated::<Fastpath<Host>>(false);
    donated::<Slowpath<Host>>(false);
    donated::<DirectLazy<Host>>(false);
    donated::<DirectEager<Host>>(false);
    donated::<StrictLazy<Host>>(true);
    donated::<StrictEager<Host>>(true);
}

fn ticks<S: System<Port = Host>>() {
    // Equals share the time above the burst: it waits although there are ticks.
    let board = under_high::<S>();
    board.does(HIGH, system(Call::ThreadPriority, &[THREAD + u64::from(MEDIUM), 100]));
    board.does(HIGH, send(ENDPOINT + 2, MESSAGE));
    for _ in 0..20 {
        board.wait(TICK);
        assert!(!is_served(&board), "timers of a low thread have fired");
    }
    // One of the equals is lowered by the other: a tick does the rest.
    let me = board.running().expect("one of the equals");
    let other = HIGH + MEDIUM - me;
    let slot = |thread: u32| THREAD + u64::from(thread);
    board.succeeds(me, system(Call::ThreadPriority, &[slot(other), 6]));
    board.does(me, system(Call::ThreadPriority, &[slot(me), 6]));
    board.sees(LOW, Ok(()));
    assert!(board.host.now() < board.host.armed().unwrap_or(u64::MAX));
}

#[test]
fn ticks_above_a_burst_serve_nothing_of_it() {
    under_each_kernel!(ticks);
}

fn undecided<S: System<Port = Host>>() {
    // The burst is due when the thread that armed it makes the high one ready by a call.
    let board =
        armed::<S>(system(Call::ThreadSuspend, &[THREAD + u64::from(HIGH)]), receive(ENDPOINT + 2));
    board.host.advance(AT - 1);
    board.settle();
    board.host.advance(1);
    let length = || {
        let mut length = 0;
        board.machine.cpu.deadlines.each(|_, _, _| length += 1);
        length
    };
    let before = length();
    board.call(system(Call::ThreadResume, &[THREAD + u64::from(HIGH)]));
    board.take(Event::Timer);
    assert_eq!(board.running(), Some(HIGH));
    assert_eq!(length(), before, "low deadlines are served before a high thread runs");
    board.settle();
    board.check();
}

#[test]
fn a_decision_that_is_left_to_the_timer_comes_before_low_deadlines() {
    under_each_kernel!(undecided);
}

/// A high thread has called a low one, and other CPUs ask for one decision after another: what is
/// due for a thread between the two does not wait for them. (Where a tree orders threads, the low
/// one runs on the high one's leaf.)
fn asked_again_and_again<S: System<Port = Host>>() {
    let board = boot::<S>(&[(1, 10), (1, 50), (1, 200)]);
    let (callee, between, caller) = (1, 2, 3);
    board.does(caller, sleep(AT));
    board.does(between, sleep(AT + TICK / 10));
    board.does(callee, receive(ENDPOINT));
    board.wait(AT);
    board.call(call(ENDPOINT, MESSAGE));
    assert_eq!(board.running(), Some(callee));
    board.host.advance(TICK / 5);
    for asks in 0.. {
        assert!(asks < 3, "a deadline waits for decisions that others ask for");
        board.machine.cpu.resched.set(true);
        board.take(Event::Timer);
        if board.running() == Some(between) {
            break;
        }
        board.host.advance(1000);
    }
    board.check();
}

#[test]
fn decisions_that_others_ask_for_defer_no_deadline() {
    under_priorities!(asked_again_and_again);
}
