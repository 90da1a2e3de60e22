//! `start-stop`: what it costs the highest thread that many threads are stopped (S0-40).

mod claims;
#[cfg(test)]
mod tests;

use super::measure::{Sweep, sweep};
use super::{METRICS, threads};
use crate::experiment::parameter::Parameter;
use crate::experiment::{Boots, Experiment, Measure, Measured};
use anyhow::Result;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "start-stop",
    about: "Wake-ups while many threads are stopped and started again",
    ledger: &["S0-40", "S0-E08", "S0-C10", "X-13"],
    machines: &[Measure::Emulated(measure), Measure::Simulated(measure)],
    metrics: &METRICS,
    cases: &["", "bounded"],
    parameters: &[
        threads("with ascending priorities, all below the controller"),
        Parameter::samples(&[1000], "samples"),
    ],
    conditions: &[
        ("lazy dequeue", "unbounded (0), and bounded to 4 with the most threads"),
        ("distance of the timer", "2 to 22 us, at random"),
        ("warm-up", "20 samples a case that are not recorded"),
    ],
    notes: &[
        "Only a kernel that leaves stopped threads in the ready queue has any to dequeue lazily: \
         then the look-up after the controller has lowered itself drops them all.",
    ],
    claims: claims::claims,
    ..Experiment::USUAL
};

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let run = Sweep {
        system: "start-stop",
        sweeps: true,
        change: |system| system.lazy_dequeues = 0,
        forms: &[(1, "")],
    };
    let bounded = Sweep {
        sweeps: false,
        change: |system| system.lazy_dequeues = 4,
        forms: &[(1, "bounded")],
        ..run
    };
    sweep(setup, kernel, &[run, bounded])
}
