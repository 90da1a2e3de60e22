//! Changes that one CPU makes to waits of another one: that CPU is asked to follow if it runs
//! nothing above. With one CPU there is no other to ask.

use super::bench::*;
use super::cpus::{cpus, there};
use rt::abi::call::ThreadState;
use rt::{Env, Slot, Words, system, thread};
use sync::{InheritMutex, ThreadId};

pub const CHECKS: Checks =
    &[("an owner there goes before what runs there once its waiter is above that", reaches)];

/// Where the mutex is in the common words.
const MUTEX: usize = 8;
/// Changes of a priority: in one of them at least an interrupt comes, where these come by chance.
const ROUNDS: u64 = 100;
/// How long a CPU is given to react, on a host that may do something else meanwhile.
const REACTS: u64 = 20 * MS;

fn mutex_of(common: Words) -> InheritMutex {
    InheritMutex::new(common.part(MUTEX, 2))
}

/// Helper: owns the mutex for ever, computes, and counts in its word 8.
fn own(env: &Env, argument: u64) {
    if let Ok(_guard) = mutex_of(Me::new(env, argument).common).lock(ThreadId::current()) {
        compute(env, argument);
    }
}

/// Helper: computes, and counts in its word 8.
fn compute(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    loop {
        system::work(200);
        me.own.add(8, 1);
    }
}

/// Helper: waits for the mutex.
fn come(env: &Env, argument: u64) {
    let _ = mutex_of(Me::new(env, argument).common).lock(ThreadId::current());
}

/// A thread of the other CPU that owns the mutex, and another one there that waits for it.
fn pair(bench: &Bench) -> Result<[Helper; 2], Why> {
    let owner = there(bench, LOW, own, Slot::NONE)?;
    bench.settle();
    let waiter = there(bench, LOW + 1, come, Slot::NONE)?;
    bench.settle();
    let waits = thread::state(waiter.slot)? == ThreadState::Waiting as u64;
    expect(waits, "it waits for the mutex")?;
    thread::set_priority(waiter.slot, LOW)?;
    Ok([owner, waiter])
}

/// The suite's own thread, which is above all, does not wait meanwhile.
fn reaches(bench: &Bench) -> Check {
    if cpus()?.0 == 1 {
        return Ok(());
    }
    let [owner, waiter] = pair(bench)?;
    let between = there(bench, LOW + 1, compute, Slot::NONE)?;
    bench.settle();
    let goes_on = |helper: Helper| {
        let (words, end) = (bench.words(helper), system::clock() + REACTS);
        let before = words.get(8);
        while words.get(8) <= before + 1 && system::clock() < end {
            system::work(1_000);
        }
        words.get(8) > before + 1
    };
    for _ in 0..ROUNDS {
        expect(goes_on(between), "it is above the owner")?;
        thread::set_priority(waiter.slot, LOW + 2)?;
        expect(goes_on(owner), "the owner is above it now")?;
        thread::set_priority(waiter.slot, LOW)?;
    }
    Ok(())
}
