//! A guest that never waits: it computes for as long as it is let, from `after` milliseconds on.

use rt::prelude::*;
use rt::{system, time};

/// Computes for ever.
pub fn main(env: &Env) {
    time::sleep(env.number("after", 0).ms());
    loop {
        system::work(100_000);
    }
}
