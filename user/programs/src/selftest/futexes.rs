//! Mutexes and conditions: the kernel's calls, then what `sync` builds of them.

use super::bench::*;
use rt::abi::call::ThreadState;
use rt::futex::{self, Identity, Scope, WAITERS};
use rt::thread::{self, Registers};
use rt::{At, Env, Error, Mapping, MemoryObject, Rights, Slot, Wait, Words, cap, system};
use sync::{Barrier, Condvar, Guard, Mutex, Queue, RwLock, Semaphore, ThreadId};

pub const CHECKS: Checks = &[
    ("ids mean something in one scope alone", ids),
    ("a mutex goes to the thread that has waited longest", in_order),
    ("a wait for a word that has changed", changed),
    ("a deadline ends a wait", deadline),
    ("waiters that are cancelled or destroyed leave the queue", leave),
    ("a condition wakes one thread, or all", conditions),
    ("a wait for a condition ends at a deadline, in both queues", condition_deadline),
    ("words that lie", lies),
    ("words that are not there", not_there),
    ("shared memory at two addresses", shared),
    ("threads that count together", counting),
    ("a semaphore", semaphore),
    ("a barrier", barrier),
    ("a bounded queue", queue),
    ("a reader-writer lock", readers),
];

/// The common words of a mutex and what it protects, and of a condition.
const MUTEX: usize = 8;
const CONDITION: usize = 24;
const OTHERS: usize = 28;

fn mutex_of(common: Words) -> Mutex {
    Mutex::new(common.part(MUTEX, 16), Scope::Domain)
}

fn condition_of(common: Words) -> Condvar {
    Condvar::new(common, CONDITION, Scope::Domain)
}

/// The two words of a mutex.
fn words(common: Words) -> (u32, u32) {
    let pair = common.get(MUTEX);
    (pair as u32, (pair >> 32) as u32)
}

/// Writes down which helper comes: word 0 of what the mutex protects says how many have.
fn enter(guard: &Guard, n: usize) {
    let came = guard.get(0);
    guard.set(0, came + 1);
    guard.set(1 + came as usize % 8, n as u64);
}

fn is_waiting(helper: Helper) -> Check {
    let waits = thread::state(helper.slot)? == ThreadState::Waiting as u64;
    expect(waits, "a helper waits for the mutex")
}

/// Helper: leaves its ids in words 8 and 9.
fn tell_ids(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let Identity { own, shared, .. } = futex::identity();
    me.own.set(8, own.into());
    me.own.set(9, shared.into());
}

fn ids(bench: &Bench) -> Check {
    let Identity { own, shared, .. } = futex::identity();
    let helper = bench.helper(HIGH, tell_ids, Slot::NONE, Slot::NONE)?;
    bench.settle();
    let words = bench.words(helper);
    let all = [own.into(), shared.into(), words.get(8), words.get(9)];
    expect(all.iter().all(|id| (1..u64::from(WAITERS)).contains(id)), "31 bits, not 0")?;
    let differ = (0..4).all(|i| (0..i).all(|j| all[i] != all[j]));
    expect(differ, "two threads, two scopes, four ids")?;
    let again = futex::identity();
    expect((again.own, again.shared) == (own, shared), "they stay")
}

/// Helper: locks the mutex, writes down that it came, and gives it up.
fn come(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let mutex = mutex_of(me.common);
    me.own.set(8, futex::identity().own.into());
    if let Ok(guard) = mutex.lock(ThreadId::current()) {
        enter(&guard, me.n);
    }
}

