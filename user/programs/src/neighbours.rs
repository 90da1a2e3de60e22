//! A thread has what its reservation promises, whatever others make the kernel do: one sleeps for a
//! moment again and again, one divides its reservation into budgets that come back all the time.

use core::time::Duration;
use rt::abi::reservation::{Server, Share};
use rt::prelude::*;
use rt::thread::{self, Spec};
use rt::{reservation, system, time};

/// A job of the victim, in pieces: a little less than its budget, in which it is released again.
const JOBS: u64 = 4;
const PIECES: u64 = 28_000;
const PIECE: u64 = 1_000;
const PERIOD: u64 = 100_000_000;
/// The tiny budgets: so many, and a microsecond in each hundred.
const LEAVES: usize = 8;
const BUDGET: Duration = Duration::from_micros(1);
const OFTEN: Duration = Duration::from_micros(100);

/// Argument `role`. 0: the victim, with capabilities `console` and `system`; the run's status is 1
/// if a job is late. 1: sleeps. 2: divides the reservation `box`.
pub fn main(env: &Env) {
    match env.number("role", 0) {
        0 => work(env),
        1 => loop {
            time::sleep(1.us());
        },
        _ => divide(env),
    }
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
    for number in 1..=LEAVES {
        let [leaf, new] = [slots.fresh(), slots.fresh()];
        let budget = reservation::budget(Server::Constant, BUDGET, OFTEN);
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
