//! Operations that end by themselves.

use super::bench::*;
use rt::abi::call::Timeout;
use rt::{Env, Error, Info, Message, Rights, Slot, Wait};
use rt::{cap, ipc, signal, system, thread};

pub const CHECKS: Checks = &[
    ("a receive ends at its deadline", receive_ends),
    ("a send ends at its deadline", send_ends),
    ("a call that is not received ends", call_not_received),
    ("a timed-out call kills its reply right", call_not_answered),
    ("a timed-out call kills a saved reply right", saved_right_dies),
    ("a call that may not wait for its answer", zero_answer),
    ("the halves end separately", halves),
    ("deadlines in the past", past),
    ("deadlines at the end of time", end_of_time),
    ("sleepers wake in the order of their deadlines", in_order),
    ("a message beats its deadline", message_first),
    ("deadlines of lower threads while a higher one runs", urgency),
    ("a deadline is as urgent as its thread is now", becomes_urgent),
    ("a server waits for calls until a deadline", waits_until),
];

/// How late a deadline may be noticed when nothing else runs.
const LATE: u64 = MS;

fn on_time(deadline: u64) -> Check {
    let now = system::clock();
    expect(now >= deadline, "not before the deadline")?;
    expect(now - deadline < LATE, "soon after the deadline")
}

fn receive_ends(bench: &Bench) -> Check {
    for source in [bench.endpoint()?, bench.notification()?] {
        for wait in [1, 20_000, 3 * MS] {
            let deadline = system::clock() + wait;
            let outcome =
                ipc::exchange(Slot::NONE, source, Message::empty(0), Wait::until(deadline));
            on_time(deadline)?;
            refused(outcome.received(), Error::Timeout, "nothing came")?;
            expect(outcome.status.in_receive(), "the receive half failed")?;
        }
    }
    Ok(())
}

fn send_ends(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let deadline = system::clock() + 2 * MS;
    let outcome = ipc::exchange(e, Slot::NONE, Message::empty(0), Wait::until(deadline));
    on_time(deadline)?;
    refused(outcome.received(), Error::Timeout, "no thread received")?;
    expect(!outcome.status.in_receive(), "the send half failed")?;
    let result = ipc::receive(e, Wait::ZERO);
    refused(result, Error::Timeout, "the message is not there any more")
}

fn call_not_received(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let deadline = system::clock() + 2 * MS;
    let outcome = ipc::exchange(e, Slot::REPLY, Message::empty(0), Wait::until(deadline));
    on_time(deadline)?;
    refused(outcome.received(), Error::Timeout, "no thread received")?;
    expect(!outcome.status.in_receive(), "the send half failed")
}

/// Helper: receives on `a`, answers 4 ms later, reports how that went.
fn answer_late(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    if ipc::receive(me.a, Wait::NEVER).is_ok() {
        system::sleep(4 * MS);
        me.report(ipc::exchange(Slot::REPLY, Slot::NONE, Message::empty(0), Wait::ZERO));
    }
}

fn call_not_answered(bench: &Bench) -> Check {
    for priority in [LOW, HIGH] {
        let e = bench.endpoint()?;
        let helper = bench.helper(priority, answer_late, e, Slot::NONE)?;
        bench.settle();
        let deadline = system::clock() + 2 * MS;
        let outcome = ipc::exchange(e, Slot::REPLY, Message::empty(0), Wait::until(deadline));
        on_time(deadline)?;
        refused(outcome.received(), Error::Timeout, "no answer")?;
        expect(outcome.status.in_receive(), "the receive half failed")?;
        system::sleep(6 * MS);
        bench.failed(helper, Error::NoReply, "the late answer goes nowhere")?;
    }
    Ok(())
}

/// Helper: receives on `a`, saves the reply right in `b`, answers 4 ms later.
fn save_and_answer_late(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let received = ipc::receive(me.a, Wait::NEVER);
    if received.and_then(|_| cap::save_reply(me.b)).is_ok() {
        system::sleep(4 * MS);
        me.report(ipc::exchange(me.b, Slot::NONE, Message::empty(0), Wait::ZERO));
    }
}

