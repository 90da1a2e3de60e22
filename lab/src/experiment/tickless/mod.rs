//! `tickless`: timer interrupts of a program that never waits (S2I-C01).

use super::claim::Ours::{Each, Same};
use super::claim::{Setting, Spec, claim, median};
use super::user_system::{ROOM, traced};
use super::{Boots, Experiment, Measure, Measured};
use abi::trace::{Event, entry};
use anyhow::{Result, ensure};
use results::Bound::{AtLeast, AtMost};
use results::Report;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "tickless",
    about: "Timer interrupts in a second, of programs that never wait",
    ledger: &["S2I-01", "S2I-02", "S2I-04", "S2I-C01"],
    machines: &[Measure::Simulated(measure), Measure::Emulated(measure)],
    kernels: &KERNELS,
    metrics: &[INTERRUPTS],
    cases: &CASES,
    conditions: &[
        ("load", "programs of one priority that never wait, and one that waits for the end"),
        ("counted", "from 100 ms to 1100 ms behind boot, by the trace"),
        ("tick", "1 ms; a time slice is 10 ms"),
    ],
    claims,
    ..Experiment::USUAL
};

/// A kernel whose tick runs while a thread waits for the CPU, and one without a tick.
const KERNELS: [&str; 2] = ["fastpath", manifest::TREE];
/// Timer interrupts in a second.
const INTERRUPTS: &str = "timer-interrupts";
/// Programs that never wait.
const CASES: [&str; 2] = ["threads=1", "threads=2"];
/// What is counted, in nanoseconds since boot.
const SPAN: std::ops::Range<u64> = 100_000_000..1_100_000_000;

const SETTING: Setting = &[
    (
        "machine",
        "a PC with Linux 3.10, 1000 Hz",
        Each(["emulated: an instruction is a nanosecond", "simulated: work takes its time", ""]),
    ),
    ("load", "one thread that computes", Same("one thread that computes; two for comparison")),
    ("measured", "timer interrupts in a second", Same("the same")),
];

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    for case in CASES {
        let (traces, _) = traced(setup, EXPERIMENT.name, kernel, ROOM, &mut |system| {
            let both = case == CASES[1];
            let others = system.domains.iter_mut().filter(|domain| both && domain.name == "other");
            for (_, value) in others.flat_map(|other| &mut other.args) {
                *value = "0".to_string();
            }
        })?;
        let moments = &traces.all.moments;
        let end = moments.last().map_or(0, |moment| moment.ns);
        ensure!(end > SPAN.end, "the run ended after {end} ns");
        let counted = moments.iter().filter(|moment| {
            let is_timer = moment.event == Event::Enter && moment.argument == entry::TIMER;
            is_timer && SPAN.contains(&moment.ns)
        });
        measured.samples.push(kernel, INTERRUPTS, case, vec![counted.count() as u64]);
    }
    measured.units.insert(INTERRUPTS.to_string(), "interrupts".to_string());
    Ok(measured)
}

fn interrupts(report: &Report, case: &str) -> Option<f64> {
    median(report, manifest::TREE, INTERRUPTS, case)
}

fn claims() -> Vec<Spec> {
    vec![
        claim("S2I-C01", "a thread that computes alone sees no timer interrupts", SETTING)
            .figure("alone", "interrupts a second", |report| interrupts(report, CASES[0]))
            .lies(AtMost(1.0), "S2I-C01: 1 Hz residual allowed, and a tick has 1000 Hz")
            .figure("of two", "interrupts a second", |report| interrupts(report, CASES[1]))
            .lies(AtLeast(50.0), "what is measured would show: equals take turns by the timer"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::testing::{all_hold, expect, report};
    use results::Verdict;

    #[test]
    fn interrupts_are_judged() {
        let of = |alone, of_two| {
            let row = |case, value| (manifest::TREE, INTERRUPTS, case, value);
            report("twin", &[row(CASES[0], alone), row(CASES[1], of_two)])
        };
        all_hold(&EXPERIMENT, &of(0, 100), &[]);
        expect(&EXPERIMENT, &of(2, 100), Verdict::Contradicted, &["S2I-C01"]);
        expect(&EXPERIMENT, &of(0, 0), Verdict::Contradicted, &["S2I-C01"]);
    }
}
