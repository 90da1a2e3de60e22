//! Programs that go wrong, each in its way, and one that goes on: what a user sees then.

use core::hint::black_box;
use rt::prelude::*;
use rt::{system, time};

/// Goes wrong as argument `how` says: `overflow` of the stack, `panic`, or `wild`, a use of memory
/// that is not mapped.
pub fn main(env: &Env) {
    let log = env.log();
    let how = env.arg("how").unwrap_or("panic");
    info!(log, "the end comes by {how}");
    match how {
        "overflow" => warn!(log, "came back from depth {}", deeper(0)),
        // The further thread's buffer, which no thread has got.
        "wild" => warn!(log, "read {}", env.buffer(1).0.get(0)),
        _ => panic!("as the manifest says"),
    }
}

/// Calls itself without end.
fn deeper(depth: u64) -> u64 {
    let room = black_box([depth; 32]);
    if room[1] == u64::MAX { depth } else { deeper(depth + 1) + black_box(room)[0] }
}

/// Waits until the others have ended, and ends the run: capabilities `console`, `system`.
pub fn witness(env: &Env) {
    let log = env.log();
    for round in 1..=3 {
        time::sleep(1.ms());
        debug!(log, "round {round}");
    }
    info!(log, "the others have ended, and {} goes on", env.name());
    println!(env.console(), "{}: still here", env.name());
    let _ = system::shutdown(env.cap("system"), 0);
}
