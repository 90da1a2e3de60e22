//! Recursive mutexes, and mutexes with ceilings, through `sync`.

use super::bench::*;
use rt::{Env, Error, Slot, Words, futex};
use sync::{CeilingMutex, Ceilings, RecursiveMutex, Scope, ThreadId};

pub const CHECKS: Checks = &[
    ("a recursive mutex is free when all its guards are dropped", recursive),
    ("a mutex has a ceiling, and keeps out what is not above it", ceiling),
    ("of several ceilings the highest counts, in whatever order they end", several),
    ("a ceiling below a thread, or above its domain, is refused", refusals),
];

/// Where mutexes are in the common words, and how many each has.
const FIRST: usize = 8;
const SECOND: usize = 24;
const WORDS: usize = 16;
/// A common word that says that a thread has run.
const RAN: usize = 40;

fn recursive_of(common: Words) -> RecursiveMutex {
    RecursiveMutex::new(common.part(FIRST, WORDS), Scope::Domain)
}

fn mutex_of(common: Words, at: usize, ceiling: u64) -> CeilingMutex {
    CeilingMutex::new(common.part(at, WORDS), ceiling as u8, Scope::Domain)
}

/// One that protects nothing.
fn mutex_at(common: Words, at: usize) -> CeilingMutex {
    CeilingMutex::new(common.part(at, 1), HIGH as u8, Scope::Domain)
}

/// Helper: locks the mutex, and says so.
fn come(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    if let Ok(guard) = recursive_of(me.common).lock(ThreadId::current()) {
        guard.set(0, guard.get(0) + 1);
    }
}

fn recursive(bench: &Bench) -> Check {
    let me = ThreadId::current();
    let mutex = recursive_of(bench.common());
    let first = mutex.lock(me)?;
    let [second, third] = [mutex.lock(me)?, mutex.lock(me)?];
    bench.helper(HIGH, come, Slot::NONE, Slot::NONE)?;
    bench.settle();
    // In another order than they were made.
    drop(first);
    drop(third);
    bench.settle();
    expect(second.get(0) == 0, "the helper waits for the last guard")?;
    drop(second);
    bench.settle();
    let guard = mutex.lock(me)?;
    expect(guard.get(0) == 1, "it comes then")?;
    drop(guard);
    expect(bench.common().get(FIRST) == 0, "free again")
}

/// Helper: says that it runs.
fn run(env: &Env, argument: u64) {
    Me::new(env, argument).common.set(RAN, 1);
}

/// Whether a new helper of this priority runs before the caller goes on.
fn goes_first(bench: &Bench, priority: u64) -> Result<bool, Why> {
    bench.common().set(RAN, 0);
    bench.helper(priority, run, Slot::NONE, Slot::NONE)?;
    Ok(bench.common().get(RAN) != 0)
}

fn ceiling(bench: &Bench) -> Check {
    let ceilings = Ceilings::of(ThreadId::current());
    let mutex = mutex_of(bench.common(), FIRST, HIGH);
    let guard = mutex.lock(&ceilings)?;
    expect(!goes_first(bench, HIGH)?, "an equal waits")?;
    expect(goes_first(bench, HIGH + 1)?, "a higher one does not")?;
    drop(guard);
    expect(bench.common().get(FIRST) == 0, "free again")?;
    bench.settle();
    expect(goes_first(bench, HIGH)?, "the ceiling has ended")
}

fn several(bench: &Bench) -> Check {
    let ceilings = Ceilings::of(ThreadId::current());
    let common = bench.common();
    let heights = [(FIRST, HIGH), (SECOND, HIGH + 2)];
    let [first, second] = heights.map(|(at, ceiling)| mutex_of(common, at, ceiling));
    let lower = first.lock(&ceilings)?;
    expect(goes_first(bench, HIGH + 2)?, "only the lower one is held")?;
    let higher = second.lock(&ceilings)?;
    expect(!goes_first(bench, HIGH + 2)?, "the higher one is held as well")?;
    drop(lower);
    expect(!goes_first(bench, HIGH + 2)?, "the higher one alone is held")?;
    bench.settle();
    let lower = first.lock(&ceilings)?;
    expect(!goes_first(bench, HIGH + 2)?, "the lower one is held as well")?;
    drop(higher);
    expect(goes_first(bench, HIGH + 1)?, "the higher one has ended")?;
    expect(!goes_first(bench, HIGH)?, "the lower one is held")?;
    drop(lower);
    Ok(())
}

fn refusals(bench: &Bench) -> Check {
    let ceilings = Ceilings::of(ThreadId::current());
    let common = bench.common();
    for ceiling in [LOW, HIGHEST + 1] {
        let refusal = mutex_of(common, FIRST, ceiling).lock(&ceilings).map(|_| ());
        refused(refusal, Error::PriorityTooHigh, "a ceiling that does not fit")?;
    }
    expect(futex::set_ceiling(None)? == MAIN as u8, "its own priority is what it was")?;
    expect(goes_first(bench, MAIN + 1)?, "no ceiling was kept")?;
    let most = Ceilings::MOST;
    let mutexes = [0, 1, 2, 3, 4, 5, 6, 7, most].map(|n| mutex_at(common, FIRST + n));
    let held = [0, 1, 2, 3, 4, 5, 6, 7].map(|n| mutexes[n].lock(&ceilings));
    expect(held.iter().all(Result::is_ok), "as many as there may be")?;
    refused(mutexes[most].lock(&ceilings).map(|_| ()), Error::TooDeep, "one more")
}
