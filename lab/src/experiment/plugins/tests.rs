use super::*;
use crate::experiment::testing::{all_hold, expect, report_but};
use results::{Origin, Report, Verdict};

/// Figures that reproduce the claims, but for one.
fn made_up(change: Option<(&str, &str, u64)>) -> Report {
    let mut figures: Vec<(&str, String, u64)> = Vec::new();
    for cpus in CPUS {
        for load in LOADS {
            for (policy, latency) in POLICIES.into_iter().zip([1_000, 1_020, 1_500]) {
                for metric in [LATENCY, MEAN] {
                    figures.push((metric, case(policy, cpus, load), latency));
                }
            }
        }
    }
    report_but("qemu-x86_64", manifest::TREE, &figures, change)
}

#[test]
fn policies_that_differ_as_the_papers_do_reproduce() {
    all_hold(&EXPERIMENT, &made_up(None), &[]);
}

#[test]
fn other_differences_contradict() {
    let contradicted = |metric, policy, value, id| {
        let changed = made_up(Some((metric, &case(policy, 4, "none"), value)));
        expect(&EXPERIMENT, &changed, Verdict::Contradicted, &[id]);
    };
    contradicted(LATENCY, "psn-edf", 1_200, "S2C-C07a");
    contradicted(MEAN, "psn-edf", 800, "S2C-C07a");
    contradicted(LATENCY, "gsn-edf", 1_000, "S2C-C07b");
    contradicted(MEAN, "gsn-edf", 1_005, "S2C-C07b");
}

/// The emulator has a load on one CPU alone: it counts there, too.
#[test]
fn a_load_on_one_cpu_counts() {
    let emulated = |latency: u64| {
        let changed = case("psn-edf", 1, "calls");
        let mut report = made_up(Some((LATENCY, &changed, latency)));
        let is_there = |case: &str| case.ends_with("none") || case.contains("cpus=1 ");
        report.rows.retain(|row| is_there(&row.case));
        report
    };
    all_hold(&EXPERIMENT, &emulated(1_020), &[]);
    expect(&EXPERIMENT, &emulated(1_200), Verdict::Contradicted, &["S2C-C07a"]);
}

#[test]
fn the_simulation_does_not_tell_what_a_policy_costs() {
    let simulated = Report { origin: Origin::SIMULATED, ..made_up(None) };
    expect(&EXPERIMENT, &simulated, Verdict::NotObservable, &["S2C-C07a", "S2C-C07b"]);
}
