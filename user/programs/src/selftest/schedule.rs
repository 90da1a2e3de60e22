//! Who runs next (S0-05, S0-08, S0-09, S0-29).
//!
//! Each thread notes its number when it gets to run; 0 is the suite's own thread. The kernels
//! that switch directly and those that observe priorities strictly differ, as S0-30 predicts; where
//! a tree orders threads, a callee runs on its caller's time, and else the order is strict.

use super::bench::*;
use rt::abi::call::Fact;
use rt::{Env, Message, Slot, Wait, Words};
use rt::{ipc, system, thread};

pub const CHECKS: Checks = &[
    ("after a send: the higher of both", after_send),
    ("after a call: the callee", after_call),
    ("after a receive: the higher of both", after_receive),
    ("after a send and a receive from a waiting sender", after_both),
    ("after a send and a receive that waits", after_send_and_wait),
    ("a donated tick ends", donation_ends),
    ("a higher thread wakes at once", wakes_at_once),
    ("equal threads share the time", round_robin),
    ("yielding to an equal thread", yield_equal),
    ("giving the tick to a named thread", yield_named),
    ("priorities take effect at once", priorities),
    ("a spinning thread does not delay a deadline in 30 us", |bench| under_load(bench, 30_000)),
    ("nor one in 300 us", |bench| under_load(bench, 300_000)),
    ("nor one in 3 ms", |bench| under_load(bench, 3 * MS)),
];

/// A priority between [`LOW`] and [`MAIN`].
const MEDIUM: u64 = 95;
/// A priority below [`LOW`].
const LOWEST: u64 = 80;

fn note(common: Words, number: usize) {
    let turn = common.add(0, 1) as usize;
    common.set(8 + turn % 32, number as u64);
}

/// Expects that threads have run in this order since the last look.
fn order(bench: &Bench, expected: &[usize], what: &'static str) -> Check {
    bench.settle();
    let common = bench.common();
    let noted = common.get(0) as usize;
    common.set(0, 0);
    let same = expected.iter().enumerate().all(|(i, n)| common.get(8 + i) == *n as u64);
    expect(noted == expected.len() && same, what)
}

/// Waits for the beginning of a tick, so that none ends in the middle of a check.
fn begin(_: &Bench) -> Check {
    let (tick, _) = system::fact(Fact::Tick)?;
    system::sleep_until((system::clock() / tick + 1) * tick + 1000);
    Ok(())
}

/// Helper: receives on `a`, again and again, and notes its turns.
fn receiver(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    while ipc::receive(me.a, Wait::NEVER).is_ok() {
        note(me.common, me.n);
    }
}

/// Helper: answers on `a`, and notes its turns.
fn server(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    ipc::serve(me.a, |_| {
        note(me.common, me.n);
        Message::empty(0)
    });
}

/// Helper: sends to `a` and notes its turn after that.
fn sender(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    if ipc::send(me.a, Message::empty(0), Wait::NEVER).is_ok() {
        note(me.common, me.n);
    }
}

/// Helper: notes its turn.
fn noter(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    note(me.common, me.n);
}

fn after_send(bench: &Bench) -> Check {
    for (priority, helper_first) in [(LOW, false), (MAIN, false), (HIGH, true)] {
        let (e, n) = (bench.endpoint()?, bench.next_helper());
        bench.helper(priority, receiver, e, Slot::NONE)?;
        bench.settle();
        begin(bench)?;
        ipc::send(e, Message::empty(0), Wait::NEVER)?;
        note(bench.common(), 0);
        let expected = if helper_first { [n, 0] } else { [0, n] };
        order(bench, &expected, "the higher one, the sender on a tie")?;
    }
    Ok(())
}

fn after_call(bench: &Bench) -> Check {
    for priority in [LOW, MAIN, HIGH] {
        let (e, callee) = (bench.endpoint()?, bench.next_helper());
        bench.helper(priority, server, e, Slot::NONE)?;
        bench.settle();
        begin(bench)?;
        // Ready, but below the caller.
        bench.helper(MEDIUM, noter, Slot::NONE, Slot::NONE)?;
        ipc::call(e, Message::empty(0))?;
        note(bench.common(), 0);
        let expected = if bench.is_strict()? && priority < MEDIUM {
            [callee + 1, callee, 0]
        } else {
            [callee, 0, callee + 1]
        };
        order(bench, &expected, "the callee, or with a strict order the highest")?;
    }
    Ok(())
}