fn in_order(bench: &Bench) -> Check {
    let (me, common) = (ThreadId::current(), bench.common());
    let mutex = mutex_of(common);
    let guard = mutex.lock(me)?;
    expect(words(common) == (me.of(Scope::Domain), 0), "locked, and no thread waits")?;
    let mut helpers = [None; 3];
    for (helper, priority) in helpers.iter_mut().zip([LOW, HIGH, MAIN]) {
        let new = bench.helper(priority, come, Slot::NONE, Slot::NONE)?;
        bench.settle();
        is_waiting(new)?;
        *helper = Some(new);
    }
    let first = helpers[0].map_or(0, |helper| bench.words(helper).get(8) as u32);
    expect(words(common) == (me.of(Scope::Domain) | WAITERS, first), "the first one is named")?;
    expect(mutex.try_lock(me).is_none(), "it is not free")?;
    refused(mutex.lock(me).map(|_| ()), Error::AlreadyOwner, "a thread waits for itself")?;
    guard.unlock()?;
    bench.settle();
    let guard = mutex.lock(me)?;
    let order = [0, 1, 2, 3].map(|i| guard.get(i));
    expect(order == [3, 1, 2, 3], "in the order of arrival, whatever the priorities")?;
    guard.unlock()?;
    expect(words(common) == (0, 0), "free again")
}

fn changed(bench: &Bench) -> Check {
    let common = bench.common();
    let at = common.address() + 8 * MUTEX as u64;
    common.set(MUTEX, u64::from(WAITERS | 5));
    let result = futex::mutex_wait(at, Scope::Domain, WAITERS | 6, Wait::NEVER);
    refused(result, Error::Changed, "another owner")?;
    let result = futex::mutex_wait(at, Scope::Domain, 5, Wait::NEVER);
    refused(result, Error::InvalidArgument, "without the mark")?;
    let result = futex::mutex_wait(at, Scope::Domain, WAITERS | 5, Wait::ZERO);
    refused(result, Error::Timeout, "it may not wait")?;
    expect(words(common) == (WAITERS | 5, 0), "nothing has changed")?;
    futex::mutex_wake(at, Scope::Domain)?;
    expect(words(common) == (0, 0), "a wake-up without a waiter frees the mutex")
}

fn deadline(bench: &Bench) -> Check {
    let common = bench.common();
    common.set(MUTEX, 5);
    let until = system::clock() + 2 * MS;
    let mutex = mutex_of(common);
    let result = mutex.lock_within(ThreadId::current(), Wait::until(until));
    refused(result.map(|_| ()), Error::Timeout, "no thread gives it up")?;
    expect(system::clock() >= until, "not before the deadline")?;
    expect(words(common) == (5, 0), "the queue is empty and the mark is gone")
}

fn leave(bench: &Bench) -> Check {
    let (me, common) = (ThreadId::current(), bench.common());
    let mutex = mutex_of(common);
    let guard = mutex.lock(me)?;
    let mut last = 0;
    for (n, ends) in [(1, true), (2, false), (3, true)] {
        let helper = bench.helper(HIGH, come, Slot::NONE, Slot::NONE)?;
        bench.settle();
        is_waiting(helper)?;
        last = n;
        if ends && n == 1 {
            cap::destroy(helper.slot)?;
            expect(words(common) == (me.of(Scope::Domain), 0), "the queue is empty")?;
        } else if ends {
            thread::suspend(helper.slot)?;
            thread::set(helper.slot, Registers { cancel: true, ..Registers::default() })?;
            let state = thread::state(helper.slot)?;
            expect(state == ThreadState::Suspended as u64, "it waits no more")?;
        }
    }
    guard.unlock()?;
    bench.settle();
    let guard = mutex.lock(me)?;
    expect(last == 3 && (guard.get(0), guard.get(1)) == (1, 2), "the one that is left came")
}

/// Helper: waits for the condition once, and writes down that it came.
fn await_condition(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let (mutex, condition) = (mutex_of(me.common), condition_of(me.common));
    if let Ok(mut guard) = mutex.lock(ThreadId::current())
        && condition.wait(&mut guard).is_ok()
    {
        enter(&guard, me.n);
    }
}