fn saved_right_dies(bench: &Bench) -> Check {
    let (e, saved) = (bench.endpoint()?, bench.slot());
    let helper = bench.helper(HIGH, save_and_answer_late, e, saved)?;
    let wait = Wait::until(system::clock() + 2 * MS);
    refused(ipc::call_within(e, Message::empty(0), wait), Error::Timeout, "no answer")?;
    // A later call of the same thread must not be answered by the right to the earlier one.
    let other = bench.endpoint()?;
    let wait = Wait::until(system::clock() + 4 * MS);
    bench.helper(HIGH, hold, other, Slot::NONE)?;
    let second = ipc::call_within(other, Message::empty(0), wait);
    refused(second, Error::Timeout, "the other call is not answered either")?;
    bench.failed(helper, Error::NoReply, "the late answer goes nowhere")
}

fn zero_answer(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, answer_late, e, Slot::NONE)?;
    let outcome = ipc::exchange(e, Slot::REPLY, Message::empty(0), Wait::ZERO);
    refused(outcome.received(), Error::Timeout, "the answer is not there at once")?;
    system::sleep(6 * MS);
    bench.failed(helper, Error::NoReply, "it comes too late")
}

fn halves(bench: &Bench) -> Check {
    let (to, from) = (bench.endpoint()?, bench.endpoint()?);
    let helper = bench.helper(HIGH, receive_once, to, Slot::NONE)?;
    let deadline = system::clock() + 2 * MS;
    let outcome = ipc::exchange(to, from, Message::short(0, [5]), Wait::until(deadline));
    on_time(deadline)?;
    refused(outcome.received(), Error::Timeout, "nothing came back")?;
    expect(outcome.status.in_receive(), "the receive half failed")?;
    expect(bench.succeeded(helper, "the send half was done")?.words[0] == 5, "with its word")
}

fn past(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    for deadline in [0, 1, system::clock()] {
        let result = ipc::receive(e, Wait::until(deadline));
        refused(result, Error::Timeout, "a receive until the past")?;
        let result = ipc::send(e, Message::empty(0), Wait::until(deadline));
        refused(result, Error::Timeout, "a send until the past")?;
        system::sleep_until(deadline);
    }
    Ok(())
}

/// Helper: receives on `a` until the end of time.
fn receive_for_ages(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    me.report(ipc::exchange(Slot::NONE, me.a, Message::empty(0), Wait::until(u64::MAX)));
}

fn end_of_time(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, receive_for_ages, e, Slot::NONE)?;
    bench.settle();
    expect(bench.report(helper).is_none(), "the deadline does not wrap around")?;
    ipc::send(e, Message::empty(0), Wait::ZERO)?;
    bench.succeeded(helper, "the message arrives").map(drop)
}

/// Helper: sleeps until the instant in its word 8, then notes its turn.
fn sleeper(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let start = env.mem("shared").get(1);
    system::sleep_until(start + [5, 1, 4, 2][me.n % 4] * MS / 2);
    let turn = me.common.add(0, 1);
    me.common.set(8 + turn as usize, me.n as u64);
}

fn in_order(bench: &Bench) -> Check {
    bench.common().set(1, system::clock() + 2 * MS);
    for _ in 0..4 {
        bench.helper(HIGH, sleeper, Slot::NONE, Slot::NONE)?;
    }
    system::sleep(6 * MS);
    // Helpers 1 to 4 sleep 1, 4, 2 and 5 units.
    let turns = [8, 9, 10, 11].map(|i| bench.common().get(i));
    expect(turns == [1, 3, 2, 4], "the earliest deadline first")
}

fn message_first(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(LOW, send_once, e, Slot::NONE)?;
    ipc::receive(e, Wait::until(system::clock() + 10 * MS))?;
    bench.settle();
    bench.succeeded(helper, "the sender goes on")?;
    // The deadline that was not reached must not end a later operation.
    let deadline = system::clock() + 15 * MS;
    let result = ipc::receive(e, Wait::until(deadline));
    on_time(deadline)?;
    refused(result, Error::Timeout, "the later deadline")
}

/// Timers that a lower thread arms.
const TIMERS: usize = 4;

