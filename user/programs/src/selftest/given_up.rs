//! Threads that wait behind one that gives its wait up lose nothing by it, whatever of `sync` they
//! wait for.

use super::bench::*;
use rt::{Env, Error, Slot, Wait, Words, system};
use sync::{
    Barrier, CeilingMutex, Ceilings, Condvar, InheritCondition, InheritMutex, Mutex, Queue,
};
use sync::{RecursiveMutex, RwLock, Scope, Semaphore, ThreadId};

pub const CHECKS: Checks = &[
    ("behind a wait for a mutex that is given up", mutex),
    ("behind one for a recursive mutex", recursive),
    ("behind one for an inheriting mutex", inheriting),
    ("behind one for a mutex with a ceiling", ceiling),
    ("behind one for a condition", condition),
    ("behind one for a condition with helpers", inheriting_condition),
    ("behind one for a permit", semaphore),
    ("behind one for a value of a queue", values),
    ("behind one for a place in a queue", places),
    ("behind one at a barrier", barrier),
    ("readers behind a writer", readers),
    ("a reader and a writer behind a reader and a writer", readers_and_writers),
    ("a reader behind two writers", reader_behind_writers),
];

/// Where what is waited for is in the common words, and how many it has.
const PLACE: usize = 8;
const WORDS: usize = 16;
/// Where a condition is in these, behind its mutex and what that protects.
const CONDITION: usize = 8;
/// A common word: how many helpers have had what they waited for.
const CAME: usize = 40;
/// A helper's word: [`HAD`] and how many have had it with this one, or the error.
const ENDED: usize = 8;
const HAD: u64 = 100;
/// Until a wait is given up, by which time all helpers wait.
const SOON: u64 = 10 * MS;
/// The helper's slots that say so.
const GIVES_UP: [Slot; 2] = [Slot(1), Slot::NONE];
const STAYS: [Slot; 2] = [Slot::NONE, Slot::NONE];

fn place(common: Words) -> Words {
    common.part(PLACE, WORDS)
}

fn mutex_of(common: Words) -> Mutex {
    Mutex::new(place(common), Scope::Domain)
}

fn condition_of(common: Words) -> Condvar {
    Condvar::new(place(common), CONDITION, Scope::Domain)
}

fn recursive_of(common: Words) -> RecursiveMutex {
    RecursiveMutex::new(place(common), Scope::Domain)
}

fn inheriting_of(common: Words) -> InheritMutex {
    InheritMutex::new(place(common))
}

fn ceiling_of(common: Words) -> CeilingMutex {
    CeilingMutex::new(place(common), HIGH as u8, Scope::Domain)
}

fn inheriting_condition_of(common: Words) -> InheritCondition {
    InheritCondition::new(place(common), CONDITION)
}

fn semaphore_of(common: Words) -> Semaphore {
    Semaphore::new(place(common), Scope::Domain)
}

/// A queue of two places.
fn queue_of(common: Words) -> Queue {
    Queue::new(common.part(PLACE, Queue::WORDS + 2), Scope::Domain)
}

fn barrier_of(common: Words) -> Barrier {
    Barrier::new(place(common), 4, Scope::Domain)
}

fn lock_of(common: Words) -> RwLock {
    RwLock::new(place(common), Scope::Domain)
}

/// A helper waits for something, and says how that ended.
fn come(env: &Env, argument: u64, want: impl FnOnce(Words, ThreadId, Wait) -> Result<(), Error>) {
    let me = Me::new(env, argument);
    let wait = match me.a == GIVES_UP[0] {
        true => Wait::until(system::clock() + SOON),
        false => Wait::NEVER,
    };
    let ended = want(me.common, ThreadId::current(), wait);
    let came = || HAD + 1 + me.common.add(CAME, 1);
    me.own.set(ENDED, ended.map_or_else(|error| error as u64, |()| came()));
}

