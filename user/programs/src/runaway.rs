//! A guest that never waits: it computes for as long as it is let, from `after` milliseconds behind
//! its start on, and until `until` milliseconds behind boot if that is given.

use rt::prelude::*;
use rt::{system, time};

/// Computes for ever, or until then.
pub fn main(env: &Env) {
    time::sleep(env.number("after", 0).ms());
    let until = env.arg("until").map(|_| Instant::BOOT + env.number("until", 0).ms());
    while until.is_none_or(|until| Instant::now() < until) {
        system::work(100_000);
    }
    time::sleep_until(Instant::NEVER);
}
