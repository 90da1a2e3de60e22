//! Threads of other CPUs: everything that one CPU does to another. With one CPU these are threads
//! of the own one.

use super::bench::*;
use super::domains::{tiny, tiny_on};
use super::threads::suicide;
use super::timeouts::{reached, sleep_a_little};
use super::vectors::{PATTERN, fill_and_look};
use rt::abi::call::{Fact, ThreadState};
use rt::memory::{self, Range};
use rt::thread::{self, Registers};
use rt::{Env, Error, Message, Rights, Slot, Wait, arch, cap, ipc, signal, system};

pub const CHECKS: Checks = &[
    ("calls to another CPU", calls),
    ("calls to and from all CPUs at once", crossing),
    ("a higher thread there preempts a lower one", preempts),
    ("equals there that become ready at once take turns", share),
    ("a deadline there passes", deadline),
    ("a deadline there that was deferred is served when its CPU makes room", makes_room),
    ("a deferred deadline there follows its thread", follows),
    ("a sleeper there is destroyed whose deadline is deferred", leaves_nothing),
    ("a busy thread there is stopped and goes on", stops),
    ("a busy thread there is destroyed", destroys),
    ("a thread destroys itself while its domain runs there", ends_itself),
    ("memory that is taken away is gone there too", shoot_down),
    ("a domain that runs there is destroyed", ends_domain),
    ("a CPU that never calls holds up no deletion", never_calls),
    ("vector registers move along", vectors),
    ("a signal through what was revoked there", revoked),
    ("a domain stays on its CPUs", confined),
];

/// Near other checks' pages, whose tables are there.
const PAGE_AT: u64 = 0x9_0010_0000;
const RW: Rights = Rights(Rights::READ.0 | Rights::WRITE.0);
/// Where a refused access of a helper goes on.
const RESUME: usize = 20;

/// Waits that a CPU is given to react, if what runs it is busy.
pub const TURNS: u32 = 100;

/// How many CPUs there are, and which is the caller's.
pub fn cpus() -> Result<(u64, u64), Why> {
    Ok(system::fact(Fact::Cpus)?)
}

/// The CPU after the own one.
pub fn other() -> Result<u64, Why> {
    let (count, own) = cpus()?;
    Ok((own + 1) % count)
}

/// A helper on another CPU.
pub fn there(bench: &Bench, priority: u64, work: Work, a: Slot) -> Result<Helper, Why> {
    let helper = bench.helper(priority, work, a, Slot::NONE)?;
    thread::migrate(helper.slot, other()?)?;
    Ok(helper)
}

/// Helper: counts in its word 8, and in its word 9 how often another has counted as well.
pub fn count_alone(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    loop {
        let next = me.own.get(8) + 1;
        me.own.set(8, next);
        arch::work(50);
        me.own.add(9, u64::from(me.own.get(8) != next));
    }
}

/// A sleeper on another CPU whose deadline has passed, and a higher thread that is busy there.
fn deferred(bench: &Bench) -> Result<[Helper; 2], Why> {
    let until = system::clock() + 10 * MS;
    bench.common().set(1, until);
    let sleeper = there(bench, LOW, sleep_a_little, Slot::NONE)?;
    reached(bench, sleeper, 1)?;
    bench.settle();
    let busy = there(bench, LOW + 5, count_alone, Slot::NONE)?;
    system::sleep_until(until + 2 * MS);
    expect(bench.words(busy).get(8) > 0, "a thread is busy there")?;
    expect(bench.words(sleeper).get(9) == 1, "a lower one sleeps on")?;
    Ok([sleeper, busy])
}

/// A sleeper wakes, whenever its CPU gets a turn.
fn wakes(bench: &Bench, sleeper: Helper) -> Check {
    let words = bench.words(sleeper);
    for _ in 0..TURNS {
        if words.get(9) == 1 {
            bench.settle();
        }
    }
    expect(words.get(9) == 2, "the deadline is served")
}

fn makes_room(bench: &Bench) -> Check {
    let [sleeper, busy] = deferred(bench)?;
    thread::suspend(busy.slot)?;
    wakes(bench, sleeper)?;
    let [sleeper, busy] = deferred(bench)?;
    thread::set_priority(busy.slot, LOW - 5)?;
    wakes(bench, sleeper)?;
    thread::suspend(busy.slot)?;
    let [sleeper, busy] = deferred(bench)?;
    cap::destroy(busy.slot)?;
    wakes(bench, sleeper)
}

fn follows(bench: &Bench) -> Check {
    let (count, here) = cpus()?;
    let [sleeper, busy] = deferred(bench)?;
    thread::set_priority(sleeper.slot, LOW + 8)?;
    wakes(bench, sleeper)?;
    thread::suspend(busy.slot)?;
    let [sleeper, busy] = deferred(bench)?;
    thread::migrate(sleeper.slot, here)?;
    if count == 1 {
        thread::suspend(busy.slot)?;
    }
    wakes(bench, sleeper)
}

