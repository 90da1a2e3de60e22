//! What calls of one CPU take from the highest thread of another one, and from its calls.

use super::bench::*;
use super::cpus::{cpus, other, there};
use super::domains::small;
use rt::memory::{self, Range};
use rt::thread::Spec;
use rt::{Env, Error, Rights, Slot, Wait, cap, domain, ipc, signal, system, thread};

pub const CHECKS: Checks = &[
    ("priorities that are set again", same_priority),
    ("priorities that change below the highest", lower_priorities),
    ("threads that are stopped and go on", stopped),
    ("threads that come and go", moved),
    ("threads that are stopped as they are", stopped_twice),
    ("threads that wait, are moved there and woken", woken),
    ("threads that wait for time and are moved there", waits),
    ("threads that wait for later ticks and are moved there", waits_long),
    ("deadlines there that are taken back before they pass", taken_back),
    ("threads that move themselves there", moves_itself),
    ("calls while another CPU's call takes long", long_call),
    ("memory that two CPUs zero at once", zeroing),
];

/// The highest thread of the other CPU; on one CPU it is lower than the suite's own.
pub const HIGHEST_THERE: u64 = LOW + 5;
/// How long a loop lasts where there are several CPUs.
const SPAN: u64 = 10 * MS;
/// The share, in percent, that the highest thread keeps of what it has where nothing happens.
const KEPT: u64 = 95;
/// That share if no other thread is there.
const KEPT_ALONE: u64 = 98;

/// How long a thread waits whose deadline is taken back: a few calls.
pub const BRIEF: u64 = 8_000;

/// Where time is not the machine's own, one CPU or the other stands still now and then: a loop that
/// takes time from the highest thread does so each time.
pub const ATTEMPTS: u32 = 10;

/// Helper: computes, and counts how far it has come in its word 8.
fn compute(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    loop {
        system::work(200);
        me.own.add(8, 1);
    }
}

/// How long a loop lasts: on one CPU there is no other thread to disturb, and that the calls work
/// is soon seen.
pub fn span() -> Result<u64, Why> {
    Ok(if cpus()?.0 > 1 { SPAN } else { SPAN / 20 })
}

/// What the highest thread of the other CPU does while the suite makes calls.
fn done_during(
    bench: &Bench,
    highest: Helper,
    mut calls: impl FnMut(u64) -> Result<(), Error>,
) -> Result<u64, Why> {
    let words = bench.words(highest);
    let (begin, end) = (words.get(8), system::clock() + span()?);
    let mut n = 0;
    while system::clock() < end {
        calls(n)?;
        n += 1;
    }
    Ok(words.get(8) - begin)
}

/// Expects that calls about a lower thread there leave the highest one its CPU.
fn harmless(bench: &Bench, calls: impl Fn(Slot, u64) -> Result<(), Error>) -> Check {
    let lower = there(bench, LOW, compute, Slot::NONE)?;
    keeps(bench, KEPT, |n| calls(lower.slot, n))
}

/// Helper: sleeps for longer than any run takes.
fn sleep_on(_: &Env, _: u64) {
    system::sleep(3600 * 1000 * MS);
}

/// Expects that calls leave the highest thread there its CPU, where no lower thread is. The timer
/// there is armed all the time, for a thread that could interrupt: the simulation's chaos takes
/// time only from such CPUs.
fn harmless_to_one(bench: &Bench, calls: impl Fn(u64) -> Result<(), Error>) -> Check {
    there(bench, HIGHEST_THERE + 1, sleep_on, Slot::NONE)?;
    keeps(bench, KEPT_ALONE, calls)
}

/// Expects that the highest thread there keeps this share of its CPU.
fn keeps(bench: &Bench, kept: u64, calls: impl Fn(u64) -> Result<(), Error>) -> Check {
    let highest = there(bench, HIGHEST_THERE, compute, Slot::NONE)?;
    bench.settle();
    for _ in 0..ATTEMPTS {
        // Calls that concern no other CPU, for comparison.
        let alone = done_during(bench, highest, |_| thread::state(highest.slot).map(|_| ()))?;
        let disturbed = done_during(bench, highest, &calls)?;
        if disturbed * 100 >= alone * kept {
            return Ok(());
        }
    }
    expect(false, "the highest thread keeps its CPU")
}

