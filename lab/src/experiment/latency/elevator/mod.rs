//! `elevator`: what lazy queueing costs the highest thread when a chain of threads has blocked on
//! the ready queue (S0-39), and what bounding the lazy dequeue does about it.

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
    name: "elevator",
    about: "Wake-ups while blocked threads are dequeued lazily",
    ledger: &["S0-39", "S0-E07", "S0-C08", "S0-C09", "X-13"],
    machines: &[Measure::Emulated(measure), Measure::Simulated(measure)],
    metrics: &METRICS,
    cases: &[CALL, SEND, CALL_BOUNDED, SEND_BOUNDED],
    parameters: &[
        threads("in the chain, with ascending priorities"),
        Parameter::samples(&[1000], "samples"),
    ],
    conditions: &[
        ("third step", "a call to the next, or a send and a receive from the one before"),
        ("lazy dequeue", "unbounded (0), and bounded to 4 with the most threads"),
        ("distance of the timer", "2 to 22 us, at random"),
        ("warm-up", "20 samples a case that are not recorded"),
    ],
    notes: &[
        "A lazy dequeue is met by some wake-ups only: the median is that of an idle system, and \
         what the experiment is about are the worst ones.",
        "After a run by calls the elevator is sent down again, by replies: without it the chain \
         could not be restarted. Nothing is queued on that way.",
    ],
    claims: claims::claims,
    ..Experiment::USUAL
};

const CALL: &str = "call";
const SEND: &str = "send";
const CALL_BOUNDED: &str = "call, bounded";
const SEND_BOUNDED: &str = "send, bounded";

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let run = Sweep {
        system: "elevator",
        sweeps: true,
        change: |system| system.lazy_dequeues = 0,
        forms: &[(1, CALL), (2, SEND)],
    };
    let bounded = Sweep {
        sweeps: false,
        change: |system| system.lazy_dequeues = 4,
        forms: &[(1, CALL_BOUNDED), (2, SEND_BOUNDED)],
        ..run
    };
    sweep(setup, kernel, &[run, bounded])
}