/// Starts a helper, and lets it wait.
fn gather(bench: &Bench, work: Work, [a, b]: [Slot; 2]) -> Result<Helper, Why> {
    let helper = bench.helper(HIGH, work, a, b)?;
    bench.settle();
    Ok(helper)
}

fn ended(bench: &Bench, helper: Helper) -> u64 {
    bench.words(helper).get(ENDED)
}

/// Three helpers wait for something, of which the first or the second gives up: the two others, in
/// the order in which they came.
fn two_left(bench: &Bench, work: Work, gives_up: usize) -> Result<[Helper; 2], Why> {
    bench.common().set(CAME, 0);
    let slots = |n| if n == gives_up { GIVES_UP } else { STAYS };
    let wait = |n| gather(bench, work, slots(n));
    let all = [wait(0)?, wait(1)?, wait(2)?];
    // Nobody hands it out before the deadline has passed.
    system::sleep(2 * SOON);
    let [gone, next, last] = [all[gives_up], all[1 - gives_up], all[2]];
    let all = [gone, next, last].map(|helper| ended(bench, helper));
    expect(all == [Error::Timeout as u64, 0, 0], "one has given up, and two wait")?;
    Ok([next, last])
}

/// So many of the two have had what they waited for, in their turn.
fn had(bench: &Bench, left: [Helper; 2], count: u64) -> Check {
    bench.settle();
    let of = |n: u64| if n <= count { HAD + n } else { 0 };
    expect(left.map(|helper| ended(bench, helper)) == [of(1), of(2)], "each in its turn")
}

/// Both have had what they waited for: they were let in at once, and either may be the first to say
/// so.
fn let_in_together(bench: &Bench, left: [Helper; 2]) -> Check {
    bench.settle();
    let mut order = left.map(|helper| ended(bench, helper));
    order.sort_unstable();
    expect(order == [HAD + 1, HAD + 2], "both have had it")
}

fn want_mutex(env: &Env, argument: u64) {
    come(env, argument, |common, me, wait| mutex_of(common).lock_within(me, wait)?.unlock());
}

fn mutex(bench: &Bench) -> Check {
    for gives_up in 0..2 {
        let mutex = mutex_of(bench.common());
        let guard = mutex.lock(ThreadId::current())?;
        let left = two_left(bench, want_mutex, gives_up)?;
        guard.unlock()?;
        had(bench, left, 2)?;
    }
    expect(place(bench.common()).get(0) == 0, "free again")
}

fn want_recursive(env: &Env, argument: u64) {
    come(env, argument, |common, me, wait| recursive_of(common).lock_within(me, wait).map(drop));
}

fn recursive(bench: &Bench) -> Check {
    let me = ThreadId::current();
    for gives_up in 0..2 {
        let mutex = recursive_of(bench.common());
        let guards = [mutex.lock(me)?, mutex.lock(me)?];
        let left = two_left(bench, want_recursive, gives_up)?;
        drop(guards);
        had(bench, left, 2)?;
    }
    expect(place(bench.common()).get(0) == 0, "free again")
}

fn want_inheriting(env: &Env, argument: u64) {
    come(env, argument, |common, me, wait| inheriting_of(common).lock_within(me, wait)?.unlock());
}

fn inheriting(bench: &Bench) -> Check {
    for gives_up in 0..2 {
        let mutex = inheriting_of(bench.common());
        let guard = mutex.lock(ThreadId::current())?;
        let left = two_left(bench, want_inheriting, gives_up)?;
        guard.unlock()?;
        had(bench, left, 2)?;
    }
    expect(place(bench.common()).get(0) == 0, "free again")
}

fn want_ceiling(env: &Env, argument: u64) {
    come(env, argument, |common, me, wait| {
        ceiling_of(common).lock_within(&Ceilings::of(me), wait).map(drop)
    });
}