fn after_receive(bench: &Bench) -> Check {
    for (priority, helper_first) in [(LOW, false), (MAIN, false), (HIGH, true)] {
        let (e, n) = (bench.endpoint()?, bench.next_helper());
        bench.helper(priority, sender, e, Slot::NONE)?;
        bench.settle();
        begin(bench)?;
        ipc::receive(e, Wait::NEVER)?;
        note(bench.common(), 0);
        let expected = if helper_first { [n, 0] } else { [0, n] };
        order(bench, &expected, "the higher one, the receiver on a tie")?;
    }
    Ok(())
}

fn after_both(bench: &Bench) -> Check {
    // The receiver's and the sender's priorities, and who runs: first the higher of these two,
    // although the suite's own thread is above both.
    for (receives, sends, receiver_first) in
        [(LOW, LOWEST, true), (LOW, MEDIUM, false), (LOW, LOW, true)]
    {
        let (to, from, b) = (bench.endpoint()?, bench.endpoint()?, bench.next_helper());
        bench.helper(receives, receiver, to, Slot::NONE)?;
        bench.helper(sends, sender, from, Slot::NONE)?;
        bench.settle();
        begin(bench)?;
        ipc::exchange(to, from, Message::empty(0), Wait::NEVER).received()?;
        note(bench.common(), 0);
        let (first, second) = if receiver_first { (b, b + 1) } else { (b + 1, b) };
        let strict = bench.is_strict()? || bench.has_tree()?;
        let expected = if strict { [0, first, second] } else { [first, 0, second] };
        order(bench, &expected, "the higher of the partners, the receiver on a tie")?;
    }
    Ok(())
}

/// Helper: receives on `a`, notes its turn, sends to `b`.
fn pass_on(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    if ipc::receive(me.a, Wait::NEVER).is_ok() {
        note(me.common, me.n);
        let _ = ipc::send(me.b, Message::empty(0), Wait::NEVER);
    }
}

fn after_send_and_wait(bench: &Bench) -> Check {
    let (to, from, b) = (bench.endpoint()?, bench.endpoint()?, bench.next_helper());
    bench.helper(LOW, pass_on, to, from)?;
    bench.settle();
    begin(bench)?;
    bench.helper(MEDIUM, noter, Slot::NONE, Slot::NONE)?;
    ipc::exchange(to, from, Message::empty(0), Wait::NEVER).received()?;
    note(bench.common(), 0);
    let strict = bench.is_strict()? || bench.has_tree()?;
    let expected = if strict { [b + 1, b, 0] } else { [b, 0, b + 1] };
    order(bench, &expected, "the receiver, or with a strict order the highest")
}

/// Helper: receives on `a` and counts for ever.
fn receive_and_count(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    if ipc::receive(me.a, Wait::NEVER).is_ok() {
        me.own.set(9, system::clock());
        count(env, argument);
    }
}

/// Helper: notes the time in word 9.
fn note_time(env: &Env, argument: u64) {
    Me::new(env, argument).own.set(9, system::clock());
}

fn donation_ends(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let (tick, _) = system::fact(Fact::Tick)?;
    let low = bench.helper(LOW, receive_and_count, e, Slot::NONE)?;
    bench.settle();
    begin(bench)?;
    let medium_helper = bench.helper(MEDIUM, note_time, Slot::NONE, Slot::NONE)?;
    let called = system::clock();
    let wait = Wait::until(called + 4 * tick);
    let _ = ipc::call_within(e, Message::empty(0), wait);
    let (low, medium) = (bench.words(low).get(9), bench.words(medium_helper).get(9));
    if bench.is_strict()? {
        return expect(medium >= called && medium < low, "a strict order donates nothing");
    }
    if bench.has_tree()? {
        expect(low >= called && medium == 0, "the callee runs as long as the call lasts")?;
        bench.settle();
        return expect(bench.words(medium_helper).get(9) > low, "and no longer");
    }
    expect(low >= called && medium > low, "the callee runs first")?;
    expect(medium - called <= 2 * tick, "until the next tick at most")
}

