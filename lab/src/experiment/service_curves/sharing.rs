//! `sharing-dynamics`: how three programs that never wait share the CPU by a convex, a linear and a
//! concave curve (S4-E01), with the curves guaranteed and as shares alone.

use super::{KERNELS, MACHINE, QUANTUM, lines};
use crate::experiment::claim::Ours::Same;
use crate::experiment::claim::{Setting, Spec, claim, median};
use crate::experiment::parameter::Parameter;
use crate::experiment::{Boots, Experiment, Measure, Measured};
use abi::reservation::Share;
use anyhow::Result;
use results::Bound::Within;
use results::{Case, Curves, Limit, Report, Source};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "sharing-dynamics",
    about: "How programs that never wait share the CPU by service curves",
    ledger: &["S4-E01", "S4-C01"],
    machines: &[Measure::Simulated(measure), Measure::Emulated(measure)],
    kernels: &KERNELS,
    metrics: &[HAD],
    cases: &[],
    parameters: &[Parameter::count(
        "ms",
        [1, 10_000],
        &[100, 300, 435, 600, 1_000, 2_000],
        "milliseconds behind the start at which is read what each has had, 64 at most",
    )
    .sets("at")],
    conditions: &[
        ("curves", "<1%, 3 s, 9%>, 4.5%, <9%, 3 s, 1%>, each guaranteed and for what is left"),
        ("curves=shares", "the same, for what is left alone: nothing is guaranteed"),
        ("load", "a program that never waits on each; a meter above them"),
    ],
    notes: &["Curves of one's own: `./giusto run` a manifest like systems/sharing-dynamics.toml."],
    claims,
    ..Experiment::USUAL
};

/// CPU time that a leaf has had.
pub const HAD: &str = "cpu-time";
/// The leaves.
pub const LEAVES: [&str; 3] = ["convex", "linear", "concave"];
/// Until then each gets by its first slope, in milliseconds (S4-E01).
const BEND: u64 = 435;
/// What the ledger's model says of each, in milliseconds, at these instants.
pub const MODEL: [(u64, [u64; 3]); 6] = [
    (100, [9, 31, 60]),
    (300, [27, 91, 182]),
    (BEND, [39, 132, 264]),
    (600, [130, 185, 285]),
    (1_000, [373, 306, 321]),
    (2_000, [979, 610, 411]),
];
/// By how much each may differ from that, in milliseconds: quanta of 1 ms for each of three, and
/// what the model rounds.
const NEAR: f64 = 5.0;
/// The long run: where the second slopes are measured.
const LONG: u64 = 2_000;

const SETTING: Setting = &[
    MACHINE,
    ("load", "three numeric programs", Same("three programs that never wait")),
    ("curves", "<1%, 3 s, 9%>, 4.5%, <9%, 3 s, 1%>", Same("the same")),
    (
        "what a curve is",
        "not stated whether guarantees count here, or shares alone",
        Same("both, as in the ledger; beside it shares alone"),
    ),
    QUANTUM,
    ("measured", "progress of each program (Figure 2)", Same("CPU time of each reservation")),
];

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    for alone in [false, true] {
        measure_curves(setup, kernel, alone, &mut measured)?;
    }
    measured.units.insert(HAD.to_string(), "us of CPU time".to_string());
    Ok(measured)
}

/// The same with curves that are guaranteed, or shares `alone`.
fn measure_curves(
    setup: &impl Boots,
    kernel: &str,
    alone: bool,
    measured: &mut Measured,
) -> Result<()> {
    let outcome = setup.boot_changed(EXPERIMENT.name, kernel, &mut |system| {
        for leaf in system.reservations.iter_mut().filter(|_| alone) {
            if let Share::Curve { guaranteed, .. } = &mut leaf.share {
                *guaranteed = None;
            }
        }
    })?;
    let mut curves: Vec<Case> = Vec::new();
    let told = lines(&outcome.console, "had", 3)?;
    if !alone {
        measured.limits.extend(beside_model(&told));
    }
    for (words, had) in told {
        let (at, leaf) = (words[0], words[1]);
        measured.samples.push(kernel, HAD, &case(leaf, at, alone), vec![had]);
        let point = (at.parse().unwrap_or(0.0), had as f64 / 1_000.0);
        match curves.iter_mut().find(|curve| curve.name == leaf) {
            Some(curve) => curve.trails[0].points.push(point),
            None => curves.push(Case::of(leaf, Source::Measured, [(0.0, 0.0), point])),
        }
    }
    let (suffix, what) = if alone { ("-shares", ", as shares alone") } else { ("", "") };
    measured.curves.push(Curves::of(
        format!("{}{suffix}", EXPERIMENT.name),
        format!("CPU time of a convex, a linear and a concave curve{what}"),
        ["milliseconds", "milliseconds of CPU time"],
        curves,
    ));
    Ok(())
}

