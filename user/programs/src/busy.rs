//! A thread that computes now and then: arguments `seed`, `pause` (nanoseconds, about) and `work`
//! (units of time).

use crate::random::Random;
use rt::prelude::*;
use rt::{system, time};

/// Pauses of half to one and a half the mean, and the work between them.
pub fn main(env: &Env) {
    let mut random = Random::new(env.number("seed", 1));
    let (pause, work) = (env.number("pause", 100_000), env.number("work", 10_000));
    loop {
        time::sleep((pause / 2 + random.below(pause.max(1))).ns());
        system::work(work);
    }
}