fn conditions(bench: &Bench) -> Check {
    let (me, common) = (ThreadId::current(), bench.common());
    let (mutex, condition) = (mutex_of(common), condition_of(common));
    for priority in [LOW, HIGH, MAIN] {
        let helper = bench.helper(priority, await_condition, Slot::NONE, Slot::NONE)?;
        bench.settle();
        is_waiting(helper)?;
    }
    let came = |expected: &[u64]| -> Check {
        let guard = mutex.lock(me)?;
        let same = expected.iter().enumerate().all(|(i, n)| guard.get(i) == *n);
        expect(same, "who came, in order")
    };
    let guard = mutex.lock(me)?;
    condition.notify_one(&guard)?;
    expect(words(common).0 & WAITERS != 0, "it waits for the mutex now")?;
    expect(guard.get(0) == 0, "it does not run")?;
    guard.unlock()?;
    bench.settle();
    came(&[1, 1])?;
    let guard = mutex.lock(me)?;
    condition.notify_all(&guard)?;
    guard.unlock()?;
    bench.settle();
    came(&[3, 1, 2, 3])?;
    expect(words(common) == (0, 0), "the mutex is free")?;
    expect(common.get(CONDITION) >> 32 == 0, "no thread waits for the condition")
}

/// Helper: waits for the condition until a deadline, and reports how that ended in word 8.
fn await_condition_briefly(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let (mutex, condition) = (mutex_of(me.common), condition_of(me.common));
    if let Ok(mut guard) = mutex.lock(ThreadId::current()) {
        let until = Wait::until(system::clock() + 4 * MS);
        let ended = condition.wait_within(&mut guard, until);
        me.own.set(8, ended.map_or_else(|error| error as u64, |()| 100));
        enter(&guard, me.n);
    }
}

fn condition_deadline(bench: &Bench) -> Check {
    let (me, common) = (ThreadId::current(), bench.common());
    let (mutex, condition) = (mutex_of(common), condition_of(common));
    for moved in [false, true] {
        let helper = bench.helper(HIGH, await_condition_briefly, Slot::NONE, Slot::NONE)?;
        bench.settle();
        let guard = mutex.lock(me)?;
        if moved {
            condition.notify_one(&guard)?;
        }
        // The mutex is not given up before the deadline has passed.
        system::sleep(6 * MS);
        expect(bench.words(helper).get(8) == 0, "it comes back with the mutex alone")?;
        guard.unlock()?;
        bench.settle();
        expect(bench.words(helper).get(8) == Error::Timeout as u64, "it has timed out")?;
    }
    expect(words(common) == (0, 0), "the mutex is free")
}

fn lies(bench: &Bench) -> Check {
    let (me, common) = (ThreadId::current(), bench.common());
    let mutex = mutex_of(common);
    let at = common.address() + 8 * MUTEX as u64;
    let guard = mutex.lock(me)?;
    let mut helpers = [None; 2];
    for helper in &mut helpers {
        *helper = Some(bench.helper(HIGH, come, Slot::NONE, Slot::NONE)?);
        bench.settle();
    }
    let id = |n: usize| helpers[n].map_or(0, |helper| bench.words(helper).get(8));
    let state = u64::from(words(common).0);
    let Identity { own, shared, .. } = futex::identity();
    let lies = [id(1), own.into(), shared.into(), id(0) ^ 1, id(0) | 1 << 31, 0x7fff_ffff];
    for lie in lies {
        common.set(MUTEX, state | lie << 32);
        let result = futex::mutex_wake(at, Scope::Domain);
        refused(result, Error::BrokenQueue, "a wake-up by a word that lies")?;
        let result = futex::mutex_wait(at, Scope::Domain, state as u32, Wait::NEVER);
        refused(result, Error::BrokenQueue, "a wait behind a word that lies")?;
    }
    common.set(MUTEX, state | id(0) << 32);
    let result = futex::mutex_wake(at, Scope::Shared);
    refused(result, Error::BrokenQueue, "the id of another scope")?;
    let result = futex::cond_requeue(at, Scope::Domain, true);
    refused(result, Error::BrokenQueue, "the head of another kind of queue")?;
    // The words of another mutex name the head of this one.
    common.set(OTHERS, state | id(0) << 32);
    let result = futex::mutex_wake(common.address() + 8 * OTHERS as u64, Scope::Domain);
    refused(result, Error::BrokenQueue, "the head of another mutex")?;
    guard.unlock()?;
    bench.settle();
    expect(mutex.lock(me)?.get(0) == 2, "with the right word all goes on")
}