/// What is destroyed leaves no deadline behind that would hold up another one.
fn leaves_nothing(bench: &Bench) -> Check {
    let [sleeper, busy] = deferred(bench)?;
    cap::destroy(sleeper.slot)?;
    cap::destroy(busy.slot)?;
    let [sleeper, busy] = deferred(bench)?;
    thread::suspend(busy.slot)?;
    wakes(bench, sleeper)
}

/// Helper: waits for `a` for at most some milliseconds.
pub fn wait_a_little(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let until = system::clock() + 6 * MS;
    me.report(ipc::exchange(Slot::NONE, me.a, Message::empty(0), Wait::until(until)));
}

fn calls(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    there(bench, HIGH, echo, e)?;
    for n in 0..200 {
        let answer = ipc::call(e, Message::short(n, [u64::from(n)]))?;
        expect(answer.info.label() == n + 1 && answer.words[0] == u64::from(n) + 1, "an answer")?;
    }
    let buffer = bench.buffer();
    for i in 4..100 {
        buffer.0.set(i, i as u64);
    }
    let answer = ipc::call(e, Message::long(0, 100, [0; 4]))?;
    expect(answer.info.words() == 100, "a long answer")?;
    expect((4..100).all(|i| buffer.0.get(i) == i as u64 + 1), "with all words")
}

/// Helper: calls `a` many times, and counts right answers in its word 8.
fn call_often(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    for n in 0..300 {
        let answer = ipc::call(me.a, Message::short(0, [n]));
        me.own.add(8, u64::from(answer.is_ok_and(|answer| answer.words[0] == n + 1)));
    }
    me.own.set(9, 1);
}

fn crossing(bench: &Bench) -> Check {
    let (count, own) = cpus()?;
    let (e, f) = (bench.endpoint()?, bench.endpoint()?);
    // One server here, one there; callers on all CPUs to both.
    bench.helper(HIGH, echo, e, Slot::NONE)?;
    there(bench, HIGH, echo, f)?;
    let mut callers = [None; 5];
    for (n, caller) in callers.iter_mut().enumerate() {
        let helper = bench.helper(LOW, call_often, if n % 2 == 0 { e } else { f }, Slot::NONE)?;
        thread::migrate(helper.slot, (own + n as u64) % count)?;
        *caller = Some(helper);
    }
    for n in 0..300 {
        let answer = ipc::call(if n % 2 == 0 { e } else { f }, Message::short(0, [n]))?;
        expect(answer.words[0] == n + 1, "the own answers")?;
    }
    let done = || callers.iter().flatten().all(|helper| bench.words(*helper).get(9) == 1);
    for _ in 0..200 {
        if done() {
            break;
        }
        system::sleep(MS);
    }
    let right = |helper: &Helper| bench.words(*helper).get(8) == 300;
    expect(callers.iter().flatten().all(right), "everybody's answers")
}

fn preempts(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    there(bench, HIGH, echo, e)?;
    let busy = there(bench, LOW, count, Slot::NONE)?;
    bench.settle();
    for n in 0..20 {
        expect(ipc::call(e, Message::short(0, [n]))?.words[0] == n + 1, "an answer")?;
    }
    let words = bench.words(busy);
    let counted = words.get(8);
    bench.settle();
    expect(counted > 0 && words.get(8) > counted, "the lower one goes on")
}

/// Helper: waits on `a` until that is gone, and counts in its word 8 from then on.
fn wait_and_count(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let _ = ipc::receive(me.a, Wait::NEVER);
    loop {
        system::work(50);
        me.own.add(8, 1);
    }
}

fn share(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let equals = [there(bench, LOW, wait_and_count, e)?, there(bench, LOW, wait_and_count, e)?];
    bench.settle();
    cap::destroy(e)?;
    let both_ran = |_| {
        bench.settle();
        equals.iter().all(|helper| bench.words(*helper).get(8) > 0)
    };
    expect((0..TURNS).any(both_ran), "both get their turns")
}

fn deadline(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(LOW, wait_a_little, e, Slot::NONE)?;
    thread::migrate(helper.slot, other()?)?;
    system::sleep(12 * MS);
    bench.failed(helper, Error::Timeout, "its wait is over")
}

fn stops(bench: &Bench) -> Check {
    let helper = there(bench, LOW, count, Slot::NONE)?;
    let words = bench.words(helper);
    let counts = |from: u64| {
        (0..TURNS).any(|_| {
            bench.settle();
            words.get(8) > from
        })
    };
    for _ in 0..10 {
        expect(counts(0), "it runs")?;
        thread::suspend(helper.slot)?;
        // With its registers it has left the other CPU.
        let (instruction, _) = thread::set(helper.slot, Registers::default())?;
        let counted = words.get(8);
        bench.settle();
        expect(words.get(8) == counted, "it does not run")?;
        expect(instruction != 0, "its registers are told")?;
        thread::resume(helper.slot)?;
        expect(counts(counted), "it goes on")?;
    }
    Ok(())
}

