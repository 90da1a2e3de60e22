//! `restart`: how long a supervisor takes to make a program again.

mod measure;

use super::parameter::Parameter;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "restart",
    about: "From a fault to the first instruction of the restarted program",
    machines: &[Measure::Emulated(measure::measure), Measure::Simulated(measure::measure)],
    kernels: &["fastpath", "strict-eager"],
    metrics: &[RESTART, WORST],
    cases: &CASES,
    parameters: &[Parameter::samples(&[200], "samples")],
    conditions: &[
        ("programs", "a stack of 16K, 5 mappings and 2 capabilities each"),
        ("instant of the fault", "at random between ticks"),
        (
            "load",
            "none but the timer's interrupts; or storms of messages, faults, threads, timers and \
                  mapping below, and above the supervisor a thread that computes for 1,000 \
                  instructions, 20 to 60 us apart",
        ),
    ],
    notes: &[
        "From a reading of the counter just in front of the fault to the first one of the program \
         that is restarted: the fault's message, the end of the domain and its memory, all that \
         is created again, and the start code.",
        "`a dependent`: another program depends on the one that fails and is restarted with it, \
         before either runs. `256K of stack more`: 64 pages more are given back, cleared and \
         mapped.",
    ],
    ..Experiment::USUAL
};

const RESTART: &str = "restart";
const WORST: &str = "restart-worst";
/// The systems; the cases of the first come first, then those of the second.
const SYSTEMS: [&str; 2] = ["restart", "restart-load"];
const CASES: [&str; 8] = [
    "fault",
    "panic",
    "a dependent",
    "256K of stack more",
    "fault under load",
    "panic under load",
    "a dependent under load",
    "256K of stack more under load",
];
