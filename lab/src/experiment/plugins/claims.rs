//! S2C-C07.

use super::{CPUS, LATENCY, LOADS, MEAN, case};
use crate::experiment::claim::Ours::{Each, Same};
use crate::experiment::claim::{Setting, Spec, claim, least, median, most};
use results::Bound::{AtLeast, AtMost};
use results::{Origin, Report};

const SETTING: Setting = &[
    (
        "machine",
        "16 cores of 2 GHz, Linux 3.0 with LITMUS^RT, 20 minutes",
        Each([
            "emulated: CPUs one after the other, 1 to 4",
            "simulated: 1 to 4 CPUs, work takes its time",
            "",
        ]),
    ),
    ("task", "cyclictest, one thread a core", Same("one a CPU, a release every 2 ms or so")),
    (
        "load",
        "none, computing, or I/O by 400 processes and the disk",
        Each(["none; on one CPU calls", "none; calls on each CPU", ""]),
    ),
    ("lock", "the global plugin's own, beside the run queues'", Same("the kernel's, for all")),
];

/// A figure of a policy by that of fixed priorities.
fn beside(report: &Report, metric: &str, policy: &str, cpus: u64, load: &str) -> Option<f64> {
    let of = |policy| median(report, manifest::TREE, metric, &case(policy, cpus, load));
    Some(of(policy)? / of("p-fp")?)
}

/// The loads that a report has on several CPUs.
fn loads(report: &Report) -> impl Iterator<Item = &'static str> {
    let is_there = |load: &&str| beside(report, MEAN, "gsn-edf", CPUS[2], load).is_some();
    LOADS.into_iter().filter(is_there)
}

/// Why the simulation does not tell what a policy costs.
fn simulated(report: &Report) -> Option<String> {
    let why = "a decision costs the same by each policy in the simulation";
    (report.origin == Origin::SIMULATED).then(|| why.to_string())
}

pub fn claims() -> Vec<Spec> {
    const ALIKE: &str = "S2C-C07: indistinguishable; 10 % for a level of the tree more";
    const MORE: &str = "S2C-C07: higher mean and median";
    let alike = |metric: &'static str| {
        move |report: &Report| {
            let distance = |cpus, load| {
                let beside = beside(report, metric, "psn-edf", cpus, load)?;
                Some((beside - 1.0).abs() * 100.0)
            };
            let all = CPUS.into_iter().flat_map(|cpus| LOADS.map(|load| (cpus, load)));
            // A machine may have a load on few CPUs.
            let told = all.map(|(cpus, load)| (load, distance(cpus, load)));
            most(told.filter(|(load, own)| *load == LOADS[0] || own.is_some()).map(|it| it.1))
        }
    };
    let more = |metric: &'static str| {
        move |report: &Report| {
            let all = loads(report).map(|load| beside(report, metric, "gsn-edf", CPUS[2], load));
            least(all)
        }
    };
    let fewer = |report: &Report| {
        let of = |metric| beside(report, metric, "gsn-edf", CPUS[1], LOADS[0]);
        Some(format!("on 2 CPUs {:.2} and {:.2} times", of(LATENCY)?, of(MEAN)?))
    };
    vec![
        claim("S2C-C07a", "EDF on each CPU and fixed priorities are alike", SETTING)
            .hidden(simulated)
            .figure("difference of medians, most", "%", alike(LATENCY))
            .lies(AtMost(10.0), ALIKE)
            .figure("difference of means, most", "%", alike(MEAN))
            .lies(AtMost(10.0), ALIKE),
        claim("S2C-C07b", "one EDF for all CPUs is slower, on 4 of them", SETTING)
            .hidden(simulated)
            .figure("median by that of fixed priorities", "times", more(LATENCY))
            .lies(AtLeast(1.01), MORE)
            .figure("mean by that of fixed priorities", "times", more(MEAN))
            .lies(AtLeast(1.01), MORE)
            .remark(fewer),
    ]
}