fn destroys(bench: &Bench) -> Check {
    for _ in 0..5 {
        let helper = there(bench, LOW, count, Slot::NONE)?;
        bench.settle();
        cap::destroy(helper.slot)?;
        let counted = bench.words(helper).get(8);
        bench.settle();
        expect(counted > 0 && bench.words(helper).get(8) == counted, "it is gone")?;
        bench.clean();
    }
    Ok(())
}

/// The other CPU holds the address of the thread's message buffer, and is to let go of it.
fn ends_itself(bench: &Bench) -> Check {
    let busy = there(bench, LOW, count, Slot::NONE)?;
    bench.settle();
    expect(bench.words(busy).get(8) > 0, "the domain runs there")?;
    for _ in 0..3 {
        // The slot that the helper is about to get: one after the next.
        let next = Slot(bench.slot().0 + 1);
        let helper = bench.helper(BUSY, suicide, next, Slot::NONE)?;
        // A slot is emptied once nothing is left of the object; the other CPU may not run at once.
        let gone = |_| {
            bench.settle();
            thread::state(next).is_err_and(|error| error == Error::NoCapability)
        };
        expect((0..TURNS).any(gone), "all of it is gone")?;
        expect(bench.words(helper).get(8) == 1, "it does not return")?;
    }
    Ok(())
}

/// Helper: writes a count into the page, over and over; word 8 has the last that got through, word
/// 9 how many were refused.
fn hammer(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let resume = me.own.word(RESUME);
    for n in 1.. {
        match arch::write(PAGE_AT, n, resume) {
            true => me.own.set(8, n),
            false => {
                me.own.add(9, 1);
            }
        }
    }
}

fn shoot_down(bench: &Bench) -> Check {
    let (handler, page, mapping, view) =
        (bench.endpoint()?, bench.slot(), bench.slot(), bench.slot());
    memory::create(page, 1)?;
    let range = Range { memory: page, first: 0, pages: 1, address: PAGE_AT };
    memory::map(mapping, Slot::NONE, range, RW)?;
    let here = Range { address: PAGE_AT + 0x1000, ..range };
    memory::map(view, Slot::NONE, here, RW)?;
    let resume = bench.common().word(0);
    let seen = || arch::read(here.address, resume).unwrap_or(0);
    let helper = bench.handled(LOW, handler, hammer, Slot::NONE, Slot::NONE)?;
    thread::migrate(helper.slot, other()?)?;
    for _ in 0..5 {
        bench.settle();
        expect(seen() > 0, "it writes")?;
        memory::protect(mapping, Rights::READ)?;
        let last = seen();
        bench.settle();
        expect(seen() == last, "no write gets through once the call is back")?;
        memory::protect(mapping, RW)?;
        // The fault is answered: the same instruction again.
        ipc::receive(handler, Wait::until(system::clock() + 100 * MS))?;
        ipc::reply(Message::empty(rt::abi::call::fault::RETRY))?;
    }
    bench.settle();
    cap::destroy(mapping)?;
    let last = seen();
    bench.settle();
    expect(seen() == last, "nor once it is unmapped")
}

fn ends_domain(bench: &Bench) -> Check {
    for _ in 0..5 {
        let e = bench.endpoint()?;
        let (child, server) = tiny(bench, e)?;
        thread::migrate(server, other()?)?;
        bench.settle();
        cap::destroy(child)?;
        refused(thread::state(server), Error::Stale, "its thread is gone")?;
        bench.clean();
    }
    Ok(())
}

/// Above the threads that are to end, so that these do not run there, and below the suite's own.
const BUSY: u64 = LOW + 5;

/// The other CPU runs a thread that never enters the kernel: an interrupt is all that gets it
/// there. Each deletion needs that CPU to let go of something.
fn never_calls(bench: &Bench) -> Check {
    let (e, page, mapping) = (bench.endpoint()?, bench.slot(), bench.slot());
    let (child, server) = tiny(bench, e)?;
    thread::migrate(server, other()?)?;
    expect(ipc::call(e, Message::short(0, [1]))?.words[0] == 2, "the domain has run there")?;
    memory::create(page, 1)?;
    let range = Range { memory: page, first: 0, pages: 1, address: PAGE_AT };
    memory::map(mapping, Slot::NONE, range, RW)?;
    let queued = there(bench, LOW, count, Slot::NONE)?;
    bench.settle();
    let busy = there(bench, BUSY, count, Slot::NONE)?;
    bench.settle();
    let words = bench.words(busy);
    let counted = words.get(8);
    cap::destroy(mapping)?;
    cap::destroy(page)?;
    cap::destroy(queued.slot)?;
    cap::destroy(child)?;
    refused(thread::state(server), Error::Stale, "the domain's thread is gone")?;
    bench.settle();
    expect(counted > 0 && words.get(8) > counted, "all that while it has computed")?;
    // Alone there, it is not even interrupted by a tick.
    cap::destroy(busy.slot)?;
    let counted = words.get(8);
    bench.settle();
    expect(words.get(8) == counted, "and is gone itself")
}

