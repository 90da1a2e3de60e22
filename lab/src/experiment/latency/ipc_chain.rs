//! `ipc-chain`: what a chain of transfers in one activation of the kernel costs the highest thread
//! (S0-41), and what a preemption point after each transfer does about it.

use super::{METRICS, push, threads, wake_ups};
use crate::experiment::{Boots, Cpus, Experiment, Measure, Measured, claims};
use crate::systems::set;
use anyhow::Result;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "ipc-chain",
    about: "Wake-ups while many transfers that hang on each other are made at once",
    ledger: &["S0-41", "S0-E09", "S0-C11"],
    machines: &[Measure::Emulated(measure), Measure::Simulated(measure)],
    cpus: Cpus::One,
    kernels: &manifest::KERNELS,
    metrics: &METRICS,
    cases: &[
        "whole threads=50",
        "whole threads=100",
        "whole threads=150",
        "whole threads=200",
        "whole threads=250",
        "preempted threads=50",
        "preempted threads=100",
        "preempted threads=150",
        "preempted threads=200",
        "preempted threads=250",
        "purge threads=250",
    ],
    parameters: &[
        ("threads", "50 to 250, each sending to the next and receiving from the one before"),
        ("preemption point", "none (`whole`), or after each transfer (`preempted`)"),
        ("distance of the timer", "2 to 100 us, at random"),
        ("samples", "200 a case, after 20 that are not recorded"),
    ],
    notes: &[
        "`purge` is the elevator by calls with 250 threads and an unbounded purge, for comparison.",
    ],
    golden: false,
    modelled: false,
    claims: claims::ipc_chain::all,
};

const SYSTEM: &str = "ipc-chain";

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    for (preempted, form) in [(false, "whole"), (true, "preempted")] {
        let taken = wake_ups(setup, SYSTEM, kernel, &|system| system.preempt_chains = preempted)?;
        push(&mut measured.samples, &taken, 1, &threads(form))?;
    }
    let purge = wake_ups(setup, "elevator", kernel, &|system| {
        system.purge = 0;
        set(system, "sweep", "250");
        set(system, "forms", "1");
    })?;
    push(&mut measured.samples, &purge, 1, &threads("purge"))?;
    Ok(measured)
}
