//! Commands for running systems.

use clap::{Args, Subcommand};
use std::time::Duration;

/// Examples of `ps`.
pub const PS_EXAMPLES: &str = "\
Examples:
  ./giusto run mixed-criticality --control     in another terminal
  ./giusto ps
  ./giusto ps --system plant --json
  ./giusto run shell --control --statistics    counts CPU time of threads too";

/// Examples of `sched`.
pub const SCHED_EXAMPLES: &str = "\
Examples:
  ./giusto sched get vision
  ./giusto sched set vision budget=8ms period=40ms
  ./giusto sched set others priority=120
  ./giusto sched set interactive curve=30%       or curve=60%,10ms,20%
  ./giusto sched set guest budget=none
  ./giusto sched set frames windows=a:0ms+8ms,b:8ms+2ms
  ./giusto sched set thread:guest priority=7     a thread, by its domain";

/// Examples of `top`.
pub const TOP_EXAMPLES: &str = "\
Examples:
  ./giusto top                  q quits
  ./giusto top -n 3 -d 500ms    three rounds, half a second each
  ./giusto top -n 1 --json";

/// Which running system.
#[derive(Clone, Debug, Args)]
pub struct Which {
    /// The system, by its name; needed if several run.
    #[arg(long, value_name = "NAME")]
    pub system: Option<String>,
    /// The system, by the process of its `run`.
    #[arg(long, value_name = "N")]
    pub pid: Option<u32>,
    /// Wait up to so long for it to boot, such as 60s.
    #[arg(long, value_name = "SPAN", value_parser = delay)]
    pub wait: Option<Duration>,
}

/// What to show at once.
#[derive(Debug, Args)]
pub struct Ps {
    /// Which running system.
    #[command(flatten)]
    pub which: Which,
}

/// What to show again and again.
#[derive(Debug, Args)]
pub struct Top {
    /// Which running system.
    #[command(flatten)]
    pub which: Which,
    /// How many rounds; without end by default, with --json one.
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,
    /// From one round to the next.
    #[arg(short, long, value_name = "SPAN", default_value = "1s", value_parser = delay)]
    pub delay: Duration,
}

/// How a running system is scheduled.
#[derive(Debug, Subcommand)]
pub enum Sched {
    /// Show a reservation or a thread.
    #[command(after_help = SCHED_EXAMPLES)]
    Get {
        /// A reservation, or a domain for its first thread; `reservation:NAME` and `thread:NAME`
        /// where there are both and the other is meant.
        name: String,
        /// Which running system.
        #[command(flatten)]
        which: Which,
    },
    /// Change a reservation or a thread.
    #[command(after_help = SCHED_EXAMPLES)]
    Set {
        /// A reservation, or a domain for its first thread; `reservation:NAME` and `thread:NAME`
        /// where there are both and the other is meant.
        name: String,
        /// What to change: of a thread its priority; of a reservation priority, budget, period,
        /// server, deadline, curve or share, in the manifest's words.
        #[arg(required = true, value_name = "KEY=VALUE")]
        changes: Vec<String>,
        /// Which running system.
        #[command(flatten)]
        which: Which,
    },
}

/// A time from one round to the next.
fn delay(text: &str) -> Result<Duration, String> {
    let delay = Duration::from_nanos(super::duration(text)?);
    let fits = (Duration::from_millis(100)..=Duration::from_secs(3_600)).contains(&delay);
    fits.then_some(delay).ok_or_else(|| "give a time from 100ms to 3600s".to_string())
}