fn not_there(bench: &Bench) -> Check {
    let common = bench.common();
    let pair = common.address() + 8 * OTHERS as u64;
    let pool = bench.pool(2);
    let memory = MemoryObject::create(&pool, 1)?;
    let page = Mapping::new(&memory, At::Address(FIRST), Rights::READ)?;
    let nowhere = [pair + 4, pair + 1, 0, SECOND, page.address(), abi::USER_TOP - 8, abi::USER_TOP];
    let kernel = [0xffff_8000_0000_0000, u64::MAX - 7, 1 << 47];
    for at in nowhere.into_iter().chain(kernel) {
        for scope in [Scope::Domain, Scope::Shared] {
            let wait = futex::mutex_wait(at, scope, WAITERS, Wait::ZERO);
            refused(wait, Error::BadAddress, "a mutex to wait for")?;
            refused(futex::mutex_wake(at, scope), Error::BadAddress, "a mutex")?;
            let wait = futex::cond_wait(at, scope, 0, pair, Wait::ZERO);
            refused(wait, Error::BadAddress, "a condition to wait for")?;
            let wait = futex::cond_wait(pair, scope, 0, at, Wait::ZERO);
            refused(wait, Error::BadAddress, "its mutex")?;
            refused(futex::cond_requeue(at, scope, true), Error::BadAddress, "a condition")?;
        }
    }
    let same = futex::cond_wait(pair, Scope::Domain, 0, pair, Wait::ZERO);
    refused(same, Error::InvalidArgument, "a condition is not its own mutex")
}

/// Where memory is mapped twice.
const FIRST: u64 = 0x9_0000_0000;
const SECOND: u64 = 0x9_1000_0000;

/// Helper: waits for the mutex at the second address; the status in word 8.
fn wait_at_second(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let ended = futex::mutex_wait(SECOND, Scope::Shared, WAITERS | 7, Wait::NEVER);
    me.own.set(9, futex::identity().shared.into());
    me.own.set(8, ended.map_or_else(|error| error as u64, |()| 100));
}

fn shared(bench: &Bench) -> Check {
    let pool = bench.pool(4);
    let memory = MemoryObject::create(&pool, 1)?;
    let rights = Rights::READ | Rights::WRITE;
    let page = Mapping::new(&memory, At::Address(FIRST), rights)?;
    let mut other = Mapping::new(&memory, At::Address(SECOND), rights)?;
    page.set(0, (WAITERS | 7).into());
    let helper = bench.helper(HIGH, wait_at_second, Slot::NONE, Slot::NONE)?;
    bench.settle();
    is_waiting(helper)?;
    let result = futex::mutex_wake(FIRST, Scope::Domain);
    refused(result, Error::BrokenQueue, "a thread that waits in another scope")?;
    other.protect(Rights::READ)?;
    let result = futex::mutex_wake(FIRST, Scope::Shared);
    refused(result, Error::BrokenQueue, "the waiter may not write the words any more")?;
    other.protect(rights)?;
    futex::mutex_wake(FIRST, Scope::Shared)?;
    bench.settle();
    let words = bench.words(helper);
    expect(words.get(8) == 100, "it was woken by the other address")?;
    expect(page.get(0) == words.get(9), "it owns the mutex by its id for shared memory")
}

/// Rounds of helpers that count together.
const ROUNDS: u64 = 60;

/// Helper: adds one so many times, and lets others run in the middle.
fn add(env: &Env, argument: u64) {
    let (me, id) = (Me::new(env, argument), ThreadId::current());
    let (mutex, condition) = (mutex_of(me.common), condition_of(me.common));
    for _ in 0..ROUNDS {
        let Ok(guard) = mutex.lock(id) else { return };
        let count = guard.get(0);
        let _ = thread::yield_now();
        guard.set(0, count + 1);
    }
    if let Ok(guard) = mutex.lock(id) {
        guard.set(1, guard.get(1) + 1);
        let _ = condition.notify_one(&guard);
    }
}

