//! `ipc-chain`: what a chain of transfers in one activation of the kernel costs the highest thread
//! (S0-41), and what a preemption point after each transfer does about it.

mod claims;
#[cfg(test)]
mod tests;

use super::measure::{Sweep, sweep};
use super::{METRICS, threads};
use crate::experiment::parameter::Parameter;
use crate::experiment::{Boots, Experiment, Measure, Measured};
use crate::systems::set;
use anyhow::Result;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "ipc-chain",
    about: "Wake-ups while a chain of transfers is made at once",
    ledger: &["S0-41", "S0-E09", "S0-C11"],
    machines: &[Measure::Emulated(measure), Measure::Simulated(measure)],
    metrics: &METRICS,
    cases: &[WHOLE, PREEMPTED, LAZY_DEQUEUE],
    parameters: &[
        threads("each sending to the next and receiving from the one before"),
        Parameter::count("samples", [1, 20_000], &[200], "of a case").sets("samples"),
    ],
    conditions: &[
        ("preemption point", "none (`whole`), or after each transfer (`preempted`)"),
        ("distance of the timer", "2 to 100 us, at random"),
        ("warm-up", "20 samples a case that are not recorded"),
    ],
    notes: &[
        "`lazy-dequeue` is the elevator by calls with 250 threads, all of which are dequeued at \
         once, for comparison.",
    ],
    claims: claims::claims,
    ..Experiment::USUAL
};

const WHOLE: &str = "whole";
const PREEMPTED: &str = "preempted";
const LAZY_DEQUEUE: &str = "lazy-dequeue";

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let whole = Sweep {
        system: "ipc-chain",
        sweeps: true,
        change: |system| system.preempt_chains = false,
        forms: &[(1, WHOLE)],
    };
    let preempted =
        Sweep { change: |system| system.preempt_chains = true, forms: &[(1, PREEMPTED)], ..whole };
    let dequeue = Sweep {
        system: "elevator",
        sweeps: false,
        change: |system| {
            system.lazy_dequeues = 0;
            set(system, "forms", "1");
        },
        forms: &[(1, LAZY_DEQUEUE)],
    };
    sweep(setup, kernel, &[whole, preempted, dequeue])
}
