//! Timeouts, at the instant of delivery above all.

use crate::support::archive::{SLICE, TICK};
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::host::{Event, Host};
use crate::support::scene::{
    ENDPOINT, FREE, NOTIFICATION, THREAD, TIMER, boot, call, receive, reply_wait, send,
    send_receive, system, timed,
};
use abi::call::{Call, NOTHING, REPLY, Timeout, ipc, partners};
use abi::{Error, Info};
use kernel::object::thread::flag;
use kernel::port::Port;
use kernel::system::{DirectLazy, Fastpath, StrictEager, System};

const MESSAGE: Info = Info::new(7, 2);
const AT: u64 = TICK / 2;
const NO_PARTNER: u64 = NOTHING as u64;
const CALLER: u64 = REPLY as u64;

fn at(send: u64, receive: u64, until: u64) -> Regs {
    timed(send, receive, MESSAGE, Timeout::At, until)
}

/// Thread 2 waits until [`AT`] for a message; thread 1 runs.
fn waiting() -> Board<DirectLazy<Host>> {
    let board = boot(&[(1, 10), (1, 20)]);
    board.does(2, at(NO_PARTNER, ENDPOINT, AT));
    board
}

#[test]
fn a_message_at_the_deadline_counts_if_it_comes_before_the_interrupt() {
    let board = waiting();
    board.host.advance(AT);
    board.call(send(ENDPOINT, MESSAGE));
    board.sees(2, Ok(()));
    assert_eq!(board.regs.get().info(), MESSAGE);
    // The interrupt that was on its way finds nothing to do.
    board.settle();
    board.check();
    board.sees(2, Ok(()));
    assert_eq!(board.regs.get().info(), MESSAGE);
}

#[test]
fn a_message_after_the_interrupt_finds_no_receiver() {
    let board = waiting();
    board.wait(AT);
    board.sees_in_receive(2, Error::Timeout);
    board.does(2, system(Call::ThreadSuspend, &[THREAD + 2]));
    let now = board.host.now();
    board.fails(1, timed(ENDPOINT, NO_PARTNER, MESSAGE, Timeout::Zero, 0), Error::Timeout);
    board.fails(1, at(ENDPOINT, NO_PARTNER, now), Error::Timeout);
}

#[test]
fn just_before_the_deadline_nothing_happens() {
    let board = waiting();
    board.wait(AT - 1);
    assert_eq!(board.running(), Some(1));
    board.wait(1);
    board.sees_in_receive(2, Error::Timeout);
}

#[test]
fn a_deadline_in_the_past_takes_what_is_there() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (1, 20)]);
    board.wait(TICK);
    board.does(2, receive(ENDPOINT));
    board.does(1, at(ENDPOINT, NO_PARTNER, 1));
    board.sees(2, Ok(()));
    board.does(2, system(Call::Signal, &[NOTIFICATION]));
    board.succeeds(2, at(NO_PARTNER, NOTIFICATION, 1));
    assert_eq!(board.regs.get().badge(), 1);
    board.does(2, at(NO_PARTNER, NOTIFICATION, 1));
    board.sees_in_receive(2, Error::Timeout);
}

#[test]
fn an_interrupt_goes_before_a_call_and_behind_the_servers_timeout() {
    let board = waiting();
    board.host.interrupt_after(1);
    board.call(at(ENDPOINT, CALLER, AT));
    // Both issue their operation again.
    board.check();
    assert!(!board.thread(2).has(flag::DEADLINE) && board.thread(2).caller.get().is_none());
    board.settle();
    board.check();
    board.sees(2, Ok(()));
    assert_eq!(board.regs.get().info(), MESSAGE);
    board.wait(AT);
    board.does(2, receive(ENDPOINT));
    board.sees_in_receive(1, Error::Timeout);
}

#[test]
fn a_call_that_may_not_wait_to_be_sent_finds_a_server_whose_timeout_an_interrupt_has_ended() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 30), (1, 20)]);
    board.does(1, at(NO_PARTNER, NO_PARTNER, 1));
    board.does(2, at(NO_PARTNER, ENDPOINT, 2 * AT));
    board.wait(1);
    board.sees_in_receive(1, Error::Timeout);
    let pair = partners(ENDPOINT as u32, CALLER as u32);
    let number = ipc(Timeout::Zero, Timeout::At);
    board.host.interrupt_after(1);
    board.call(Regs::call(number, &[pair, MESSAGE.0, AT]));
    assert!(!board.thread(2).has(flag::DEADLINE));
    board.settle();
    board.check();
    board.sees(2, Ok(()));
    assert_eq!(board.regs.get().info(), MESSAGE);
    board.wait(AT);
    board.sees_in_receive(1, Error::Timeout);
}

