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
        ("load", "none but the timer's interrupts"),
    ],
    notes: &[
        "From a reading of the counter just in front of the fault to the first one of the program \
         that is made again: the fault's message, the end of the domain and its memory, all that \
         is made anew, and the start code.",
        "`a dependent`: another program depends on the one that fails and is made again with it, \
         before either runs. `256K of stack more`: 64 pages more are given back, cleared and \
         mapped.",
    ],
    ..Experiment::USUAL
};

const RESTART: &str = "restart";
const WORST: &str = "restart-worst";
const CASES: [&str; 4] = ["fault", "panic", "a dependent", "256K of stack more"];