/// Helper: makes timers in the slots in its words from 10 on signal the notifications in those from
/// 10 + [`TIMERS`] on, at the instant in the common word 1.
fn arm(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let slot = |at: usize| Slot(me.own.get(10 + at) as u32);
    let made = (0..TIMERS).try_for_each(|n| signal::create_timer(slot(n), slot(TIMERS + n)));
    let at = me.common.get(1);
    let armed = made.and_then(|()| (0..TIMERS).try_for_each(|n| signal::set_timer(slot(n), at)));
    if armed.is_ok() {
        me.own.set(9, 1);
    }
}

/// Helper: sleeps until the instant in the common word 1.
pub fn sleep_a_little(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    me.own.set(9, 1);
    system::sleep_until(me.common.get(1));
    me.own.set(9, 2);
}

/// Keeps the CPU until an instant, or until `done`, and reads the clock only now and then: each
/// look is an entry in a trace.
fn spin(end: u64, done: impl Fn() -> bool) {
    while !done() && system::clock() < end {
        system::long_work(5_000);
    }
}

/// Keeps the CPU until well after the instant in the common word 1.
fn spin_past(bench: &Bench) {
    spin(bench.common().get(1) + 4 * MS, || false);
}

/// Waits until a helper has done this much.
pub fn reached(bench: &Bench, helper: Helper, step: u64) -> Check {
    let words = bench.words(helper);
    while words.get(9) != step {
        system::sleep(MS / 10);
    }
    Ok(())
}

fn urgency(bench: &Bench) -> Check {
    bench.common().set(1, system::clock() + 20 * MS);
    let helper = bench.helper(LOW, arm, Slot::NONE, Slot::NONE)?;
    let (words, mut bells) = (bench.words(helper), [Slot::NONE; TIMERS]);
    for (bell, n) in bells.iter_mut().zip(10..) {
        *bell = bench.notification()?;
        words.set(n, bench.slot().word());
        words.set(n + TIMERS, bell.word());
    }
    reached(bench, helper, 1)?;
    spin_past(bench);
    for bell in bells {
        let early = ipc::receive(bell, Wait::ZERO);
        refused(early, Error::Timeout, "a lower thread's timer waits")?;
    }
    for bell in bells {
        ipc::receive(bell, Wait::until(system::clock() + 10 * MS))?;
    }
    Ok(())
}

fn becomes_urgent(bench: &Bench) -> Check {
    bench.common().set(1, system::clock() + 20 * MS);
    let helper = bench.helper(LOW, sleep_a_little, Slot::NONE, Slot::NONE)?;
    reached(bench, helper, 1)?;
    spin_past(bench);
    let words = bench.words(helper);
    expect(words.get(9) == 1, "it still sleeps")?;
    thread::set_priority(helper.slot, HIGH)?;
    // It takes over as soon as the timer interrupts, whenever what runs this machine lets it.
    spin(system::clock() + 10 * MS, || words.get(9) != 1);
    expect(words.get(9) == 2, "it wakes when it is raised")
}

/// Helper: answers on `a` with the badge, and the words that it was sent, but waits for the next
/// call until a deadline only.
fn answer_until(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let wait = Wait { receive: Timeout::At, deadline: u64::MAX, ..Wait::NEVER };
    let mut next = ipc::exchange(Slot::NONE, me.a, Message::empty(0), wait);
    while let Ok(got) = next.received() {
        let [first, second, third, _] = got.words;
        let answer = Message::short(got.info.label() + 1, [got.badge, first, second, third]);
        next = ipc::exchange(Slot::REPLY, me.a, answer, wait);
    }
}

fn waits_until(bench: &Bench) -> Check {
    for priority in [LOW, MAIN, HIGH] {
        let (e, badged) = (bench.endpoint()?, bench.slot());
        cap::mint(e, badged, Rights::SEND, 42)?;
        bench.helper(priority, answer_until, e, Slot::NONE)?;
        bench.settle();
        for i in 0..10 {
            let answer = ipc::call(badged, Message::short(5, [i, i + 1, i + 2, i + 3]))?;
            expect(answer.words == [42, i, i + 1, i + 2], "badge and words arrive")?;
            expect(answer.info == Info::new(6, 4), "and so does the answer")?;
        }
    }
    Ok(())
}