#[test]
fn an_interrupt_goes_before_a_signal_by_a_timer_and_behind_the_receivers_timeout() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (1, 10)]);
    board.succeeds(1, system(Call::TimerSet, &[TIMER, AT]));
    board.does(1, at(NO_PARTNER, NOTIFICATION, 2 * AT));
    board.host.advance(AT);
    board.host.interrupt_after(0);
    board.take(Event::Timer);
    board.check();
    assert!(!board.thread(1).has(flag::DEADLINE));
    assert_eq!(board.machine.cpu.deadlines.first(), AT, "the timer is still due");
    board.settle();
    board.check();
    board.does(2, receive(NOTIFICATION + 1));
    board.sees(1, Ok(()));
    assert!(board.regs.get().info().is_notification());
}

/// Thread 1 calls thread 2 until [`AT`]; thread 2 runs and holds the reply right. They are
/// equals then, so that the deadline is not deferred.
fn called<S: System<Port = Host>>() -> Board<S> {
    let board = boot(&[(1, 10), (1, 20)]);
    board.does(2, receive(ENDPOINT));
    board.does(1, at(ENDPOINT, CALLER, AT));
    board.succeeds(2, system(Call::ThreadPriority, &[THREAD + 1, 20]));
    board
}

fn reply_right_dies<S: System<Port = Host>>() {
    let board = called::<S>();
    board.wait(AT);
    board.sees(2, Ok(()));
    board.fails(2, send(CALLER, MESSAGE), Error::NoReply);
    board.fails(2, system(Call::CapSaveReply, &[FREE]), Error::NoReply);
    // The late answer is dropped, and the server receives the next call.
    board.does(2, reply_wait(ENDPOINT, MESSAGE));
    board.sees_in_receive(1, Error::Timeout);
    board.does(1, call(ENDPOINT, Info::new(8, 2)));
    board.sees(2, Ok(()));
    assert_eq!(board.regs.get().info(), Info::new(8, 2));
    board.does(2, reply_wait(ENDPOINT, MESSAGE));
    board.sees(1, Ok(()));
}

#[test]
fn a_call_that_times_out_kills_its_reply_right() {
    reply_right_dies::<DirectLazy<Host>>();
    reply_right_dies::<Fastpath<Host>>();
}

#[test]
fn a_reply_at_the_deadline_counts_if_it_comes_before_the_interrupt() {
    let board = called::<Fastpath<Host>>();
    board.host.advance(AT);
    board.call(reply_wait(ENDPOINT, MESSAGE));
    board.sees(1, Ok(()));
    board.settle();
    board.check();
    board.sees(1, Ok(()));
    assert_eq!(board.regs.get().info(), MESSAGE);
}

#[test]
fn a_saved_reply_right_dies_with_the_call() {
    let board = called::<DirectLazy<Host>>();
    board.succeeds(2, system(Call::CapSaveReply, &[FREE]));
    board.wait(AT);
    board.fails(2, send(FREE, MESSAGE), Error::NoReply);
    board.does(2, receive(NOTIFICATION));
    board.sees_in_receive(1, Error::Timeout);
    // The next call of the same thread is another one.
    board.does(1, call(ENDPOINT, MESSAGE));
    board.wait(10 * TICK);
    assert_eq!(board.running(), None);
}

#[test]
fn an_answer_by_a_dead_saved_right_is_dropped_before_a_receive() {
    let board = called::<DirectLazy<Host>>();
    board.succeeds(2, system(Call::CapSaveReply, &[FREE]));
    board.wait(AT);
    board.does(2, send_receive(FREE, ENDPOINT, MESSAGE));
    board.sees_in_receive(1, Error::Timeout);
    board.does(1, call(ENDPOINT, MESSAGE));
    board.sees(2, Ok(()));
    // The slot is free again.
    board.succeeds(2, system(Call::CapSaveReply, &[FREE]));
}

#[test]
fn a_saved_reply_right_answers_no_later_call() {
    let board = called::<DirectLazy<Host>>();
    board.succeeds(2, system(Call::CapSaveReply, &[FREE]));
    board.wait(AT);
    board.does(2, receive(ENDPOINT));
    board.sees_in_receive(1, Error::Timeout);
    board.does(1, call(ENDPOINT, MESSAGE));
    board.succeeds(2, system(Call::CapSaveReply, &[FREE + 1]));
    // Thread 1 waits again and its right is in a slot, but not in this one.
    board.fails(2, send(FREE, MESSAGE), Error::NoReply);
    board.succeeds(2, system(Call::CapDelete, &[FREE]));
    board.succeeds(2, send(FREE + 1, MESSAGE));
    board.does(2, receive(NOTIFICATION));
    board.sees(1, Ok(()));
    assert_eq!(board.regs.get().info(), MESSAGE);
}

