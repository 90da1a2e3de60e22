//! The highest thread of a CPU sets deadlines of its own while another CPU adds lower ones there
//! and takes them back: what is deferred stays so.

use super::bench::*;
use super::cpus::{cpus, other, there};
use super::floods::{ATTEMPTS, BRIEF, HIGHEST_THERE, span};
use rt::{Env, Error, Slot, Wait, ipc, signal, system, thread};

pub const CHECKS: Checks = &[
    ("deadlines there and own ones that are taken back", taken_back),
    ("deadlines there that are taken back while own ones pass", passing),
];

/// The share, in thousandths, that the highest thread keeps of what it has if the others' deadlines
/// are far: an interrupt for each of its own is more.
const KEPT: u64 = 996;
/// How far ahead the highest thread sets its timer, and one that passes.
const AHEAD: u64 = 100_000;
const SOON: u64 = 4_000;

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

/// Which of the words that all share tells waiters to have deadlines.
const TIMED: usize = 8;

/// Helper: waits for signals, again and again; if told so, for a little while each time.
fn wait_again(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    loop {
        let until = system::clock() + if me.common.get(TIMED) != 0 { BRIEF } else { 1000 * MS };
        match ipc::receive(me.a, Wait::until(until)) {
            Ok(_) | Err(Error::Timeout) => {}
            Err(_) => return,
        }
    }
}

/// What the highest thread there, at this work with a timer, does while lower threads are moved
/// there and back: with deadlines, none of which passes, and without.
fn keeps(bench: &Bench, work: Work) -> Check {
    let (to, (_, own)) = (other()?, cpus()?);
    let (timer, fires) = (bench.slot(), bench.notification()?);
    signal::create_timer(timer, fires)?;
    let highest = bench.words(there(bench, HIGHEST_THERE, work, timer)?);
    let mut waiters = [(Slot::NONE, Slot::NONE); 4];
    for (waiter, signals) in &mut waiters {
        *signals = bench.notification()?;
        *waiter = bench.helper(LOW, wait_again, *signals, Slot::NONE)?.slot;
    }
    bench.settle();
    let span = span()?;
    let done = |timed: u64| -> Result<u64, Error> {
        bench.common().set(TIMED, timed);
        let (mut begin, mut end) = (0, 0);
        for n in 0.. {
            // Until each waits as it is told.
            if n == 2 * waiters.len() {
                (begin, end) = (highest.get(8), system::clock() + span);
            }
            if n > 2 * waiters.len() && system::clock() >= end {
                break;
            }
            let (first, _) = waiters[n % 4];
            let (last, signals) = waiters[(n + 3) % 4];
            thread::migrate(first, own)?;
            signal::signal(signals)?;
            let _ = thread::yield_to(last);
            thread::migrate(last, to)?;
        }
        Ok(highest.get(8) - begin)
    };
    for _ in 0..ATTEMPTS {
        let (without, with) = (done(0)?, done(1)?);
        if with * 1000 >= without * KEPT {
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
