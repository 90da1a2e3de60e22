//! Experiments on the latency of wake-ups (S0-35), and `latency` itself: idle and under a storm.

pub mod blame;
pub mod elevator;
pub mod ipc_chain;
mod measure;
pub mod start_stop;
mod tails;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::user_system::UserSystem;
use super::{Experiment, Measure};
use results::{WAKE_UP, WAKE_UP_P99, WAKE_UP_WORST};

/// The metrics of all these experiments.
const METRICS: [&str; 3] = [WAKE_UP, WAKE_UP_P99, WAKE_UP_WORST];

/// Numbers of threads that are swept.
const SWEEP: [u64; 5] = [50, 100, 150, 200, 250];
/// The fewest, and the most.
const FEWEST: u64 = SWEEP[0];
const MOST: u64 = SWEEP[SWEEP.len() - 1];

/// The number of threads that are in the way, as a parameter.
const fn threads(about: &'static str) -> Parameter {
    Parameter::count("threads", [2, MOST], &SWEEP, about).sets("sweep")
}

const CASES: [&str; 6] = ["idle", "messages", "faults", "threads", "memory", "all"];

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "latency",
    about: "How late the highest thread wakes, idle and under a storm",
    ledger: &["S0-35", "X-12", "X-13"],
    machines: &[Measure::Emulated(measure::measure), Measure::Simulated(measure::measure)],
    kernels: &manifest::ALL_KERNELS,
    metrics: &METRICS,
    cases: &CASES,
    parameters: &[Parameter::samples(&[500], "samples")],
    conditions: &[
        ("messages", "short and long calls within and across domains, sends, signals, 8 queued"),
        ("faults", "reads of unmapped memory, answered by another thread"),
        ("threads", "threads, endpoints, timers, capabilities and domains made and ended"),
        ("memory", "32 pages made, mapped, written, protected, unmapped and given back"),
        ("tick and time slice", "200 us"),
        ("distance of the timer", "5 to 105 us, at random"),
        ("warm-up", "20 samples a case that are not recorded"),
    ],
    notes: &[
        "From the instant that the timer was programmed for to the counter read of the thread \
         that waited for it; nothing is subtracted.",
        "Storms run at one priority, in turns of a time slice; the cases with one kind say where a \
         worst case of `all` is from.",
    ],
    user_system: Some(UserSystem {
        machines: &[
            Measure::Emulated(measure::of_user_system),
            Measure::Simulated(measure::of_user_system),
        ],
        parameters: &[],
        notes: &[
            "By the trace: from the instant of a timer or a timeout to the kernel's exit to the \
                  thread that it wakes, by domain. What writing the records took is in it.",
        ],
    }),
    ..Experiment::USUAL
};
