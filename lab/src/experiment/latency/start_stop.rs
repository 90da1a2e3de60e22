//! `start-stop`: what it costs the highest thread that many threads are stopped (S0-40).

use super::{METRICS, push, threads, wake_ups};
use crate::experiment::{Boots, Cpus, Experiment, Measure, Measured, claims};
use crate::systems::set;
use anyhow::Result;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "start-stop",
    about: "Wake-ups while a controller stops many threads and lets them run again",
    ledger: &["S0-40", "S0-E08", "S0-C10", "X-13"],
    machines: &[Measure::Emulated(measure), Measure::Simulated(measure)],
    cpus: Cpus::One,
    kernels: &manifest::KERNELS,
    metrics: &METRICS,
    cases: &[
        "threads=50",
        "threads=100",
        "threads=150",
        "threads=200",
        "threads=250",
        "bounded threads=250",
    ],
    parameters: &[
        ("threads", "50 to 250, with ascending priorities, all below the controller"),
        ("purge", "unbounded (0), and bounded to 4 at 250 threads"),
        ("distance of the timer", "2 to 22 us, at random"),
        ("samples", "1000 a case, after 20 that are not recorded"),
    ],
    notes: &[
        "Only a kernel that leaves stopped threads in the ready queue has anything to purge: then \
         the look-up after the controller has lowered itself drops them all.",
    ],
    golden: false,
    modelled: false,
    claims: claims::start_stop::all,
};

const SYSTEM: &str = "start-stop";

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let unbounded = wake_ups(setup, SYSTEM, kernel, &|system| system.purge = 0)?;
    let bounded = wake_ups(setup, SYSTEM, kernel, &|system| {
        system.purge = 4;
        set(system, "sweep", "250");
    })?;
    push(&mut measured.samples, &unbounded, 1, &threads(""))?;
    push(&mut measured.samples, &bounded, 1, &threads("bounded"))?;
    Ok(measured)
}
