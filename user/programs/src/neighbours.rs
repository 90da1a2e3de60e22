//! A thread has what its reservation promises, whatever others make the kernel do: one sleeps for a
//! moment again and again, one divides its reservation into budgets that come back all the time.

use crate::latency::Clock;
use rt::abi::reservation::{LEAST_BUDGET, Server, Share};
use rt::arch::counter;
use rt::prelude::*;
use rt::thread::{self, Spec};
use rt::{reservation, system, time};

/// A job of the victim, in pieces: a little less than its budget, in which it is released again.
const JOBS: u64 = 4;
const PIECES: u64 = 28_000;
const PIECE: u64 = 1_000;
const PERIOD: u64 = 100_000_000;
/// The least budgets that there are: so many, as often as can be.
const LEAVES: u64 = 8;
const BUDGET: u64 = LEAST_BUDGET / 1_000;
const OFTEN: u64 = 100;

/// Argument `role`. 0: the victim, with capabilities `console` and `system`; the run's status is 1
/// if a job is late. 1: sleeps again and again, for `sleep` microseconds, and works `work` units.
/// 2: divides the reservation `box` into `leaves` with `budget` in each `period` microseconds. 3: a
/// victim that never waits and tells what it has executed, in `windows` of `period` microseconds.
/// 4: computes. With `idle` 1 all but victims do nothing.
pub fn main(env: &Env) {
    let role = env.number("role", 0);
    if env.number("idle", 0) == 1 && ![0, 3].contains(&role) {
        time::sleep_until(Instant::NEVER);
    }
    match role {
        0 => work(env),
        1 => loop {
            time::sleep(env.number("sleep", 1).us());
            system::work(env.number("work", 0));
        },
        2 => divide(env),
        3 => count(env),
        _ => spin(env, 0),
    }
}

/// When the victim that counts begins, in microseconds since boot.
const BEGIN: u64 = 20_000;
const MOST: usize = 40;
/// What it executes between two looks at the clock.
const ROUND: u64 = 500;

fn count(env: &Env) {
    let (clock, period) = (Clock::ask(), env.number("period", 10_000));
    let windows = (env.number("windows", 10) as usize).min(MOST);
    let end = |window: usize| clock.counter_at((BEGIN + (window as u64 + 1) * period) * 1_000);
    let (mut had, mut rounds) = ([0; MOST], 0u64);
    time::sleep_until(Instant::BOOT + BEGIN.us());
    for (window, had) in had[..windows].iter_mut().enumerate() {
        let end = end(window);
        while counter() < end {
            system::work(ROUND);
            rounds += 1;
        }
        *had = rounds * ROUND;
    }
    for had in &had[..windows] {
        println!(env.console(), "had {had}");
    }
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

fn work(env: &Env) {
    let (begin, mut late) = (system::clock(), 0);
    for release in (1..=JOBS).map(|job| begin + job * PERIOD) {
        time::sleep(Duration::from_nanos(release.saturating_sub(system::clock())));
        for _ in 0..PIECES {
            system::work(PIECE);
        }
        let took = system::clock() - release;
        println!(env.console(), "a job took {} us", took / 1_000);
        late += u64::from(took > PERIOD);
    }
    system::shutdown(env.cap("system"), u64::from(late > 0)).expect("the run ends");
}

fn divide(env: &Env) {
    let mut slots = env.slots();
    let server = Server::ALL[env.number("server", 1) as usize % Server::ALL.len()];
    let [budget, period] = [env.number("budget", BUDGET), env.number("period", OFTEN)];
    for number in 1..=env.number("leaves", LEAVES) as usize {
        let [leaf, new] = [slots.fresh(), slots.fresh()];
        let budget = reservation::budget(server, budget.us(), period.us());
        reservation::create_leaf(leaf, env.cap("box"), Share::Priority(3)).expect("the quota");
        reservation::set_budget(leaf, Some(budget)).expect("it fits");
        let buffer = env.buffer_address(number);
        let spec = Spec { domain: Slot::NONE, priority: 30, buffer, handler: Slot::NONE };
        thread::start(env, number, new, spec, (spin, 0)).expect("the quota has one");
        reservation::run_on(new, leaf).expect("a leaf of its own");
    }
}

fn spin(_: &Env, _: u64) {
    loop {
        system::work(200);
    }
}