fn ceiling(bench: &Bench) -> Check {
    let ceilings = Ceilings::of(ThreadId::current());
    for gives_up in 0..2 {
        let mutex = ceiling_of(bench.common());
        let guard = mutex.lock(&ceilings)?;
        let left = two_left(bench, want_ceiling, gives_up)?;
        drop(guard);
        had(bench, left, 2)?;
    }
    expect(place(bench.common()).get(0) == 0, "free again")
}

fn want_condition(env: &Env, argument: u64) {
    come(env, argument, |common, me, wait| {
        let mutex = mutex_of(common);
        let mut guard = mutex.lock(me)?;
        condition_of(common).wait_within(&mut guard, wait)
    });
}

fn condition(bench: &Bench) -> Check {
    let (mutex, condition) = (mutex_of(bench.common()), condition_of(bench.common()));
    for gives_up in 0..2 {
        let left = two_left(bench, want_condition, gives_up)?;
        for count in 1..=2 {
            let guard = mutex.lock(ThreadId::current())?;
            condition.notify_one(&guard)?;
            guard.unlock()?;
            had(bench, left, count)?;
        }
    }
    Ok(())
}

fn want_inheriting_condition(env: &Env, argument: u64) {
    come(env, argument, |common, me, wait| {
        let mutex = inheriting_of(common);
        let mut guard = mutex.lock(me)?;
        inheriting_condition_of(common).wait_within(&mut guard, wait)
    });
}

fn inheriting_condition(bench: &Bench) -> Check {
    let common = bench.common();
    let (mutex, condition) = (inheriting_of(common), inheriting_condition_of(common));
    for gives_up in 0..2 {
        let left = two_left(bench, want_inheriting_condition, gives_up)?;
        for count in 1..=2 {
            let guard = mutex.lock(ThreadId::current())?;
            condition.notify_one(&guard)?;
            guard.unlock()?;
            had(bench, left, count)?;
        }
    }
    Ok(())
}

fn want_permit(env: &Env, argument: u64) {
    come(env, argument, |common, me, wait| semaphore_of(common).take(me, wait));
}

fn semaphore(bench: &Bench) -> Check {
    let (me, permits) = (ThreadId::current(), semaphore_of(bench.common()));
    for gives_up in 0..2 {
        let left = two_left(bench, want_permit, gives_up)?;
        for count in 1..=2 {
            permits.give(me)?;
            had(bench, left, count)?;
        }
    }
    refused(permits.take(me, Wait::ZERO), Error::Timeout, "no permit is left")
}

fn want_value(env: &Env, argument: u64) {
    come(env, argument, |common, me, wait| queue_of(common).pop(me, wait).map(drop));
}

fn values(bench: &Bench) -> Check {
    let (me, queue) = (ThreadId::current(), queue_of(bench.common()));
    for gives_up in 0..2 {
        let left = two_left(bench, want_value, gives_up)?;
        for count in 1..=2 {
            queue.push(me, count, Wait::ZERO)?;
            had(bench, left, count)?;
        }
    }
    refused(queue.pop(me, Wait::ZERO), Error::Timeout, "no value is left")
}

/// Helper: brings its number.
fn want_place(env: &Env, argument: u64) {
    let n = Me::new(env, argument).n as u64;
    come(env, argument, |common, me, wait| queue_of(common).push(me, n, wait));
}

fn places(bench: &Bench) -> Check {
    let (me, queue) = (ThreadId::current(), queue_of(bench.common()));
    // The numbers of the helpers that come in the end: three in each round.
    for (gives_up, numbers) in [(0, [2, 3]), (1, [4, 6])] {
        for value in [8, 9] {
            queue.push(me, value, Wait::ZERO)?;
        }
        let left = two_left(bench, want_place, gives_up)?;
        for (count, value) in [(1, 8), (2, 9)] {
            expect(queue.pop(me, Wait::ZERO)? == value, "values come in order")?;
            had(bench, left, count)?;
        }
        for number in numbers {
            expect(queue.pop(me, Wait::ZERO)? == number, "and those of the helpers behind them")?;
        }
    }
    refused(queue.pop(me, Wait::ZERO), Error::Timeout, "that of no other helper")
}

