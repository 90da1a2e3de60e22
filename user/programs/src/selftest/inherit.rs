//! Inheriting mutexes and conditions, through `sync`.

use super::bench::*;
use rt::abi::call::ThreadState;
use rt::futex::Scope;
use rt::{Env, Error, Slot, Wait, Words, cap, system, thread};
use sync::{HelperId, InheritCondition, InheritMutex, ThreadId};

pub const CHECKS: Checks = &[
    ("the most urgent thread owns an inheriting mutex next", by_priority),
    ("an owner goes before what would delay those that wait", no_inversion),
    ("a deadline ends a wait for an inheriting mutex", deadline),
    ("an owner ends, and the next one learns it", owner_ends),
    ("an inheriting mutex is of the domain that locked it first", of_one_domain),
    ("a helper goes before what would delay those that wait", no_inversion_of_a_condition),
    ("threads that wait for a condition are woken by priority", woken_by_priority),
    ("helpers of a condition come and go", helpers),
    ("a deadline ends a wait for a condition with helpers", condition_deadline),
    ("an owner's end ends a wait while something holds", condition_behind_an_end),
];

/// Where the mutex is in the common words, and how many it has.
const MUTEX: usize = 8;
const WORDS: usize = 16;
/// Where its condition is.
const CONDITION: usize = 32;
/// A common word that says that a thread has run.
const RAN: usize = 40;

fn mutex_of(common: Words) -> InheritMutex {
    InheritMutex::new(common.part(MUTEX, WORDS))
}

