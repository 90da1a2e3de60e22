//! `profile`: how much of a client/server load is messages, and how much scheduler (S0-42,
//! S0-43, S0-E11, S0-E12), sampled in blocks of 25 us and, as a check, of 1600 us (S0-C13).
//!
//! A share is a row in millionths of all samples; the row's one sample is the whole run. On the
//! native machine, where no samples are taken, it is what a message takes in such a load (S0-C14).

mod claims;
mod measure;
#[cfg(test)]
mod tests;

pub use measure::round_trip_by_samples;

use super::parameter::Parameter;
use super::user_system::UserSystem;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "profile",
    about: "Shares of messages and scheduler in a load, by sampling",
    ledger: &["S0-42", "S0-43", "S0-E11", "S0-E12", "S0-C13", "S0-C14", "S0-C15"],
    machines: &[Measure::Emulated(measure::measure), Measure::Hardware(measure::on_host)],
    kernels: &manifest::ALL_KERNELS,
    metrics: &[
        BY_LINE[0],
        BY_LINE[1],
        COMBINED,
        BY_SYMBOL[0],
        BY_SYMBOL[1],
        KERNEL,
        ANSWERED,
        MESSAGE,
    ],
    cases: &[PING_PONG, "5 clients", "5 clients compute", MIX],
    parameters: &[Parameter::time(
        "period",
        [10_000, 25_000_000],
        &PERIODS,
        "of blocks, with a sample at a random instant in each",
    )],
    conditions: &[
        ("system", "udpserver: 9,311 units of work between messages, 5 clients, 2 s"),
        ("native", "a server and 1 or 5 clients, 30 % of whose work is copying within 1 MiB each"),
    ],
    notes: &[
        SHARES,
        BY_SOURCE,
        "On native a row is what a message takes, in hundredths of ticks: means of 100, each timed \
         from its sender's system call to its receiver's return.",
    ],
    claims: claims::claims,
    user_system: Some(UserSystem {
        machines: &[Measure::Emulated(measure::of_user_system)],
        parameters: &["period"],
        notes: &[SHARES, BY_SOURCE, "`domain` is the share of a whole domain."],
    }),
    deep: true,
    ..Experiment::USUAL
};

const SHARES: &str = "Shares are millionths of all samples of a run. Their standard error is \
     stated for each kernel; figures closer than twice that do not differ.";
const BY_SOURCE: &str = "The compiler draws a message path into one function, so the source file \
     of each instruction decides whether it is messages or scheduler (lab/src/profile/part.rs); \
     `by-symbol` are the same where the function decides, as in the thesis.";

/// The shares of messages and of the scheduler, by source line.
const BY_LINE: [&str; 2] = ["messages", "scheduler"];
/// The same by symbols.
const BY_SYMBOL: [&str; 2] = ["messages-by-symbol", "scheduler-by-symbol"];
/// Both.
const COMBINED: &str = "combined";
/// Everything in the kernel.
const KERNEL: &str = "kernel";
/// A domain of a user's system, `kernel` and `idle` among them.
const DOMAIN: &str = "domain";
/// Round trips of the load, in a run.
const ANSWERED: &str = "round-trips";
/// What a message takes in a load, on the native machine.
const MESSAGE: &str = "message";
/// The case of one client and a server that do nothing else.
const PING_PONG: &str = "ping-pong";
/// The case of programs that use memory between messages.
const MIX: &str = "5 clients compute and copy";
/// Samples of a run, as a fact.
const SAMPLES: &str = "samples";

/// Sampling periods.
const CASES: [&str; 2] = ["period=25us", "period=1600us"];
/// The same in nanoseconds.
const PERIODS: [u64; 2] = [25_000, 1_600_000];
