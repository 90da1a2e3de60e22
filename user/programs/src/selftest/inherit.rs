//! Inheriting mutexes, through `sync`.

use super::bench::*;
use rt::abi::call::ThreadState;
use rt::{Env, Error, Slot, Wait, Words, cap, system, thread};
use sync::{InheritMutex, ThreadId};

pub const CHECKS: Checks = &[
    ("the most urgent thread owns an inheriting mutex next", by_priority),
    ("an owner goes before what would delay those that wait", no_inversion),
    ("a deadline ends a wait for an inheriting mutex", deadline),
    ("an owner ends, and the next one learns it", owner_ends),
];

/// Where the mutex is in the common words, and how many it has.
const MUTEX: usize = 8;
const WORDS: usize = 16;
/// A common word that says that a thread has run.
const RAN: usize = 40;

fn mutex_of(common: Words) -> InheritMutex {
    InheritMutex::new(common.part(MUTEX, WORDS))
}

/// Helper: locks the mutex, and writes down that it came.
fn come(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    if let Ok(guard) = mutex_of(me.common).lock(ThreadId::current()) {
        let came = guard.get(0);
        guard.set(0, came + 1);
        guard.set(1 + came as usize % 8, me.n as u64);
    }
}

fn by_priority(bench: &Bench) -> Check {
    let me = ThreadId::current();
    let mutex = mutex_of(bench.common());
    let guard = mutex.lock(me)?;
    for priority in [LOW, HIGH, MAIN] {
        let helper = bench.helper(priority, come, Slot::NONE, Slot::NONE)?;
        bench.settle();
        let waits = thread::state(helper.slot)? == ThreadState::Waiting as u64;
        expect(waits, "a helper waits for the mutex")?;
    }
    refused(mutex.lock(me).map(|_| ()), Error::SelfSend, "a thread waits for itself")?;
    guard.unlock()?;
    bench.settle();
    let guard = mutex.lock(me)?;
    let order = [0, 1, 2, 3].map(|i| guard.get(i));
    expect(order == [3, 2, 3, 1], "in the order of priorities")?;
    guard.unlock()?;
    expect(bench.common().get(MUTEX) == 0, "free again")
}

/// Helper: owns the mutex, sleeps, and works for a while before it gives it up.
fn own_and_work(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    if let Ok(_guard) = mutex_of(me.common).lock(ThreadId::current()) {
        let begin = system::clock();
        system::sleep(2 * MS);
        while system::clock() < begin + 5 * MS {}
    }
}

/// Helper: says that it runs once it has slept.
fn disturb(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    system::sleep(3 * MS);
    me.common.set(RAN, 1);
}

fn no_inversion(bench: &Bench) -> Check {
    let (me, common) = (ThreadId::current(), bench.common());
    let mutex = mutex_of(common);
    common.set(RAN, 0);
    bench.helper(LOW, own_and_work, Slot::NONE, Slot::NONE)?;
    bench.helper(LOW + 1, disturb, Slot::NONE, Slot::NONE)?;
    system::sleep(MS);
    let guard = mutex.lock(me)?;
    // Where a tree orders threads, it does not follow those that wait.
    let ran = common.get(RAN) != 0;
    expect(!ran || bench.has_tree()?, "a thread between the two has not run")?;
    guard.unlock()?;
    bench.settle();
    expect(common.get(RAN) == 1, "it runs then")
}

fn deadline(bench: &Bench) -> Check {
    let common = bench.common();
    let mutex = mutex_of(common);
    bench.helper(HIGH, own_and_work, Slot::NONE, Slot::NONE)?;
    let until = system::clock() + MS;
    let result = mutex.lock_within(ThreadId::current(), Wait::until(until));
    refused(result.map(|_| ()), Error::Timeout, "it is not given up in time")?;
    expect(system::clock() >= until, "not before the deadline")?;
    expect(common.get(MUTEX) >> 31 == 0, "no thread waits, and the mark is gone")?;
    mutex.lock(ThreadId::current())?.unlock()?;
    expect(common.get(MUTEX) == 0, "free again")
}

/// Helper: owns the mutex for ever.
fn own(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    if let Ok(_guard) = mutex_of(me.common).lock(ThreadId::current()) {
        system::sleep(10_000 * MS);
    }
}

fn owner_ends(bench: &Bench) -> Check {
    let (me, common) = (ThreadId::current(), bench.common());
    let mutex = mutex_of(common);
    let owner = bench.helper(HIGH, own, Slot::NONE, Slot::NONE)?;
    bench.settle();
    bench.helper(HIGH, come, Slot::NONE, Slot::NONE)?;
    bench.settle();
    cap::destroy(owner.slot)?;
    bench.settle();
    expect(mutex_of(common).lock(me).is_err(), "the next owner has not repaired the words")?;
    expect(common.get(MUTEX + 2) == 1, "a waiter came")?;
    common.part(MUTEX, WORDS).set(1, 0);
    let owner = bench.helper(HIGH, own, Slot::NONE, Slot::NONE)?;
    bench.settle();
    cap::destroy(owner.slot)?;
    let guard = mutex.lock(me)?;
    expect(guard.owner_died(), "its owner has ended before any thread waited")?;
    guard.make_consistent();
    guard.unlock()?;
    let guard = mutex.lock(me)?;
    expect(!guard.owner_died(), "the words are right again")?;
    guard.unlock()?;
    expect(common.get(MUTEX) == 0, "free again")
}