fn condition_of(common: Words) -> InheritCondition {
    InheritCondition::new(common, CONDITION)
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

/// Another domain's mutex is refused while it is free and while it is locked; what that domain has
/// left in its words stays there.
fn of_one_domain(bench: &Bench) -> Check {
    let (me, mutex) = (ThreadId::current(), mutex_of(bench.common()));
    mutex.lock(me)?.unlock()?;
    let (state, left) = (bench.common().get(MUTEX), bench.common().get(MUTEX + 1));
    expect(state == 0 && left >> 32 != 0, "it says of which domain it is")?;
    let other = left ^ 2 << 32;
    bench.common().set(MUTEX + 1, other);
    for owner in [0, u64::from(me.of(Scope::Domain) ^ 1)] {
        bench.common().set(MUTEX, owner);
        refused(mutex.lock(me).map(|_| ()), Error::OtherDomain, "another domain's mutex")?;
        let words = (bench.common().get(MUTEX), bench.common().get(MUTEX + 1));
        expect(words == (owner, other), "it is as it was")?;
    }
    bench.common().set(MUTEX, 0);
    bench.common().set(MUTEX + 1, left);
    mutex.lock(me)?.unlock()?;
    Ok(())
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
    refused(mutex.lock(me).map(|_| ()), Error::AlreadyOwner, "a thread waits for itself")?;
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

/// The word behind the mutex that is waited for.
const READY: usize = 9;
/// The word in which a thread leaves its number as a helper.
const HELPER: usize = 10;

/// The calling thread becomes a helper of the condition.
fn join_helpers(common: Words) {
    let me = ThreadId::current();
    if let Ok(guard) = mutex_of(common).lock(me) {
        let joined = condition_of(common).helpers_add(&guard, me.helper());
        guard.set(HELPER, me.helper().number().into());
        common.set(RAN + 1, u64::from(joined.is_ok()));
    }
}

/// Helper: becomes a helper of the condition for ever.
fn help_idly(env: &Env, argument: u64) {
    join_helpers(Me::new(env, argument).common);
    system::sleep(10_000 * MS);
}

/// Helper: becomes a helper of the condition, works for a while, and makes it true.
fn help(env: &Env, argument: u64) {
    let common = Me::new(env, argument).common;
    let (me, mutex, condition) = (ThreadId::current(), mutex_of(common), condition_of(common));
    join_helpers(common);
    let begin = system::clock();
    system::sleep(2 * MS);
    while system::clock() < begin + 5 * MS {}
    if let Ok(guard) = mutex.lock(me) {
        guard.set(READY, 1);
        common.set(RAN + 2, u64::from(condition.notify_all(&guard).is_ok()));
    }
}

fn no_inversion_of_a_condition(bench: &Bench) -> Check {
    let (me, common) = (ThreadId::current(), bench.common());
    let (mutex, condition) = (mutex_of(common), condition_of(common));
    common.set(RAN, 0);
    bench.helper(LOW, help, Slot::NONE, Slot::NONE)?;
    bench.helper(LOW + 1, disturb, Slot::NONE, Slot::NONE)?;
    system::sleep(MS);
    let mut guard = mutex.lock(me)?;
    condition.wait_while(&mut guard, Wait::NEVER, |words| words.get(READY) == 0)?;
    let ran = common.get(RAN) != 0;
    expect(!ran || bench.has_tree()?, "a thread between the two has not run")?;
    guard.set(READY, 0);
    guard.unlock()?;
    bench.settle();
    expect([RAN, RAN + 1, RAN + 2].map(|word| common.get(word)) == [1; 3], "it runs then")?;
    end(bench)
}

/// Nothing is left of a check: its helpers have ended, and no thread waits.
fn end(bench: &Bench) -> Check {
    let common = bench.common();
    expect(common.get(MUTEX) == 0, "the mutex is free")?;
    expect(common.get(CONDITION) >> 32 == 0, "no thread waits for the condition")?;
    expect(common.get(CONDITION + 1) == 0, "none is counted")?;
    (CONDITION..CONDITION + InheritCondition::WORDS).for_each(|word| common.set(word, 0));
    Ok(())
}

/// Helper: waits for the condition, and writes down that it came.
fn come_when_true(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let (mutex, condition) = (mutex_of(me.common), condition_of(me.common));
    if let Ok(mut guard) = mutex.lock(ThreadId::current())
        && condition.wait(&mut guard).is_ok()
    {
        let came = guard.get(0);
        guard.set(0, came + 1);
        guard.set(1 + came as usize % 8, me.n as u64);
    }
}

fn woken_by_priority(bench: &Bench) -> Check {
    let me = ThreadId::current();
    let (mutex, condition) = (mutex_of(bench.common()), condition_of(bench.common()));
    mutex.lock(me)?.set(0, 0);
    for priority in [LOW, HIGH, MAIN] {
        bench.helper(priority, come_when_true, Slot::NONE, Slot::NONE)?;
        bench.settle();
    }
    let guard = mutex.lock(me)?;
    condition.notify_one(&guard)?;
    guard.unlock()?;
    bench.settle();
    let guard = mutex.lock(me)?;
    expect([0, 1].map(|word| guard.get(word)) == [1, 2], "the highest alone")?;
    condition.notify_all(&guard)?;
    guard.unlock()?;
    bench.settle();
    let guard = mutex.lock(me)?;
    let order = [0, 1, 2, 3].map(|word| guard.get(word));
    expect(order == [3, 2, 3, 1], "in the order of priorities")?;
    guard.unlock()?;
    end(bench)
}

fn helpers(bench: &Bench) -> Check {
    let (me, common) = (ThreadId::current(), bench.common());
    let (mutex, condition) = (mutex_of(common), condition_of(common));
    let helper = bench.helper(HIGH, help_idly, Slot::NONE, Slot::NONE)?;
    bench.settle();
    let guard = mutex.lock(me)?;
    let other = HelperId::from_number(guard.get(HELPER) as u32);
    let unknown = HelperId::from_number(0);
    refused(condition.helpers_add(&guard, other), Error::HelpsAlready, "it helps")?;
    refused(condition.helpers_add(&guard, unknown), Error::Stale, "no thread")?;
    refused(condition.helpers_del(&guard, me.helper()), Error::NoHelper, "it does not help")?;
    condition.helpers_add(&guard, me.helper())?;
    cap::destroy(helper.slot)?;
    // Two that help, one of which has ended, and room for two others.
    for _ in 0..2 {
        refused(condition.helpers_add(&guard, other), Error::Stale, "it has ended")?;
    }
    condition.helpers_del(&guard, other)?;
    condition.helpers_del(&guard, me.helper())?;
    guard.set(READY, 0);
    guard.unlock()?;
    end(bench)
}

fn condition_deadline(bench: &Bench) -> Check {
    let (me, common) = (ThreadId::current(), bench.common());
    let (mutex, condition) = (mutex_of(common), condition_of(common));
    let mut guard = mutex.lock(me)?;
    condition.helpers_add(&guard, me.helper())?;
    let until = system::clock() + MS;
    let result = condition.wait_within(&mut guard, Wait::until(until));
    refused(result, Error::Timeout, "no thread wakes it")?;
    expect(system::clock() >= until, "not before the deadline")?;
    guard.unlock()?;
    end(bench)
}

/// Waits for the condition, is told that an owner has ended, and puts the words right.
fn wait_behind_an_end(common: Words, wait: Wait) {
    let (mutex, condition) = (mutex_of(common), condition_of(common));
    if let Ok(mut guard) = mutex.lock(ThreadId::current()) {
        let ended = condition.wait_while(&mut guard, wait, |words| words.get(READY) == 0);
        let is_told = ended == Err(Error::WrongState) && guard.owner_died();
        guard.make_consistent();
        common.add(RAN, u64::from(is_told));
    }
}

/// Helper: is woken by the owner before that ends.
fn wait_to_be_woken(env: &Env, argument: u64) {
    wait_behind_an_end(Me::new(env, argument).common, Wait::NEVER);
}

/// Helper: waits up to an instant at which the owner has not ended yet.
fn wait_soon(env: &Env, argument: u64) {
    let until = Wait::until(system::clock() + 4 * MS);
    wait_behind_an_end(Me::new(env, argument).common, until);
}

/// Helper: owns the mutex for ever, and wakes a thread.
fn wake_and_own(env: &Env, argument: u64) {
    let common = Me::new(env, argument).common;
    if let Ok(guard) = mutex_of(common).lock(ThreadId::current()) {
        let _ = condition_of(common).notify_one(&guard);
        system::sleep(10_000 * MS);
    }
}

fn condition_behind_an_end(bench: &Bench) -> Check {
    let common = bench.common();
    common.set(RAN, 0);
    mutex_of(common).lock(ThreadId::current())?.set(READY, 0);
    let runs: [(Work, Work); 2] = [(wait_to_be_woken, wake_and_own), (wait_soon, own)];
    for (told, (waits, owns)) in (1..).zip(runs) {
        bench.helper(HIGH, waits, Slot::NONE, Slot::NONE)?;
        bench.settle();
        let owner = bench.helper(HIGH, owns, Slot::NONE, Slot::NONE)?;
        system::sleep(6 * MS);
        expect(common.get(RAN) < told, "the mutex is owned")?;
        cap::destroy(owner.slot)?;
        bench.settle();
        expect(common.get(RAN) == told, "the thread is told")?;
    }
    end(bench)
}