fn vectors(bench: &Bench) -> Check {
    let (count, own) = cpus()?;
    let helper = bench.helper(LOW, fill_and_look, Slot::NONE, Slot::NONE)?;
    let suite = bench.env.cap("self-thread");
    for n in 0..3 * count {
        thread::migrate(helper.slot, (own + n) % count)?;
        let to = (own + n + 1) % count;
        // Nothing in between that the compiler could use these registers for.
        arch::simd_write(PATTERN);
        let moved = thread::migrate(suite, to);
        let kept = arch::simd_matches(PATTERN).0;
        moved?;
        expect(kept, "the suite's own thread keeps its registers")?;
    }
    thread::migrate(suite, own)?;
    system::sleep(20 * MS);
    let words = bench.words(helper);
    expect(words.get(8) == 1, "the helper finishes")?;
    expect(words.get(9) == 0, "and loses no register")
}

/// The helpers' words: the round that is on, the last that is over, and what came of it.
const ROUND: usize = 8;
const OVER: usize = 9;
const SIGNALLED: usize = 10;
/// Rounds, and how long a receiver waits in each.
const ROUNDS: u64 = 60;
const PATIENCE: u64 = MS / 5;

/// Helper: in each round that `b` begins receives on `a` for a while.
fn wait_in_rounds(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    while ipc::receive(me.b, Wait::NEVER).is_ok() {
        let until = system::clock() + PATIENCE;
        let signalled = ipc::receive(me.a, Wait::until(until)).is_ok();
        me.own.set(SIGNALLED, signalled.into());
        me.own.add(OVER, 1);
    }
}

/// Helper: signals `a` once in each round that its word says.
fn signal_in_rounds(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    loop {
        let round = me.own.get(ROUND);
        if round > me.own.get(OVER) {
            // It may have been revoked.
            let _ = signal::signal(me.a);
            me.own.set(OVER, round);
        }
    }
}

/// A thread of this CPU waits for a while, so that a signal from another one touches its deadline.
/// The capability is revoked, at this instant or that. A receiver that waits then is not woken.
fn revoked(bench: &Bench) -> Check {
    let (n, copy, e) = (bench.slot(), bench.slot(), bench.endpoint()?);
    let receiver = bench.helper(HIGH, wait_in_rounds, n, e)?;
    let sender = there(bench, LOW, signal_in_rounds, copy)?;
    bench.settle();
    let (waits, signals) = (bench.words(receiver), bench.words(sender));
    for round in 1..=ROUNDS {
        signal::create_notification(n)?;
        cap::copy(n, copy, Rights::SEND)?;
        ipc::send(e, Message::empty(0), Wait::NEVER)?;
        signals.set(ROUND, round);
        system::work(round * 29);
        cap::revoke(n)?;
        let blocked = thread::state(receiver.slot)? == ThreadState::Receiving as u64;
        let waiting = blocked && waits.get(OVER) < round;
        while signals.get(OVER) < round || waits.get(OVER) < round {
            system::sleep(PATIENCE);
        }
        let signalled = waits.get(SIGNALLED) != 0;
        expect(!(waiting && signalled), "a revoked capability signals nothing")?;
        cap::destroy(n)?;
        cap::delete(copy)?;
    }
    Ok(())
}

fn confined(bench: &Bench) -> Check {
    let (e, (count, own), other) = (bench.endpoint()?, cpus()?, other()?);
    // A set has room for all CPUs that a kernel can have.
    if let Some(beyond) = 1_u64.checked_shl(count as u32) {
        let made = tiny_on(bench, e, beyond);
        expect(made.is_err_and(|why| why.error == Some(Error::CpuNotAllowed)), "no such CPU")?;
        bench.clean();
    }
    let e = bench.endpoint()?;
    let (child, server) = tiny_on(bench, e, 1 << other)?;
    for cpu in (0..count).filter(|cpu| *cpu != other) {
        refused(thread::migrate(server, cpu), Error::CpuNotAllowed, "another CPU")?;
    }
    thread::migrate(server, other)?;
    expect(ipc::call(e, Message::short(0, [1]))?.words[0] == 2, "it runs on its CPU")?;
    cap::destroy(child)?;
    expect(cpus()?.1 == own, "the caller has stayed")
}
