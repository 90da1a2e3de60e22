//! `decoupled-delay`: how long packets wait for a responder with 2 % of the CPU in the long run, by
//! a linear and by a concave curve (S4-E02).

use super::{KERNELS, MACHINE, QUANTUM, lines};
use crate::experiment::claim::Ours::{Each, Same};
use crate::experiment::claim::{Setting, Spec, claim};
use crate::experiment::parameter::Parameter;
use crate::experiment::{Boots, Emulated, Experiment, Measure, Measured, Simulated};
use abi::reservation::{Curve, Share};
use anyhow::{Result, ensure};
use results::Bound::{AtLeast, AtMost};
use results::{Limit, Report};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "decoupled-delay",
    about: "Delay of a responder with 2 % of the CPU, by its service curve",
    ledger: &["S4-E02", "S4-C02"],
    machines: &[Measure::Simulated(simulated), Measure::Emulated(emulated)],
    kernels: &KERNELS,
    metrics: &[DELAY, MEAN, WORST],
    cases: &CASES,
    parameters: &[Parameter::count(
        "packets",
        [1, 256],
        &[100],
        "packets of each curve; 5 on the emulator, which takes a minute for them",
    )],
    conditions: &[
        ("packets", "one each 3 s, 30 ms of work for each with the program's own steps"),
        ("linear", "responder 2%, hog 98%"),
        ("concave", "responder <90%, 50 ms, 2%>, hog <10%, 50 ms, 98%>"),
    ],
    notes: &["From the instant at which a packet comes, a timer's, to the end of its work."],
    claims,
    deep: true,
    ..Experiment::USUAL
};

/// From a packet to the end of its work.
const DELAY: &str = "delay";
/// The mean of all.
pub const MEAN: &str = "delay-mean";
/// The longest.
pub const WORST: &str = "delay-worst";
/// The curves.
pub const CASES: [&str; 2] = ["linear", "concave"];
/// What the ledger's model says of the mean of each, in microseconds, and how near a run is: 3 %,
/// and two quanta.
pub const MODEL: [(u64, u64); 2] = [(1_452_000, 46_000), (34_000, 3_000)];
/// Packets on the emulator, unless it is said.
const FEW: u64 = 5;
/// Packets in the simulation, unless it is said.
const MANY: u64 = 100;

const SETTING: Setting = &[
    MACHINE,
    ("packets", "UDP, 10 bytes, one each 3 s", Same("a timer, each 3 s")),
    ("samples", "100", Each(["5", "100", ""])),
    ("work", "30 ms for each", Same("29.9 ms for each, and the program's own steps")),
    ("curves", "2%; <90%, 50 ms, 2%>; a hog has the rest", Same("the same")),
    QUANTUM,
];

fn simulated(setup: &Simulated, kernel: &str) -> Result<Measured> {
    measure(setup, kernel, MANY)
}

fn emulated(setup: &Emulated, kernel: &str) -> Result<Measured> {
    measure(setup, kernel, FEW)
}

fn measure(setup: &impl Boots, kernel: &str, usual: u64) -> Result<Measured> {
    let mut measured = Measured::default();
    let packets = setup.asked.number("packets", usual);
    for (case, model) in CASES.into_iter().zip(MODEL) {
        let outcome = setup.boot_changed(EXPERIMENT.name, kernel, &mut |system| {
            crate::systems::set(system, "packets", &packets.to_string());
            if case == CASES[0] {
                for (name, percent) in [("responder", 2), ("hog", 98)] {
                    let leaf = system.reservations.iter_mut().find(|leaf| leaf.name == name);
                    let share = Share::curve(Curve::linear(percent * 10_000));
                    leaf.into_iter().for_each(|leaf| leaf.share = share);
                }
            }
        })?;
        let delays: Vec<u64> =
            lines(&outcome.console, "delay", 1)?.into_iter().map(|(_, delay)| delay).collect();
        ensure!(delays.len() as u64 == packets, "{} delays of {packets}", delays.len());
        let (sum, worst) = (delays.iter().sum::<u64>(), delays.iter().max().copied());
        measured.limits.push(beside_model(case, sum / packets, model));
        measured.samples.push(kernel, MEAN, case, vec![sum / packets]);
        measured.samples.push(kernel, WORST, case, worst.into_iter().collect());
        measured.samples.push(kernel, DELAY, case, delays);
    }
    for metric in EXPERIMENT.metrics {
        measured.units.insert(metric.to_string(), "us".to_string());
    }
    Ok(measured)
}

/// How far a mean is from the ledger's model: a limit of ours, of which the paper says nothing.
pub fn beside_model(case: &str, mean: u64, (model, near): (u64, u64)) -> Limit {
    let name = format!("{MEAN} {case}, off the ledger's model (hfsc_sim.py)");
    Limit::most(name, mean.abs_diff(model) as f64, near as f64, "us")
}

fn milliseconds(report: &Report, metric: &str, case: &str) -> Option<f64> {
    let figure = crate::experiment::claim::median(report, manifest::TREE, metric, case);
    figure.map(|microseconds| microseconds / 1_000.0)
}

/// The parts of S4-C02.
fn claims() -> Vec<Spec> {
    vec![
        claim("S4-C02a", "the mean drops at the same rate in the long run", SETTING)
            .figure("linear by concave", "times", |report| {
                let [linear, concave] = CASES.map(|case| milliseconds(report, MEAN, case));
                Some(linear? / concave?)
            })
            .lies(AtLeast(20.0), "S4-C02: more than 30 of the paper's; 20 in the claim index"),
        claim("S4-C02b", "the worst of the concave curve is below 45 ms", SETTING)
            .figure("worst", "ms", |report| milliseconds(report, WORST, CASES[1]))
            .lies(AtMost(45.0), "S4-C02"),
    ]
}
