//! `mixed-criticality`: what becomes of flight control and vision while a guest never waits, on
//! priorities alone, by deadlines alone, with partitions and budgets, and with service curves.

mod measure;
mod picture;
#[cfg(test)]
mod tests;

use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "mixed-criticality",
    about: "A guest runs wild: by priorities, deadlines, partitions, curves",
    ledger: &["S2C-07", "S2D-07", "S2D-08", "S4-01"],
    machines: &[Measure::Simulated(measure::measure), Measure::Emulated(measure::measure)],
    kernels: &[manifest::TREE],
    metrics: &[LATE, WORST, BOUND, SHARE],
    conditions: &[
        ("tasks", "flight: 400 us each 5 ms; vision: 5 ms each 40 ms; a guest; a log"),
        ("guest", "never waits from 100 ms to 600 ms; by its manifest 8 ms in each 20"),
        ("log", "never waits"),
    ],
    notes: &[
        "A release that passes while an earlier job goes on is a late job too. `cpu-share` is of \
         the time in which the guest runs wild, in millionths, by the trace; `bound` is what \
         `./giusto check` says, where it has one.",
        "policy=priorities is systems/mixed-priorities.toml, deadlines mixed-deadlines.toml, \
         partitions mixed-criticality.toml, curves mixed-curves.toml.",
    ],
    deep: true,
    ..Experiment::USUAL
};

/// Jobs that ended behind their deadline, or were left out since an earlier one went on.
const LATE: &str = "late-jobs";
/// The longest time from a release to the end of its job.
const WORST: &str = "worst-response";
/// What that is at most by the analysis.
const BOUND: &str = "bound";
/// Of all CPU time while the guest runs wild.
const SHARE: &str = "cpu-share";

/// A way to divide the CPU.
struct Variant {
    /// What cases call it.
    name: &'static str,
    /// What it is.
    title: &'static str,
    system: &'static str,
    /// Whether it keeps the deadlines of the others.
    keeps: bool,
}

/// All ways; the same programs run in each.
const VARIANTS: [Variant; 4] = [
    Variant {
        name: "priorities",
        title: "fixed priorities, the guest's highest",
        system: "mixed-priorities",
        keeps: false,
    },
    Variant {
        name: "deadlines",
        title: "EDF without budgets",
        system: "mixed-deadlines",
        keeps: false,
    },
    Variant {
        name: "partitions",
        title: "EDF with budgets, partitions below",
        system: "mixed-criticality",
        keeps: true,
    },
    Variant { name: "curves", title: "service curves", system: "mixed-curves", keeps: true },
];
/// The tasks that have deadlines, and the others.
const TIMED: [&str; 2] = ["flight", "vision"];
const TASKS: [&str; 4] = ["flight", "vision", "guest", "log"];
/// When the guest never waits, in nanoseconds since boot.
const WILD: std::ops::Range<u64> = 105_000_000..600_000_000;

fn case(policy: &str, task: &str) -> String {
    format!("policy={policy} task={task}")
}