fn same_priority(bench: &Bench) -> Check {
    harmless(bench, |lower, _| thread::set_priority(lower, LOW))
}

fn lower_priorities(bench: &Bench) -> Check {
    harmless(bench, |lower, n| thread::set_priority(lower, LOW - n % 2))
}

fn stopped(bench: &Bench) -> Check {
    harmless(bench, |lower, n| match n % 2 {
        0 => thread::suspend(lower),
        _ => thread::resume(lower),
    })
}

fn stopped_twice(bench: &Bench) -> Check {
    harmless(bench, |lower, _| thread::suspend(lower))
}

fn moved(bench: &Bench) -> Check {
    let (to, (_, own)) = (other()?, cpus()?);
    harmless(bench, |lower, n| thread::migrate(lower, if n % 2 == 0 { own } else { to }))
}

/// Helper: waits for signals, one after another.
fn wait_again(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    while ipc::receive(me.a, Wait::NEVER).is_ok() {}
}

/// A thread that waits on the own CPU, and goes there to be woken.
fn woken(bench: &Bench) -> Check {
    let (to, (_, own)) = (other()?, cpus()?);
    let signals = bench.notification()?;
    let waiter = bench.helper(LOW, wait_again, signals, Slot::NONE)?;
    bench.settle();
    harmless(bench, |_, _| {
        thread::migrate(waiter.slot, to)?;
        signal::signal(signals)?;
        thread::migrate(waiter.slot, own)?;
        // It waits again.
        thread::yield_to(waiter.slot)
    })
}

/// Helper: waits for signals until instants before the next tick, each earlier than the last.
fn wait_earlier(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    wait_until(me, |n| system::clock() / (MS / 4) * (MS / 4) + MS / 4 - n % 8);
}

/// Helper: waits for signals until instants far ahead, each earlier than the last.
fn wait_long(env: &Env, argument: u64) {
    let latest = system::clock() + 1000 * MS;
    wait_until(Me::new(env, argument), |n| latest - n);
}

/// Helper: waits for signals for a little while, again and again.
fn wait_briefly(env: &Env, argument: u64) {
    wait_until(Me::new(env, argument), |_| system::clock() + BRIEF);
}

/// Waits for signals until instants.
fn wait_until(me: Me, instant: impl Fn(u64) -> u64) {
    for n in 0.. {
        match ipc::receive(me.a, Wait::until(instant(n))) {
            Ok(_) | Err(Error::Timeout) => {}
            Err(_) => return,
        }
    }
}

/// A thread that waits again and again, to be moved there and back.
struct Waiter {
    slot: Slot,
    signals: Slot,
    from: u64,
    to: u64,
}

impl Waiter {
    fn new(bench: &Bench, waits: Work) -> Result<Waiter, Why> {
        let (to, (_, from)) = (other()?, cpus()?);
        let signals = bench.notification()?;
        let helper = bench.helper(LOW, waits, signals, Slot::NONE)?;
        bench.settle();
        Ok(Waiter { slot: helper.slot, signals, from, to })
    }

    /// It goes there and comes back, and waits for the next time.
    fn moves(&self) -> Result<(), Error> {
        thread::migrate(self.slot, self.to)?;
        thread::migrate(self.slot, self.from)?;
        signal::signal(self.signals)?;
        thread::yield_to(self.slot)
    }
}

fn waits(bench: &Bench) -> Check {
    let waiter = Waiter::new(bench, wait_earlier)?;
    harmless(bench, |_, _| waiter.moves())
}

fn waits_long(bench: &Bench) -> Check {
    let waiter = Waiter::new(bench, wait_long)?;
    harmless_to_one(bench, |_| waiter.moves())
}

