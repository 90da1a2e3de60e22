//! Locks of the crate `lock_api`, around what lies in this program's own memory.

use super::bench::*;
use super::futexes::writer_then_reader;
use rt::lock::{Mutex, RwLock};
use rt::time::{Instant, Units};
use rt::{Env, Slot, system, thread};

pub const CHECKS: Checks = &[
    ("threads that count under a lock of `lock_api`", counting),
    ("limits of such a lock", limits),
    ("readers and a writer of such a lock", readers),
];

/// What helpers have counted, and how many are done.
static COUNT: Mutex<[u64; 2]> = Mutex::new([0; 2]);
static PAGE: RwLock<u64> = RwLock::new(0);

const ROUNDS: u64 = 60;

/// Helper: counts, and makes room for others in between.
fn add(_: &Env, _: u64) {
    for _ in 0..ROUNDS {
        let mut count = COUNT.lock();
        let before = count[0];
        let _ = thread::yield_now();
        count[0] = before + 1;
    }
    COUNT.lock()[1] += 1;
}

fn counting(bench: &Bench) -> Check {
    let mut count = COUNT.lock();
    *count = [0; 2];
    for priority in [MAIN, MAIN, LOW, HIGH] {
        bench.helper(priority, add, Slot::NONE, Slot::NONE)?;
    }
    bench.settle();
    expect(*count == [0; 2] && COUNT.is_locked(), "the helpers wait")?;
    drop(count);
    let limit = system::clock() + 2_000 * MS;
    while COUNT.lock()[1] < 4 {
        expect(system::clock() < limit, "all helpers are done")?;
        bench.settle();
    }
    expect(COUNT.lock()[0] == 4 * ROUNDS, "no addition is lost")?;
    expect(!COUNT.is_locked(), "the mutex is free")
}

/// Helper: owns the mutex for a while.
fn hold(_: &Env, _: u64) {
    let _count = COUNT.lock();
    system::sleep(10 * MS);
}

fn limits(bench: &Bench) -> Check {
    bench.helper(HIGH, hold, Slot::NONE, Slot::NONE)?;
    bench.settle();
    expect(COUNT.try_lock().is_none(), "another thread owns it")?;
    let before = system::clock();
    expect(COUNT.try_lock_for(1.ms()).is_none(), "it still does a millisecond later")?;
    expect(system::clock() >= before + MS, "the limit is as long as it says")?;
    expect(COUNT.try_lock_until(Instant::now() + 500.ms()).is_some(), "it gives it up")?;
    expect(COUNT.try_lock_for(0.ms()).is_some(), "a free one is locked at once")
}

/// Helper: writes once.
fn write_once(env: &Env, argument: u64) {
    *PAGE.write() += 1;
    Me::new(env, argument).own.set(8, 1);
}

/// Helper: reads once, into its word 8.
fn read_once(env: &Env, argument: u64) {
    let seen = *PAGE.read();
    Me::new(env, argument).own.set(8, 100 + seen);
}

fn readers(bench: &Bench) -> Check {
    let guards = [PAGE.read(), PAGE.read()];
    expect(PAGE.try_write().is_none() && PAGE.try_read().is_some(), "threads read")?;
    writer_then_reader(bench, [write_once, read_once], guards)?;
    expect(PAGE.try_write().is_some(), "no thread uses it any more")
}