fn want_barrier(env: &Env, argument: u64) {
    come(env, argument, |common, me, wait| barrier_of(common).wait(me, wait).map(drop));
}

fn barrier(bench: &Bench) -> Check {
    let (me, barrier) = (ThreadId::current(), barrier_of(bench.common()));
    let left = two_left(bench, want_barrier, 0)?;
    let soon = Wait::until(system::clock() + MS);
    refused(barrier.wait(me, soon), Error::Timeout, "who has given up has not come")?;
    gather(bench, want_barrier, STAYS)?;
    had(bench, left, 0)?;
    expect(barrier.wait(me, Wait::NEVER)?, "this thread is the last of four")?;
    bench.settle();
    expect(bench.common().get(CAME) == 3, "all have passed it")
}

fn want_to_read(env: &Env, argument: u64) {
    come(env, argument, |common, me, wait| lock_of(common).read(me, wait).map(drop));
}

fn want_to_write(env: &Env, argument: u64) {
    come(env, argument, |common, me, wait| lock_of(common).write(me, wait).map(drop));
}

fn readers(bench: &Bench) -> Check {
    let lock = lock_of(bench.common());
    let reads = lock.read(ThreadId::current(), Wait::ZERO)?;
    let writer = gather(bench, want_to_write, GIVES_UP)?;
    let readers = [gather(bench, want_to_read, STAYS)?, gather(bench, want_to_read, STAYS)?];
    system::sleep(2 * SOON);
    expect(ended(bench, writer) == Error::Timeout as u64, "the writer has given up")?;
    let_in_together(bench, readers)?;
    drop(reads);
    expect(lock.write(ThreadId::current(), Wait::ZERO).is_ok(), "no thread reads any more")
}

fn readers_and_writers(bench: &Bench) -> Check {
    let lock = lock_of(bench.common());
    let writes = lock.write(ThreadId::current(), Wait::ZERO)?;
    let gone = [gather(bench, want_to_read, GIVES_UP)?, gather(bench, want_to_write, GIVES_UP)?];
    // Readers go on first when a writer is done.
    let [writer, reader] =
        [gather(bench, want_to_write, STAYS)?, gather(bench, want_to_read, STAYS)?];
    system::sleep(2 * SOON);
    let given_up = gone.map(|helper| ended(bench, helper));
    expect(given_up == [Error::Timeout as u64; 2], "a reader and a writer have given up")?;
    had(bench, [reader, writer], 0)?;
    drop(writes);
    had(bench, [reader, writer], 2)?;
    expect(lock.write(ThreadId::current(), Wait::ZERO).is_ok(), "no thread uses it any more")
}

/// A reader that waits behind two writers waits for the one that is left.
fn reader_behind_writers(bench: &Bench) -> Check {
    let (me, lock) = (ThreadId::current(), lock_of(bench.common()));
    for slots in [[GIVES_UP, STAYS], [STAYS, GIVES_UP]] {
        bench.common().set(CAME, 0);
        let reads = lock.read(me, Wait::ZERO)?;
        let writers =
            [gather(bench, want_to_write, slots[0])?, gather(bench, want_to_write, slots[1])?];
        let reader = gather(bench, want_to_read, STAYS)?;
        system::sleep(2 * SOON);
        let stays = usize::from(slots[1] == STAYS);
        let given_up = ended(bench, writers[1 - stays]);
        expect(given_up == Error::Timeout as u64, "a writer has given up")?;
        had(bench, [writers[stays], reader], 0)?;
        drop(reads);
        had(bench, [writers[stays], reader], 2)?;
    }
    expect(lock.write(me, Wait::ZERO).is_ok(), "no thread uses it any more")
}
