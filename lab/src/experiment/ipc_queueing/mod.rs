//! `ipc-queueing`: threads queue for a server that serves only when all are there (S0-38).

mod claims;
mod measure;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "ipc-queueing",
    about: "What it costs to queue for a server, by the length of the queue",
    ledger: &["S0-38", "S0-E06", "S0-C07"],
    machines: &[
        Measure::Emulated(measure::measure),
        Measure::Simulated(measure::measure),
        Measure::Hardware(measure::on_host),
    ],
    metrics: &[METRIC],
    parameters: &[
        Parameter::among("threads", &THREADS, "that queue, of 1000 with priorities 2 to 250"),
        Parameter::count("rounds", [1, 50], &[3], "of each case; native: 5 starts of 15")
            .sets("rounds"),
    ],
    conditions: &[("order of waking", "random"), ("priorities", "random, from 2 to 250")],
    notes: &[
        "The time for each thread to be woken, call, be queued, be received and be answered; the \
         mean over all threads of a round.",
        "Native has no trap and no page tables; its samples are the least series of each start, in \
         hundredths of ticks.",
        "The server is below all others and wakes them itself: whom it wakes runs at once.",
    ],
    golden: true,
    modelled: true,
    claims: claims::claims,
    ..Experiment::USUAL
};

const METRIC: &str = "send-and-serve";
/// Lengths of the queue, in the order of the program's cases.
const THREADS: [u64; 12] = [1, 2, 3, 5, 10, 20, 50, 100, 200, 300, 500, 1000];

/// The case of a length.
fn case(threads: u64) -> String {
    format!("threads={threads}")
}
