//! What a loop of calls on one CPU takes from the highest thread of another one.

use super::bench::*;
use super::cpus::{other, there};
use rt::{Env, Error, Slot, system, thread};

pub const CHECKS: Checks = &[
    ("priorities that are set again", same_priority),
    ("priorities that change below the highest", lower_priorities),
    ("threads that are stopped and go on", stopped),
    ("threads that come and go", moved),
    ("threads that are stopped as they are", stopped_twice),
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
    let (to, (_, own)) = (other()?, super::cpus::cpus()?);
    harmless(bench, |lower, n| thread::migrate(lower, if n % 2 == 0 { own } else { to }))
}