/// How far what leaves had is from the ledger's model, where it has been read at its instants: a
/// limit of ours, of which the paper says nothing.
pub fn beside_model(told: &[(Vec<&str>, u64)]) -> Option<Limit> {
    let modelled = |at: &str, leaf: &str| {
        let (_, model) = MODEL.iter().find(|(instant, _)| instant.to_string() == at)?;
        Some(model[LEAVES.iter().position(|other| *other == leaf)?])
    };
    let off = told.iter().filter_map(|(words, had)| {
        Some(had.abs_diff(1_000 * modelled(words[0], words[1])?) as f64 / 1_000.0)
    });
    let name = "a leaf's CPU time, off the ledger's model (hfsc_sim.py)";
    Some(Limit::most(name, off.max_by(f64::total_cmp)?, NEAR, "ms"))
}

/// The case of a leaf at an instant, with curves as shares `alone` or guaranteed as well.
pub fn case(leaf: &str, at: impl std::fmt::Display, alone: bool) -> String {
    let curves = if alone { " curves=shares" } else { "" };
    format!("leaf={leaf} ms={at}{curves}")
}

fn had(report: &Report, leaf: &str, at: u64, alone: bool) -> Option<f64> {
    median(report, manifest::TREE, HAD, &case(leaf, at, alone))
}

/// Percent of all CPU time in a span.
fn share(report: &Report, leaf: &str, (from, to): Span, alone: bool) -> Option<f64> {
    let between = |leaf: &str| {
        let before = from.map_or(Some(0.0), |from| had(report, leaf, from, alone))?;
        Some(had(report, leaf, to, alone)? - before)
    };
    let all: f64 = LEAVES.into_iter().map(between).sum::<Option<f64>>()?;
    Some(100.0 * between(leaf)? / all)
}

/// From an instant, or the begin, to another, in milliseconds.
type Span = (Option<u64>, u64);
/// In which the first slopes hold, and the second ones.
const FIRST: Span = (None, BEND);
const SECOND: Span = (Some(BEND), LONG);

/// What becomes of the shares by what the paper leaves open.
fn open(report: &Report, span: Span, modelled: &str) -> Option<String> {
    let alone = LEAVES.map(|leaf| share(report, leaf, span, true));
    let [convex, linear, concave] = alone;
    Some(format!(
        "not given: whether curves are guaranteed here; as shares alone they give {:.1}, {:.1} \
         and {:.1} %. Nor is the quantum given; the ledger's model of the guaranteed ones says \
         {modelled}, and gives the paper's at no quantum from 0.01 to 50 ms: what is \
         guaranteed by a convex curve is eligible by its second slope",
        convex?, linear?, concave?
    ))
}

/// The parts of S4-C01.
fn claims() -> Vec<Spec> {
    const BEFORE: &str = "S4-C01: 6.9, 31.0 and 62.1 %, within 2 points (claim index)";
    const BEHIND: &str = "S4-C01: 62.1, 31.0 and 6.9 %, within 2 points (claim index)";
    const MODELLED: [&str; 2] = ["9.0, 30.3 and 60.7 %", "60.1, 30.5 and 9.4 %"];
    let first = |report: &Report, leaf| share(report, leaf, FIRST, false);
    let second = |report: &Report, leaf| share(report, leaf, SECOND, false);
    let before = claim("S4-C01a", "before 435 ms each has its part of the first slopes", SETTING)
        .figure("convex, before", "%", move |report| first(report, LEAVES[0]))
        .lies(Within(4.9, 8.9), BEFORE)
        .figure("linear, before", "%", move |report| first(report, LEAVES[1]))
        .lies(Within(29.0, 33.0), BEFORE)
        .figure("concave, before", "%", move |report| first(report, LEAVES[2]))
        .lies(Within(60.1, 64.1), BEFORE)
        .remark(|report| open(report, FIRST, MODELLED[0]));
    let behind = claim("S4-C01b", "behind 435 ms each has its part of the second slopes", SETTING)
        .figure("convex, behind", "%", move |report| second(report, LEAVES[0]))
        .lies(Within(60.1, 64.1), BEHIND)
        .figure("linear, behind", "%", move |report| second(report, LEAVES[1]))
        .lies(Within(29.0, 33.0), BEHIND)
        .figure("concave, behind", "%", move |report| second(report, LEAVES[2]))
        .lies(Within(4.9, 8.9), BEHIND)
        .remark(|report| open(report, SECOND, MODELLED[1]));
    vec![before, behind]
}
