//! What `sections` runs: each load at its worst, with what it is alone in.
//!
//! A group is of loads that do no more than systems with few rights can do, so that `check` can
//! bound these by less than the worst of all.

use crate::systems::set;
use manifest::System;

/// A run of a system.
#[derive(Clone, Copy)]
pub struct Load<'a> {
    /// The system.
    pub system: &'a str,
    /// Sets what it is to do.
    pub change: Change,
    /// What it stands for; none: for all that programs can do.
    pub group: Option<&'static str>,
}

/// Sets what a run is to do, with so many samples of a storm.
pub type Change = fn(&mut System, samples: u64);

/// Programs whose threads inherit nothing, are in no train and have no reservation.
pub const PLAIN: &str = "plain";
/// Classes of this policy.
pub const FIXED_PRIORITY: &str = "fixed-priority";
pub const EDF: &str = "edf";
pub const PARTITIONS: &str = "partitions";
/// Service curves, by how many classes there are in each other.
pub const CURVES: [(&str, u64); 3] = [
    ("service-curves levels=2", 2),
    ("service-curves levels=4", 4),
    ("service-curves levels=6", 6),
];

/// What is run under each kernel.
pub const USUAL: [Load<'static>; 7] = [
    load("worst", |_, _| {}, Some(PLAIN)),
    load("latency", |system, samples| set(system, "samples", &samples.to_string()), Some(PLAIN)),
    load("selftest", |_, _| {}, None),
    load("hostile", |_, _| {}, None),
    load("queueing", |system, _| set(system, "most", "100"), Some(PLAIN)),
    load("ipc-chain", chain, Some(PLAIN)),
    load("worst-train", |_, _| {}, None),
];

/// What is run as well where there is one.
pub const OF_TREE: [Load<'static>; 10] = [
    load("worst-tree", |system, _| scenes(system, &[0, 1, 4], 6), Some(FIXED_PRIORITY)),
    load("worst-tree", |system, _| scenes(system, &[2, 3, 7], 6), Some(EDF)),
    load("worst-tree", |system, _| scenes(system, &[5, 6], 2), Some(CURVES[0].0)),
    load("worst-tree", |system, _| scenes(system, &[5, 6], 4), Some(CURVES[1].0)),
    load("worst-tree", |system, _| scenes(system, &[5, 6], 6), Some(CURVES[2].0)),
    load("worst-tree", |system, _| scenes(system, &[8], 6), Some(PARTITIONS)),
    load("worst-tree", |system, _| scenes(system, &[9, 10], 6), None),
    load("budgets", |_, _| {}, None),
    load("mixed-criticality", |_, _| {}, None),
    load("mixed-curves", |_, _| {}, Some(CURVES[0].0)),
];

/// What is run where leaves are lent.
pub const LENT: [Load<'static>; 1] = [load("worst-lent", |_, _| {}, None)];

const fn load<'a>(system: &'a str, change: Change, group: Option<&'static str>) -> Load<'a> {
    Load { system, change, group }
}

fn chain(system: &mut System, _: u64) {
    system.preempt_chains = true;
    set(system, "sweep", "100");
    set(system, "samples", "20");
}

/// The scenes of `worst-tree` that are played, with so many classes in each other.
fn scenes(system: &mut System, numbers: &[u32], levels: u64) {
    let mask: u64 = numbers.iter().map(|number| 1 << number).sum();
    set(system, "scenes", &mask.to_string());
    set(system, "levels", &levels.to_string());
}
