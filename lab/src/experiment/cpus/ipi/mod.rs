//! `ipi-latency`: a wake-up whose interrupt comes on one CPU and whose thread is on another one,
//! which tests of local timers never see (S2C-11).

mod claims;
mod measure;
#[cfg(test)]
mod tests;

use super::{CHOICE, NOTE};
use crate::experiment::parameter::Parameter;
use crate::experiment::{Cpus, Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "ipi-latency",
    about: "Wake-ups by an interrupt on the own CPU, and on another",
    ledger: &["S2C-11", "S2C-C09"],
    machines: &[Measure::Emulated(measure::measure)],
    cpus: Cpus::OneOf(&CHOICE),
    kernels: &["fastpath", "direct-eager", "strict-lazy", "strict-eager"],
    metrics: &[results::WAKE_UP, IPI, REMOTE],
    cases: &[CASES[0], CASES[1], SENT, BEFORE[0], BEFORE[1]],
    parameters: &[Parameter::count("samples", [1, 1000], &[100], "of a case").sets("rounds")],
    conditions: &[("CPUs", "4, all idle"), ("timer", "on the first CPU")],
    notes: &[
        NOTE,
        "wake-up: from the instant that a timer of the first CPU was set to until the thread that \
         waits for its signal has the counter; every CPU idles before.",
        "ipi: the part of `another CPU` between the CPUs alone, from the trace: from where the \
         first CPU sends the interrupt until the other one enters the kernel, less what writing \
         records took. The first CPU's way back to its idle loop is in it.",
        "remote-wake-up: the part of it on the other CPU alone, without a timer: from where a \
         thread that has signalled pauses until the woken one has the counter. The CPU idled, or \
         ran a lower thread.",
    ],
    golden: true,
    claims: claims::claims,
    deep: true,
    ..Experiment::USUAL
};

/// Where the thread is.
const CASES: [&str; 2] = ["same CPU", "another CPU"];
/// From the interrupt's sending until the other CPU has entered the kernel.
const IPI: &str = "ipi";
/// Its only case.
const SENT: &str = "sent to entered";
/// From behind a signal until the thread that it wakes on another CPU has the counter.
const REMOTE: &str = "remote-wake-up";
/// That CPU idled.
const IDLE: &str = "idle";
/// What the other CPU did.
const BEFORE: [&str; 2] = [IDLE, "busy"];
