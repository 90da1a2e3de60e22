//! Ends a run that would go on for ever: the argument `after`, in milliseconds, 0 for never;
//! capabilities `console` and `system`.

use rt::{Env, println, system};

/// Sleeps, then shuts the system down.
pub fn main(env: &Env) {
    let after = env.number("after", 0);
    match after {
        0 => system::sleep_until(u64::MAX),
        after => system::sleep(after * 1_000_000),
    }
    let console = env.console();
    println!(console, "ok curfew: {after} ms are over");
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}