fn wakes_at_once(bench: &Bench) -> Check {
    let n = bench.next_helper();
    bench.helper(HIGH, noter, Slot::NONE, Slot::NONE)?;
    note(bench.common(), 0);
    bench.helper(LOW, noter, Slot::NONE, Slot::NONE)?;
    note(bench.common(), 0);
    order(bench, &[n, 0, 0, n + 1], "a resumed thread runs if it is higher")
}

fn round_robin(bench: &Bench) -> Check {
    let (_, slice) = system::fact(Fact::Tick)?;
    let helpers = [
        bench.helper(LOW, count, Slot::NONE, Slot::NONE)?,
        bench.helper(LOW, count, Slot::NONE, Slot::NONE)?,
        bench.helper(LOW, count, Slot::NONE, Slot::NONE)?,
    ];
    system::sleep(15 * slice);
    let counts = helpers.map(|helper| bench.words(helper).get(8));
    let (least, most) = (counts.iter().min(), counts.iter().max());
    let (least, most) = (least.copied().unwrap_or(0), most.copied().unwrap_or(0));
    expect(least > 0, "each of three equal threads runs")?;
    expect(most < 2 * least, "for about the same time")
}

/// Helper: notes its turn and yields, three times.
fn yielder(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    for _ in 0..3 {
        note(me.common, me.n);
        let _ = thread::yield_now();
    }
}

fn yield_equal(bench: &Bench) -> Check {
    let n = bench.next_helper();
    begin(bench)?;
    bench.helper(MAIN, yielder, Slot::NONE, Slot::NONE)?;
    bench.helper(LOW, noter, Slot::NONE, Slot::NONE)?;
    for _ in 0..3 {
        note(bench.common(), 0);
        thread::yield_now()?;
    }
    order(bench, &[0, n, 0, n, 0, n, n + 1], "by turns, and never to a lower one")
}

fn yield_named(bench: &Bench) -> Check {
    begin(bench)?;
    let helper = bench.helper(LOWEST, count, Slot::NONE, Slot::NONE)?;
    bench.helper(LOW, noter, Slot::NONE, Slot::NONE)?;
    expect(bench.words(helper).get(8) == 0, "a lower thread does not run")?;
    // The tick that is given may be about to end.
    for _ in 0..3 {
        thread::yield_to(helper.slot)?;
    }
    let given = bench.words(helper).get(8) > 0;
    let is_time = !bench.has_tree()?;
    expect(given == is_time, "unless it is given the tick, which is no time of a reservation's")?;
    expect(bench.common().get(0) == 0, "and only that one")?;
    let asleep = bench.helper(HIGH, vacant, Slot::NONE, Slot::NONE)?;
    let result = thread::yield_to(asleep.slot);
    expect(result.is_err(), "a thread that cannot run cannot be given the tick")
}

/// Helper: sleeps.
fn vacant(_: &Env, _: u64) {
    system::sleep_until(u64::MAX);
}

fn priorities(bench: &Bench) -> Check {
    let (own, n) = (bench.env.cap("self-thread"), bench.next_helper());
    let helper = bench.helper(LOW, noter, Slot::NONE, Slot::NONE)?;
    thread::set_priority(helper.slot, HIGH)?;
    note(bench.common(), 0);
    bench.helper(LOW, noter, Slot::NONE, Slot::NONE)?;
    thread::set_priority(own, LOWEST)?;
    note(bench.common(), 0);
    thread::set_priority(own, MAIN)?;
    order(bench, &[n, 0, n + 1, 0], "raised above, and lowered below")
}

fn under_load(bench: &Bench, wait: u64) -> Check {
    bench.helper(LOW, count, Slot::NONE, Slot::NONE)?;
    let deadline = system::clock() + wait;
    system::sleep_until(deadline);
    let now = system::clock();
    expect(now >= deadline && now - deadline < MS / 4, "well within a tick")
}