fn counting(bench: &Bench) -> Check {
    let (me, common) = (ThreadId::current(), bench.common());
    let (mutex, condition) = (mutex_of(common), condition_of(common));
    let mut guard = mutex.lock(me)?;
    for priority in [MAIN, MAIN, LOW, HIGH] {
        bench.helper(priority, add, Slot::NONE, Slot::NONE)?;
    }
    let limit = Wait::until(system::clock() + 2_000 * MS);
    condition.wait_while(&mut guard, limit, |words| words.get(1) < 4)?;
    expect(guard.get(0) == 4 * ROUNDS, "no addition is lost")?;
    guard.unlock()?;
    expect(words(common) == (0, 0), "the mutex is free")
}

/// Helper: takes a permit, and counts in its word 8.
fn take_permits(env: &Env, argument: u64) {
    let (me, id) = (Me::new(env, argument), ThreadId::current());
    let permits = Semaphore::new(me.common.part(MUTEX, Semaphore::WORDS), Scope::Domain);
    while permits.take(id, Wait::NEVER).is_ok() {
        me.own.add(8, 1);
    }
}

fn semaphore(bench: &Bench) -> Check {
    let me = ThreadId::current();
    let permits = Semaphore::new(bench.common().part(MUTEX, Semaphore::WORDS), Scope::Domain);
    permits.give(me)?;
    permits.take(me, Wait::ZERO)?;
    refused(permits.take(me, Wait::ZERO), Error::Timeout, "no permit is left")?;
    let helpers = [
        bench.helper(HIGH, take_permits, Slot::NONE, Slot::NONE)?,
        bench.helper(HIGH, take_permits, Slot::NONE, Slot::NONE)?,
    ];
    bench.settle();
    for _ in 0..4 {
        permits.give(me)?;
        bench.settle();
    }
    let taken = helpers.map(|helper| bench.words(helper).get(8));
    expect(taken == [2, 2], "permits are handed out in turn")
}

/// Threads that meet, and how often.
const MEMBERS: u64 = 3;
const MEETINGS: u64 = 4;

/// Helper: passes the barrier, and counts in its word 8.
fn meet(env: &Env, argument: u64) {
    let (me, id) = (Me::new(env, argument), ThreadId::current());
    let barrier = Barrier::new(me.common.part(MUTEX, Barrier::WORDS), MEMBERS, Scope::Domain);
    for _ in 0..MEETINGS {
        me.own.add(8, 1);
        if barrier.wait(id, Wait::NEVER).is_err() {
            return;
        }
    }
}

fn barrier(bench: &Bench) -> Check {
    let (me, words) = (ThreadId::current(), bench.common().part(MUTEX, Barrier::WORDS));
    let barrier = Barrier::new(words, MEMBERS, Scope::Domain);
    let soon = Wait::until(system::clock() + MS);
    refused(barrier.wait(me, soon), Error::Timeout, "no other thread comes")?;
    let mut helpers = [None; 2];
    for (helper, priority) in helpers.iter_mut().zip([LOW, HIGH]) {
        *helper = Some(bench.helper(priority, meet, Slot::NONE, Slot::NONE)?);
    }
    for round in 1..=MEETINGS {
        bench.settle();
        let came = helpers.map(|helper| helper.map_or(0, |helper| bench.words(helper).get(8)));
        expect(came == [round; 2], "all wait for the last one")?;
        expect(barrier.wait(me, Wait::NEVER)?, "this thread is the last")?;
    }
    Ok(())
}

/// Values that go through a queue of three places.
const VALUES: u64 = 40;

fn queue_of(common: Words) -> Queue {
    Queue::new(common.part(MUTEX, Queue::WORDS + 3), Scope::Domain)
}

/// Longer than all that injected interrupts delay while [`VALUES`] are passed on, of up to a second
/// each.
const LONG: u64 = 1_000_000 * MS;

