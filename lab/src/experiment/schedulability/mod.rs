//! `schedulability`: how many random task sets each policy takes, by utilisation, as the analysis
//! says and as the scheduling tree plays them (S2B-04, S2C-07, S2D-07, S4-02).

mod kept;
mod measure;
mod plan;
mod shards;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "schedulability",
    about: "Random task sets that fit, by policy: analysed and played",
    ledger: &["S0-04", "S2B-01", "S2B-04", "S2C-07", "S2D-07", "S4-02", "S4-04"],
    machines: &[Measure::Computed(measure::measure)],
    kernels: &[manifest::TREE],
    metrics: &[ACCEPTED, MET, PESSIMISM],
    parameters: &[
        Parameter::choice("policy", &POLICIES, "that each set is given to"),
        Parameter::count("cpus", [1, 8], &[1, 4], "of a set"),
        Parameter::count("tasks", [2, 20], &[6], "for each CPU"),
        Parameter::count(
            "utilisation",
            [1, 100],
            &[50, 60, 70, 75, 80, 85, 90, 95, 100],
            "of each CPU, or of the half that a set has, in percent",
        ),
        Parameter::count("sets", [1, 1_000_000], &[6_000], "for each of these"),
        Parameter::time("shortest", [4_000_000, 1_000_000_000], &[10_000_000], "period"),
        Parameter::time("longest", [1_000_000, 10_000_000_000], &[100_000_000], "period"),
        Parameter::count("deadline", [10, 100], &[100], "at least, in percent of the period"),
    ],
    conditions: &[
        ("sets", "UUniFast-discard, periods log-uniform; one set is given to all policies"),
        ("priorities", "by deadline"),
        ("length", "two longest periods, at the critical instant and with sporadic arrivals"),
        ("time", "virtual: decisions are due when they are due and take no time"),
    ],
    notes: &[
        "`accepted` is what the analysis accepts, `met` where nothing was missed when played, \
         `pessimism` what it rejects though nothing was missed. A sample is a share of 100 sets.",
        "Played is the scheduling tree of `policies/src/tree`, the kernel's own code, but for \
         `global-edf`, which the kernel does not have: that is played by its definition.",
        "What the analysis has not decided within 20,000 terms counts as rejected.",
    ],
    ..Experiment::USUAL
};

/// What the analysis accepts.
const ACCEPTED: &str = "accepted";
/// Where nothing was missed when it was played.
const MET: &str = "met";
/// What the analysis rejects though nothing was missed.
const PESSIMISM: &str = "pessimism";

/// All policies, as parameters and cases call them.
const POLICIES: [&str; acceptance::Policy::ALL.len()] = {
    let mut names = [""; acceptance::Policy::ALL.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = acceptance::Policy::ALL[index].name();
        index += 1;
    }
    names
};
