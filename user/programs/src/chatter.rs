//! A console that is asked for more than it can send: a program that prints for ever, one that
//! prints a line now and then, and a thread above both that is to wake in time.

use rt::prelude::*;
use rt::{system, time};

/// What is printed for ever.
const LONG: &str = "a line of a program that says the same again and again, and never ends\n";

/// Capability `console`. Argument `role`: 0 prints for ever; 1 prints `lines`, one each `period`
/// microseconds; 2 wakes each `period` microseconds, `lines` times, tells how late it was at most,
/// and ends the run (capability `system`).
pub fn main(env: &Env) {
    let (period, count) = (env.number("period", 1_000).us(), env.number("lines", 10) as u32);
    let releases = (1..=count).map(|nth| (nth, Instant::BOOT + period * nth));
    match env.number("role", 0) {
        0 => loop {
            env.console().print(format_args!("{LONG}"));
        },
        1 => {
            for (nth, release) in releases {
                time::sleep_until(release);
                println!(env.console(), "line {nth} of {count}");
            }
        }
        _ => {
            let mut late = Duration::ZERO;
            for (_, release) in releases {
                time::sleep_until(release);
                late = late.max(release.elapsed());
            }
            println!(env.console(), "late {} ns", late.as_nanos());
            system::shutdown(env.cap("system"), 0).expect("the run ends");
        }
    }
}