/// Helper: sends numbers in a row.
fn produce(env: &Env, argument: u64) {
    let (me, id) = (Me::new(env, argument), ThreadId::current());
    for value in 0..VALUES {
        if queue_of(me.common).push(id, value, Wait::NEVER).is_err() {
            return;
        }
    }
}

fn queue(bench: &Bench) -> Check {
    let (me, queue) = (ThreadId::current(), queue_of(bench.common()));
    refused(queue.pop(me, Wait::ZERO), Error::Timeout, "it is empty")?;
    for priority in [HIGH, LOW] {
        bench.helper(priority, produce, Slot::NONE, Slot::NONE)?;
        let limit = Wait::until(system::clock() + LONG);
        for value in 0..VALUES {
            expect(queue.pop(me, limit)? == value, "values come in order, each once")?;
        }
    }
    for value in 0..3 {
        queue.push(me, value, Wait::ZERO)?;
    }
    refused(queue.push(me, 3, Wait::ZERO), Error::Timeout, "it is full")
}

fn lock_of(common: Words) -> RwLock {
    RwLock::new(common.part(MUTEX, RwLock::WORDS + 1), Scope::Domain)
}

/// Helper: writes once.
fn write_once(env: &Env, argument: u64) {
    let (me, id) = (Me::new(env, argument), ThreadId::current());
    if let Ok(words) = lock_of(me.common).write(id, Wait::NEVER) {
        words.set(0, words.get(0) + 1);
        me.own.set(8, 1);
    }
}

/// Helper: reads once, into its word 8.
fn read_once(env: &Env, argument: u64) {
    let (me, id) = (Me::new(env, argument), ThreadId::current());
    if let Ok(words) = lock_of(me.common).read(id, Wait::NEVER) {
        me.own.set(8, 100 + words.get(0));
    }
}

fn readers(bench: &Bench) -> Check {
    let (me, lock) = (ThreadId::current(), lock_of(bench.common()));
    let (first, second) = (lock.read(me, Wait::ZERO)?, lock.read(me, Wait::ZERO)?);
    refused(lock.write(me, Wait::ZERO).map(|_| ()), Error::Timeout, "a thread reads")?;
    writer_then_reader(bench, [write_once, read_once], [first, second])?;
    let words = lock.write(me, Wait::ZERO)?;
    expect(words.get(0) == 1, "no thread uses it any more")?;
    refused(lock.write(me, Wait::NEVER).map(|_| ()), Error::AlreadyOwner, "it writes")?;
    refused(lock.read(me, Wait::NEVER).map(|_| ()), Error::AlreadyOwner, "it writes, and reads")?;
    let readers = [
        bench.helper(HIGH, read_once, Slot::NONE, Slot::NONE)?,
        bench.helper(LOW, read_once, Slot::NONE, Slot::NONE)?,
    ];
    bench.settle();
    let seen = || readers.map(|helper| bench.words(helper).get(8));
    expect(seen() == [0; 2], "readers wait behind who writes")?;
    drop(words);
    bench.settle();
    expect(seen() == [101; 2], "all of them go on when it is done")
}

/// Helpers that write, and then read, wait while this thread reads twice: they say in their word 8
/// when they are done.
pub(super) fn writer_then_reader<G>(
    bench: &Bench,
    [writes, reads]: [fn(&Env, u64); 2],
    [first, second]: [G; 2],
) -> Check {
    let writer = bench.helper(HIGH, writes, Slot::NONE, Slot::NONE)?;
    bench.settle();
    let reader = bench.helper(HIGH, reads, Slot::NONE, Slot::NONE)?;
    bench.settle();
    let seen = |helper| bench.words(helper).get(8);
    expect((seen(writer), seen(reader)) == (0, 0), "a reader waits behind a writer")?;
    drop(first);
    bench.settle();
    expect(seen(writer) == 0, "the second reader still reads")?;
    drop(second);
    bench.settle();
    expect((seen(writer), seen(reader)) == (1, 101), "the writer, then the reader")
}
