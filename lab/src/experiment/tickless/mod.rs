//! `tickless`: timer interrupts of a program that never waits, and to whom CPU time is charged
//! (S2I-C01).

mod accounting;

use super::claim::Ours::{Each, Same};
use super::claim::{Setting, Spec, claim, median};
use super::traced::{ROOM, traced};
use super::{Boots, Experiment, Measure, Measured};
use abi::trace::{Event, entry};
use anyhow::{Result, ensure};
use results::Bound::{Above, AtMost};
use results::{Limit, Report};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "tickless",
    about: "Timer interrupts of programs that never wait; CPU time charged to the wrong thread",
    ledger: &["S2I-01", "S2I-02", "S2I-03", "S2I-04", "S2I-C01"],
    machines: &[Measure::Simulated(measure), Measure::Emulated(measure)],
    kernels: &KERNELS,
    metrics: &[INTERRUPTS, MISATTRIBUTED],
    cases: &[CASES[0], CASES[1], CHARGED[0], CHARGED[1]],
    conditions: &[
        ("load", "programs of one priority that never wait, and one that waits for the end"),
        ("counted", "from 100 ms to 1100 ms behind boot, by the trace"),
        ("tick", "1 ms; a time slice is 10 ms"),
        ("charged", "mixed-criticality: tasks of 400 us and 5 ms beside two that never wait"),
    ],
    claims,
    deep: true,
    ..Experiment::USUAL
};

/// A kernel whose tick runs while a thread waits for the CPU, and one without a tick.
const KERNELS: [&str; 2] = ["fastpath", manifest::TREE];
/// Timer interrupts in a second.
const INTERRUPTS: &str = "timer-interrupts";
/// Programs that never wait.
const CASES: [&str; 2] = ["threads=1", "threads=2"];
/// CPU time that was charged to another than the thread that had it, of all.
const MISATTRIBUTED: &str = "misattributed";
/// How it was charged.
const CHARGED: [&str; 2] = ["charged=at-switches", "charged=by-ticks"];
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

const CHARGES: Setting = &[
    (
        "machine",
        "a PC with Linux 3.10, 1000 Hz",
        Each(["emulated: an instruction is a nanosecond", "simulated: work takes its time", ""]),
    ),
    (
        "charged",
        "by ticks, and at boundaries of the kernel and switches",
        Same("by a sample each ms of the trace, and by the kernel `tree` at its switches"),
    ),
    (
        "load",
        "not given",
        Same("tasks of 400 us in 5 ms and 5 ms in 40 beside two that never wait"),
    ),
    ("measured", "the error; no figure is given", Same("CPU time charged to another thread")),
    ("true", "not given", Same("from switch to switch by the trace")),
];

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    for case in CASES {
        let traced = traced(setup, EXPERIMENT.name, kernel, ROOM, &mut |system| {
            let both = case == CASES[1];
            let others = system.domains.iter_mut().filter(|domain| both && domain.name == "other");
            for (_, value) in others.flat_map(|other| &mut other.args) {
                *value = "0".to_string();
            }
        })?;
        let moments = &traced.traces.all.moments;
        let end = moments.last().map_or(0, |moment| moment.ns);
        ensure!(end > SPAN.end, "the run ended after {end} ns");
        let counted = moments.iter().filter(|moment| {
            let is_timer = moment.event == Event::Enter && moment.argument == entry::TIMER;
            is_timer && SPAN.contains(&moment.ns)
        });
        let counted = counted.count() as u64;
        measured.limits.extend((case == CASES[1]).then(|| would_show(kernel, counted)));
        measured.samples.push(kernel, INTERRUPTS, case, vec![counted]);
    }
    if kernel == manifest::TREE {
        let both = accounting::measure(setup, kernel)?;
        for (case, value) in CHARGED.into_iter().zip([both.at_switches, both.by_ticks]) {
            measured.samples.push(kernel, MISATTRIBUTED, case, vec![value]);
        }
        measured.units.insert(MISATTRIBUTED.to_string(), "ppm".to_string());
    }
    measured.units.insert(INTERRUPTS.to_string(), "interrupts".to_string());
    Ok(measured)
}

/// Equals take turns by the timer: with two of them, what is counted is not nothing.
fn would_show(kernel: &str, counted: u64) -> Limit {
    let name = format!("{kernel} {INTERRUPTS} {}", CASES[1]);
    Limit::least(name, counted as f64, 50.0, "interrupts")
}

fn interrupts(report: &Report, case: &str) -> Option<f64> {
    median(report, manifest::TREE, INTERRUPTS, case)
}

fn charged(report: &Report, way: usize) -> Option<f64> {
    median(report, manifest::TREE, MISATTRIBUTED, CHARGED[way])
}

fn claims() -> Vec<Spec> {
    vec![
        claim(
            "S2I-C01a",
            "a thread that computes alone sees at most one timer interrupt a second",
            SETTING,
        )
        .figure("alone", "interrupts a second", |report| interrupts(report, CASES[0]))
        .lies(AtMost(1.0), "S2I-C01: 1 Hz residual allowed, and a tick has 1000 Hz"),
        claim("S2I-C01b", "charged where the CPU changes hands, less goes to others", CHARGES)
            .figure("by ticks, more than at switches", "ppm", |report| {
                Some(charged(report, 1)? - charged(report, 0)?)
            })
            .lies(Above(0.0), "S2I-C01: the error at boundaries is below that by ticks")
            .remark(|report| {
                let [switches, ticks] = [charged(report, 0)?, charged(report, 1)?];
                Some(format!("of a million, {switches} at switches and {ticks} by ticks"))
            }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::testing::{all_hold, expect, report};
    use results::Verdict;

    #[test]
    fn interrupts_are_judged() {
        let of = |alone, of_two, charged: [u64; 2]| {
            let row = |case, value| (manifest::TREE, INTERRUPTS, case, value);
            let charge = |way: usize| (manifest::TREE, MISATTRIBUTED, CHARGED[way], charged[way]);
            report("twin", &[row(CASES[0], alone), row(CASES[1], of_two), charge(0), charge(1)])
        };
        all_hold(&EXPERIMENT, &of(0, 100, [500, 90_000]), &[]);
        let contradicted = |report, claim| {
            expect(&EXPERIMENT, &report, Verdict::Contradicted, &[claim]);
        };
        contradicted(of(2, 100, [500, 90_000]), "S2I-C01a");
        contradicted(of(0, 100, [500, 500]), "S2I-C01b");
    }

    #[test]
    fn a_count_that_misses_interrupts_shows() {
        assert!(would_show("tree", 50).held() && !would_show("tree", 49).held());
    }
}
