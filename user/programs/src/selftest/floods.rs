//! What calls of one CPU take from the highest thread of another one, and from its calls.

use super::bench::*;
use super::cpus::{cpus, other, there};
use rt::memory::{self, Range};
use rt::{Env, Error, Rights, Slot, cap, system, thread};

pub const CHECKS: Checks = &[
    ("priorities that are set again", same_priority),
    ("priorities that change below the highest", lower_priorities),
    ("threads that are stopped and go on", stopped),
    ("threads that come and go", moved),
    ("threads that are stopped as they are", stopped_twice),
    ("calls while another CPU's call takes long", long_call),
];

/// The highest thread of the other CPU; on one CPU it is lower than the suite's own.
const HIGHEST_THERE: u64 = LOW + 5;
/// How long a loop lasts.
const SPAN: u64 = 10 * MS;
/// The share, in percent, that the highest thread keeps of what it has where nothing happens.
const KEPT: u64 = 95;

/// Where time is not the machine's own, one CPU or the other stands still now and then: a loop that
/// takes time from the highest thread does so each time.
const ATTEMPTS: u32 = 10;

/// Helper: computes, and counts how far it has come in its word 8.
fn compute(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    loop {
        system::work(200);
        me.own.add(8, 1);
    }
}

/// What the highest thread of the other CPU does while the suite makes calls.
fn done_during(
    bench: &Bench,
    highest: Helper,
    mut calls: impl FnMut(u64) -> Result<(), Error>,
) -> Result<u64, Why> {
    let words = bench.words(highest);
    let (begin, end) = (words.get(8), system::clock() + SPAN);
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
    let highest = there(bench, HIGHEST_THERE, compute, Slot::NONE)?;
    bench.settle();
    for _ in 0..ATTEMPTS {
        // Calls that concern no other CPU, for comparison.
        let alone = done_during(bench, highest, |_| thread::state(lower.slot).map(|_| ()))?;
        let disturbed = done_during(bench, highest, |n| calls(lower.slot, n))?;
        if disturbed * 100 >= alone * KEPT {
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
