//! `lock-scaling`: how many messages a second several CPUs get through, by locking and think time
//! (S1-E02 to E04), beside what the queueing model makes of it.

mod beyond;
mod claims;
mod curves;
mod figures;
mod measure;
mod pairs;
mod points;
mod simulated;
#[cfg(test)]
mod tests;

pub use pairs::Pairs;

use super::parameter::Parameter;
use super::{Cpus, Experiment, Measure};
use manifest::LOCKINGS;
use points::Scene;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "lock-scaling",
    about: "Messages a second of several CPUs, by locking and think time",
    ledger: &[
        "S1-E02", "S1-E03", "S1-E04", "S1-12", "S1-C03", "S1-C04", "S1-C05", "S1-C06", "S1-C07",
        "S1-C08", "S1-C09", "S1-C10", "S1-C11",
    ],
    machines: &[Measure::Hardware(measure::measure), Measure::Simulated(simulated::measure)],
    cpus: Cpus::Any,
    kernels: &["fastpath"],
    metrics: &[METRIC, points::PAPER, points::ARM, points::EXPONENTIAL, points::DETERMINISTIC],
    parameters: &[
        Parameter::count(
            "think",
            [0, 10_000_000],
            &THINK,
            "mean ticks before each message, exponential",
        ),
        Parameter::count("windows", [1, 1000], &[25], "that the host left alone; twin: 5"),
        Parameter::choice("locking", &LOCKINGS, "of the kernel"),
    ],
    conditions: &[
        ("window", "2 ms, longer with much think time, after 0.5 ms; twin: 20,000 messages"),
        ("order", "points take turns"),
        (
            "CPUs",
            "those of the host; twin: 1, 2, 4, 7, 10, 14, 20, 28 on two sockets, 1 to 4 on one",
        ),
    ],
    notes: &[
        "A message is one way: a call, or a reply that waits. Client and server both think between \
         receiving and sending, so that a message is a think time and a pass through the lock.",
        "A window is disturbed if the host ran something else on one of the CPUs for more than 1 % \
         of it, or let it come late. Rows are of the other windows, as long as there are any.",
        "On native more CPUs than the host has are simulated on the same plot: the twin, with \
         exponential sections as long as the model has found, without lines of memory.",
        "On the twin a tick is a modelled instruction, a thousand millions of them a second. \
         `throughput` is of two sockets of 14 CPUs. `throughput-paper` is of them with sections as \
         long as the paper's: 164 ticks, and 1.69 lines from the lock's last owner, which makes \
         358 within a socket. `throughput-arm` is of one socket of 4 CPUs with barriers of 12 \
         ticks. The others are of CPUs to which nothing is far and sections of 358 ticks in the \
         mean.",
    ],
    claims: claims::claims,
    deep: true,
    ..Experiment::USUAL
};

/// The metric.
const METRIC: &str = "throughput";
/// Think times of S1-E02 and E04, in ticks.
const THINK: [u64; 8] = [0, 500, 1000, 2000, 4000, 8000, 16_000, 32_000];
/// The think time at which lockings are compared (S1-E03).
const COMPARED: u64 = 4000;
