//! The highest thread of a CPU sets deadlines of its own while another CPU adds lower ones there
//! and takes them back: what is deferred stays so.

use super::bench::*;
use super::cpus::{cpus, other, there};
use super::floods::{ATTEMPTS, BRIEF, HIGHEST_THERE, span};
use rt::abi::call::Fact;
use rt::{Env, Error, Slot, Wait, ipc, signal, system, thread};

pub const CHECKS: Checks = &[
    ("deadlines there and own ones that are taken back", taken_back),
    ("deadlines there that are taken back while own ones pass", passing),
    ("deadlines there that are taken back while an own one is shortly behind a tick", behind),
];

/// The share, in percent, that the highest thread keeps of what it has if the others' deadlines are
/// far: an interrupt for each of its own takes more, and serving its own one among them takes less.
const KEPT: u64 = 97;
/// How many rounds a deadline that is near lies ahead at least.
const LEFT_OVER: u64 = 6;
/// How far ahead the highest thread sets its timer, and one that passes.
const AHEAD: u64 = 100_000;
const SOON: u64 = 4_000;
/// How far behind a point of the tick it is served together with the tick.
const BEHIND: u64 = 500;

/// Helper: computes, with the timer in slot `a` set for far ahead and taken back each time, and
/// counts in its word 8.
fn set_and_take_back(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    while signal::set_timer(me.a, system::clock() + AHEAD).is_ok() {
        let _ = signal::set_timer(me.a, 0);
        system::work(10_000);
        me.own.add(8, 1);
    }
}

/// Helper: computes, and a timer fires each time.
fn set_soon(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    while signal::set_timer(me.a, system::clock() + SOON).is_ok() {
        system::work(10_000);
        me.own.add(8, 1);
    }
}

/// Helper: computes, with the timer set for shortly behind each point of the tick.
fn set_behind_tick(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let Ok((tick, _)) = system::fact(Fact::Tick) else { return };
    loop {
        let at = (system::clock() / tick + 1) * tick + BEHIND;
        if signal::set_timer(me.a, at).is_err() {
            return;
        }
        while system::clock() < at {
            system::work(1_000);
            me.own.add(8, 1);
        }
    }
}

/// Which of the words that all share tells waiters how long to wait.
const TIMEOUT: usize = 8;
const FAR: u64 = 1000 * MS;

/// Helper: waits for signals, again and again.
fn wait_again(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    loop {
        match ipc::receive(me.a, Wait::until(system::clock() + me.common.get(TIMEOUT))) {
            Ok(_) | Err(Error::Timeout) => {}
            Err(_) => return,
        }
    }
}

/// What the highest thread there, at this work with a timer, does while lower threads are moved
/// there and back: with deadlines that are near, but none of which passes, and with far ones.
fn keeps(bench: &Bench, work: Work) -> Check {
    let (to, (_, own)) = (other()?, cpus()?);
    let (timer, fires) = (bench.slot(), bench.notification()?);
    signal::create_timer(timer, fires)?;
    let highest = bench.words(there(bench, HIGHEST_THERE, work, timer)?);
    bench.common().set(TIMEOUT, FAR);
    let mut waiters = [(Slot::NONE, Slot::NONE); 4];
    for (waiter, signals) in &mut waiters {
        *signals = bench.notification()?;
        *waiter = bench.helper(LOW, wait_again, *signals, Slot::NONE)?.slot;
    }
    bench.settle();
    let span = span()?;
    // What it does in a span, and how long a round takes. The last one may be longer than a span.
    let done = |timeout: u64| -> Result<(u64, u64), Error> {
        bench.common().set(TIMEOUT, timeout);
        // Until each waits as it is told.
        let settled = 2 * waiters.len();
        let (mut before, mut begin) = (0, 0);
        for n in 0.. {
            if n == settled {
                (before, begin) = (highest.get(8), system::clock());
            }
            let took = system::clock() - begin;
            if n > settled && took >= span {
                let does = (highest.get(8) - before) * span / took;
                return Ok((does, took / (n - settled) as u64));
            }
            let (first, _) = waiters[n % 4];
            let (last, signals) = waiters[(n + 3) % 4];
            thread::migrate(first, own)?;
            signal::signal(signals)?;
            let _ = thread::yield_to(last);
            thread::migrate(last, to)?;
        }
        unreachable!("rounds end by time")
    };
    for _ in 0..ATTEMPTS {
        let (without, round) = done(FAR)?;
        let (with, _) = done(BRIEF.max(LEFT_OVER * round))?;
        // With one CPU the threads that move leave it no time.
        let runs = without > 0 || to == own;
        if runs && with * 100 >= without * KEPT {
            return Ok(());
        }
    }
    expect(false, "the highest thread keeps its CPU")
}

fn taken_back(bench: &Bench) -> Check {
    keeps(bench, set_and_take_back)
}

fn passing(bench: &Bench) -> Check {
    keeps(bench, set_soon)
}

fn behind(bench: &Bench) -> Check {
    keeps(bench, set_behind_tick)
}
