//! `plugins`: how late tasks begin by fixed priorities, by deadlines on each CPU, and by deadlines
//! over all CPUs (S2C-E04, S2C-C07).

mod claims;
mod measure;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "plugins",
    about: "How late a task on each CPU begins, by the policy that schedules it",
    ledger: &["S2C-07", "S2C-E04", "S2C-C07"],
    machines: &[Measure::Emulated(measure::emulated), Measure::Simulated(measure::simulated)],
    kernels: &[manifest::TREE],
    metrics: &[LATENCY, MEAN, WORST],
    parameters: &[
        Parameter::among("machine-cpus", &CPUS, "CPUs of the machine, each with a task"),
        Parameter::count("frames", [8, 400], &[COUNT], "releases of each task"),
    ],
    conditions: &[
        ("tasks", "one on each CPU, all released at the same instants, every 2 ms or so"),
        ("policies", "p-fp: 512 priorities; psn-edf: EDF on each CPU; gsn-edf: one EDF for all"),
        ("calls", "a client and a server on each CPU that never think, below the tasks"),
    ],
    notes: &[
        "From a release, an instant of the clock, to the task's first instruction; all tasks of a \
         case together.",
        "The emulator runs one CPU after the other on one clock: there a figure is what all CPUs \
         execute meanwhile, and calls are on one CPU alone.",
    ],
    claims: claims::claims,
    deep: true,
    ..Experiment::USUAL
};

/// From a release to the first instruction.
const LATENCY: &str = "release-latency";
/// Its mean.
const MEAN: &str = "release-latency-mean";
/// The longest.
const WORST: &str = "release-latency-worst";

/// Policies, as reservations of the system begin.
const POLICIES: [&str; 3] = ["p-fp", "psn-edf", "gsn-edf"];
/// Numbers of CPUs, usually.
const CPUS: [u64; 3] = [1, 2, 4];
/// What runs below the tasks.
const LOADS: [&str; 2] = ["none", "calls"];
/// Releases of each task, usually.
const COUNT: u64 = 100;

fn case(policy: &str, cpus: u64, load: &str) -> String {
    format!("policy={policy} cpus={cpus} load={load}")
}
