//! Threads that share memory: pieces of work go through a bounded queue to two workers, which add
//! up what they did behind a mutex. Then what mutexes and conditions cost.

use rt::arch::{counter, counter_pair};
use rt::prelude::*;
use rt::thread::{self, Spec};
use rt::{Error, Wait, Words};
use sync::{Barrier, Condvar, Mutex, Queue, Scope, ThreadId};

/// What the memory `bench` holds: a queue of three places, what was done, the end of the work, and
/// what costs are measured with.
const QUEUE: (usize, usize) = (0, Queue::WORDS + 3);
const DONE: (usize, usize) = (16, 3);
const END: (usize, usize) = (24, Barrier::WORDS);
const MUTEX: (usize, usize) = (32, 1);
const CONDITION: usize = 40;

/// Pieces of work, and what ends a worker's day.
const PIECES: u64 = 20;
const STOP: u64 = u64::MAX;
/// Workers.
const WORKERS: usize = 2;
/// Threads that wait for one condition at most.
const WAITERS: usize = 6;

/// A part of the memory.
fn part(env: &Env, (from, words): (usize, usize)) -> Words {
    env.mem("bench").part(from, words)
}

fn queue(env: &Env) -> Queue {
    Queue::new(part(env, QUEUE), Scope::Domain)
}

fn done(env: &Env) -> Mutex {
    Mutex::new(part(env, DONE), Scope::Domain)
}

fn end(env: &Env) -> Barrier {
    Barrier::new(part(env, END), WORKERS as u64 + 1, Scope::Domain)
}

/// The program: memory `bench`, `system`, further threads for workers and waiters.
pub fn main(env: &Env) {
    let console = env.console();
    if let Err(error) = work(env).and_then(|()| costs(env)) {
        println!(console, "the workshop fails: {error:?}");
        let _ = rt::system::shutdown(env.cap("system"), 1);
    }
    let _ = rt::system::shutdown(env.cap("system"), 0);
}

fn work(env: &Env) -> Result<(), Error> {
    let (console, me, queue) = (env.console(), ThreadId::current(), queue(env));
    let mut slots = env.slots();
    for n in 1..=WORKERS {
        let spec = Spec::further(env, n, env.number("workers", 100));
        thread::start(env, n, slots.fresh(), spec, (worker, n as u64))?;
    }
    for piece in 1..=PIECES {
        queue.push(me, piece, Wait::NEVER)?;
    }
    for _ in 0..WORKERS {
        queue.push(me, STOP, Wait::NEVER)?;
    }
    end(env).wait(me, Wait::NEVER)?;
    let done = done(env);
    let done = done.lock(me)?;
    println!(console, "{} pieces of work, sum of squares {}", done.get(0), done.get(1));
    Ok(())
}

/// A worker: squares what comes.
fn worker(env: &Env, n: u64) {
    let me = ThreadId::current();
    let console = env.console();
    let day = || -> Result<u64, Error> {
        let mut pieces = 0;
        loop {
            let piece = queue(env).pop(me, Wait::NEVER)?;
            if piece == STOP {
                return Ok(pieces);
            }
            // The work itself, in which the other thread may come.
            thread::yield_now()?;
            let done = done(env);
            let done = done.lock(me)?;
            done.set(0, done.get(0) + 1);
            done.set(1, done.get(1) + piece * piece);
            pieces += 1;
        }
    };
    match day() {
        Ok(pieces) => println!(console, "worker {n} has done {pieces}"),
        Err(error) => println!(console, "worker {n} fails: {error:?}"),
    }
    let _ = end(env).wait(me, Wait::NEVER);
}

/// Steps of the counter less those of reading it.
fn cost(operation: impl FnOnce() -> Result<(), Error>) -> Result<u64, Error> {
    let (zero, one) = counter_pair();
    let before = counter();
    operation()?;
    let after = counter();
    Ok((after - before).saturating_sub(one - zero))
}

/// Threads wait for a condition, one more each time, and are woken all at once.
fn costs(env: &Env) -> Result<(), Error> {
    let (console, me) = (env.console(), ThreadId::current());
    let mutex = Mutex::new(part(env, MUTEX), Scope::Domain);
    let condition = Condvar::new(env.mem("bench"), CONDITION, Scope::Domain);
    let (zero, one) = counter_pair();
    let before = counter();
    let guard = mutex.lock(me)?;
    let locked = counter();
    guard.unlock()?;
    let after = counter();
    let [lock, unlock] = [locked - before, after - locked].map(|time| time - (one - zero));
    println!(console, "a free mutex: lock {lock}, unlock {unlock}");
    let mut slots = env.slots();
    slots.part(WORKERS as u32);
    for n in 1..=WAITERS {
        let spec = Spec::further(env, WORKERS + n, env.number("waiters", 110));
        thread::start(env, WORKERS + n, slots.fresh(), spec, (waiter, 0))?;
        let guard = mutex.lock(me)?;
        let all = cost(|| condition.notify_all(&guard))?;
        let given = cost(|| guard.unlock())?;
        println!(console, "{n} waiting: wake all {all}, unlock until all wait again {given}");
    }
    Ok(())
}

/// Waits for ever.
fn waiter(env: &Env, _: u64) {
    let mutex = Mutex::new(part(env, MUTEX), Scope::Domain);
    let condition = Condvar::new(env.mem("bench"), CONDITION, Scope::Domain);
    if let Ok(mut guard) = mutex.lock(ThreadId::current()) {
        while condition.wait(&mut guard).is_ok() {}
    }
}