#[test]
fn a_call_that_must_not_wait_sends_and_fails_in_its_receive_half() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (1, 20)]);
    board.does(2, receive(ENDPOINT));
    board.does(1, timed(ENDPOINT, CALLER, MESSAGE, Timeout::Zero, 0));
    board.sees(2, Ok(()));
    board.fails(2, send(CALLER, MESSAGE), Error::NoReply);
    board.does(2, receive(ENDPOINT));
    board.sees_in_receive(1, Error::Timeout);
}

/// Threads 3 and 4, equals above two others, wake at each tick: 3 by a signal, 4 by a timeout.
fn wakes_at_ticks<S: System<Port = Host>>() {
    let board: Board<S> = boot(&[(1, 10), (1, 10), (1, 20), (1, 20)]);
    for tick in 1..=2 * SLICE {
        board.succeeds(3, system(Call::TimerSet, &[TIMER, tick * TICK]));
        board.does(3, receive(NOTIFICATION));
        // It has run in no tick, so that its time slice never ends.
        if tick > 1 {
            board.sees_in_receive(4, Error::Timeout);
        }
        board.does(4, at(NO_PARTNER, NO_PARTNER, tick * TICK));
        assert!(board.running().is_some_and(|low| low < 3));
        board.wait(TICK);
        board.sees(3, Ok(()));
    }
}

#[test]
fn who_wakes_at_a_tick_does_not_pay_it() {
    wakes_at_ticks::<DirectLazy<Host>>();
    wakes_at_ticks::<Fastpath<Host>>();
    wakes_at_ticks::<StrictEager<Host>>();
}

#[test]
fn many_deadlines_at_one_instant_all_pass() {
    let threads: Vec<(u32, u8)> = (0..30).map(|at| (1, 50 + at)).collect();
    let board: Board<DirectLazy<Host>> = boot(&threads);
    for thread in (1..=30).rev() {
        board.does(thread, at(NO_PARTNER, NO_PARTNER, AT));
    }
    assert_eq!(board.running(), None);
    board.wait(AT);
    for thread in (1..=30).rev() {
        board.sees_in_receive(thread, Error::Timeout);
        board.does(thread, receive(NOTIFICATION));
    }
}

#[test]
fn a_timer_that_is_set_again_keeps_its_instant_until_then() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10)]);
    let first = || board.machine.cpu.deadlines.first();
    board.succeeds(1, system(Call::TimerSet, &[TIMER, AT]));
    board.host.raise(Event::Spurious);
    board.call(system(Call::TimerSet, &[TIMER, 2 * AT]));
    assert!(board.regs.get().again, "the call makes no room for an interrupt");
    assert_eq!(first(), AT, "a timer that was set is not any more");
    board.settle();
    assert_eq!(first(), 2 * AT);
}

#[test]
fn a_call_that_may_time_out_gives_up_a_forgotten_one_and_makes_room() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (1, 20), (1, 5)]);
    board.does(2, at(NO_PARTNER, ENDPOINT, AT));
    board.does(1, at(ENDPOINT, CALLER, AT));
    // The server takes no notice of thread 1, and waits for the next call.
    board.does(2, at(NO_PARTNER, ENDPOINT, AT));
    assert_eq!(board.running(), Some(3));
    board.host.raise(Event::Spurious);
    board.call(at(ENDPOINT, CALLER, AT));
    assert!(board.thread(3).context.regs.get().again, "the call makes no room for an interrupt");
    assert!(board.thread(2).deadline.queued(), "the server's deadline is gone before the call");
    board.settle();
    board.check();
    board.sees_in_receive(1, Error::Abandoned);
    board.does(1, receive(NOTIFICATION));
    board.settle();
    board.sees(2, Ok(()));
    board.does(2, reply_wait(ENDPOINT, MESSAGE));
    board.sees(3, Ok(()));
}

#[test]
fn a_receive_with_a_timeout_makes_room_before_it_waits() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10)]);
    board.host.raise(Event::Spurious);
    board.call(at(NO_PARTNER, ENDPOINT, AT));
    assert!(board.regs.get().again, "the receive makes no room for an interrupt");
    board.settle();
    assert_eq!((board.running(), board.thread(1).deadline.queued()), (None, true));
}