/// There are always deadlines to come there, and none passes.
fn taken_back(bench: &Bench) -> Check {
    let (to, (_, own)) = (other()?, cpus()?);
    let mut waiters = [(Slot::NONE, Slot::NONE); 4];
    for (waiter, signals) in &mut waiters {
        *signals = bench.notification()?;
        *waiter = bench.helper(LOW, wait_briefly, *signals, Slot::NONE)?.slot;
    }
    bench.settle();
    harmless_to_one(bench, |n| {
        let (first, _) = waiters[n as usize % 4];
        let (last, signals) = waiters[(n as usize + 3) % 4];
        thread::migrate(first, own)?;
        signal::signal(signals)?;
        let _ = thread::yield_to(last);
        thread::migrate(last, to)
    })
}

/// Helper: moves itself, by the capability in the slot in its word 9, to the CPU in its word 10.
fn move_itself(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    while thread::migrate(Slot(me.own.get(9) as u32), me.own.get(10)).is_ok() {}
}

fn moves_itself(bench: &Bench) -> Check {
    let (to, (_, own)) = (other()?, cpus()?);
    let mover = bench.helper(LOW, move_itself, Slot::NONE, Slot::NONE)?;
    let words = bench.words(mover);
    words.set(9, mover.slot.word());
    words.set(10, to);
    harmless(bench, |_, _| {
        thread::migrate(mover.slot, own)?;
        thread::yield_to(mover.slot)
    })
}

/// Pages of a mapping that takes long to make, and where it lies: near other checks' pages, whose
/// tables are there.
const MANY: u64 = 200;
const PAGES_AT: u64 = 0x9_0010_0000;
/// The longest that a call of another CPU waits meanwhile, where CPUs run at the same time.
const WAIT: u64 = 20_000;

/// Helper: makes calls, and counts them in its word 8.
fn call(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    loop {
        system::clock();
        me.own.add(8, 1);
    }
}

fn long_call(bench: &Bench) -> Check {
    if cpus()?.0 == 1 {
        return Ok(());
    }
    let (memory, mapping) = (bench.slot(), bench.slot());
    let caller = bench.words(there(bench, LOW, call, Slot::NONE)?);
    bench.settle();
    for _ in 0..ATTEMPTS {
        memory::create(memory, MANY)?;
        let (before, begin) = (caller.get(8), system::clock());
        let range = Range { memory, first: 0, pages: MANY, address: PAGES_AT };
        memory::map(mapping, Slot::NONE, range, Rights::READ)?;
        let (calls, took) = (caller.get(8) - before, system::clock() - begin);
        cap::destroy(memory)?;
        cap::delete(mapping)?;
        if calls >= took / WAIT {
            return Ok(());
        }
    }
    expect(false, "the other CPU's calls get through meanwhile")
}

/// Helper: makes memory in the slot `a` and ends it, and counts in its word 8.
fn make_memory(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    while memory::create(me.a, 1).and_then(|()| cap::destroy(me.a)).is_ok() {
        me.own.add(8, 1);
    }
}

/// Helper: makes a thread in the slot `a`, with a message buffer in the domain `b`, and ends it,
/// and counts in its word 8. No thread runs in that domain, so no CPU has to forget the buffer.
fn make_thread(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let spec = Spec { domain: me.b, priority: LOW, buffer: PAGES_AT, handler: Slot::NONE };
    while thread::create(me.a, spec).and_then(|()| cap::destroy(me.a)).is_ok() {
        me.own.add(8, 1);
    }
}

/// Of what a CPU makes alone, each of two makes this part at least.
const PART: u64 = 50;

/// Each makes room for the other, and neither is to begin anew each time.
fn zeroing(bench: &Bench) -> Check {
    if cpus()?.0 == 1 {
        return Ok(());
    }
    let empty = bench.slot();
    domain::create(empty, 1, LOW, small())?;
    let own = bench.words(bench.helper(LOW, make_thread, bench.slot(), empty)?);
    system::sleep(SPAN);
    let least = own.get(8) / PART;
    let there = bench.words(there(bench, LOW, make_memory, bench.slot())?);
    for _ in 0..ATTEMPTS {
        let before = (own.get(8), there.get(8));
        system::sleep(SPAN);
        if own.get(8) - before.0 > least && there.get(8) - before.1 > least {
            return Ok(());
        }
    }
    expect(false, "both get on")
}
