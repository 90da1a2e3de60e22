//! `elevator`: what lazy queueing costs the highest thread when a chain of threads has blocked on
//! the ready queue (S0-39), and what bounding the purge does about it.

use super::{METRICS, push, threads, wake_ups};
use crate::experiment::{Boots, Cpus, Experiment, Measure, Measured, claims};
use crate::systems::set;
use anyhow::Result;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "elevator",
    about: "Wake-ups while threads in ascending order block on the ready queue and are purged",
    ledger: &["S0-39", "S0-E07", "S0-C08", "S0-C09", "X-13"],
    machines: &[Measure::Emulated(measure), Measure::Simulated(measure)],
    cpus: Cpus::One,
    kernels: &manifest::KERNELS,
    metrics: &METRICS,
    cases: &[
        "call threads=50",
        "call threads=100",
        "call threads=150",
        "call threads=200",
        "call threads=250",
        "send threads=50",
        "send threads=100",
        "send threads=150",
        "send threads=200",
        "send threads=250",
        "call, bounded threads=250",
        "send, bounded threads=250",
    ],
    parameters: &[
        ("threads", "50 to 250, with ascending priorities"),
        ("third step", "a call to the next, or a send and a receive from the one before"),
        ("purge", "unbounded (0), and bounded to 4 at 250 threads"),
        ("distance of the timer", "2 to 22 us, at random"),
        ("samples", "1000 a case, after 20 that are not recorded"),
    ],
    notes: &[
        "A purge is met by some wake-ups only: the median is that of an idle system, and what the \
         experiment is about are the worst ones.",
        "After a run by calls the elevator is sent down again, by replies: without it the chain \
         could not begin anew. Nothing is queued on that way.",
    ],
    golden: false,
    modelled: false,
    claims: claims::elevator::all,
};

const SYSTEM: &str = "elevator";

/// Metrics as the program numbers them, with the names of their cases.
const FORMS: [(u16, &str); 2] = [(1, "call"), (2, "send")];

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let unbounded = wake_ups(setup, SYSTEM, kernel, &|system| system.purge = 0)?;
    let bounded = wake_ups(setup, SYSTEM, kernel, &|system| {
        system.purge = 4;
        set(system, "sweep", "250");
    })?;
    for (metric, form) in FORMS {
        push(&mut measured.samples, &unbounded, metric, &threads(form))?;
    }
    for (metric, form) in FORMS {
        let form = format!("{form}, bounded");
        push(&mut measured.samples, &bounded, metric, &threads(&form))?;
    }
    Ok(measured)
}
