//! `ipc-queueing`: threads queue for a server that serves only when all are there (S0-38).
//!
//! The program writes BEFORE it wakes the first thread and AFTER it has answered the last.

use super::run::{push_shares, recording};
use super::{Boots, Cpus, Experiment, Hardware, Measure, Measured, claims, native_series};
use anyhow::{Context, Result};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "ipc-queueing",
    about: "What it costs to queue for a server and be served, by the length of the queue",
    ledger: &["S0-38", "S0-E06", "S0-C07"],
    machines: &[
        Measure::Emulated(measure),
        Measure::Simulated(measure),
        Measure::Hardware(on_host),
    ],
    cpus: Cpus::One,
    kernels: &manifest::KERNELS,
    metrics: &[METRIC],
    cases: &CASES,
    parameters: &[
        ("threads", "1 to 1000, with random priorities from 2 to 250"),
        ("order of waking", "random"),
        ("rounds", "3; native: 5 starts of 15"),
    ],
    notes: &[
        "The time for each thread to be woken, call, be queued, be received and be answered; the \
         mean over all threads of a round.",
        "Native has no trap and no page tables; its samples are the least series of each start, in \
         hundredths of ticks.",
        "The server is below all others and wakes them itself: whom it wakes runs at once.",
    ],
    golden: true,
    modelled: true,
    claims: claims::ipc_queueing::all,
};

/// Names of cases by the number that the program records.
pub const CASES: [&str; 12] = [
    "threads=1",
    "threads=2",
    "threads=3",
    "threads=5",
    "threads=10",
    "threads=20",
    "threads=50",
    "threads=100",
    "threads=200",
    "threads=300",
    "threads=500",
    "threads=1000",
];

const METRIC: &str = "send-and-serve";
const SYSTEM: &str = "queueing";
const SERIES: u16 = 1;
/// Clients that there are, of which some queue.
const MOST: &str = "1000";

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let outcome = setup.boot(SYSTEM, kernel)?;
    let series = recording(&outcome, "recording", kernel)?;
    push_shares(&mut measured, &series, (METRIC, SERIES), &CASES, &threads)?;
    Ok(measured)
}

fn on_host(setup: &Hardware, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let cases = CASES.into_iter().map(|case| Ok((threads(case)?, case)));
    let cases = cases.collect::<Result<Vec<(u64, &str)>>>()?;
    let options = ["queue", "--threads", MOST];
    native_series::measure(&mut measured, setup, (kernel, METRIC), &options, &cases)?;
    Ok(measured)
}

/// The number of threads that a case names.
fn threads(case: &str) -> Result<u64> {
    let count = case.strip_prefix("threads=").and_then(|count| count.parse().ok());
    count.with_context(|| format!("case `{case}` names no number of threads"))
}
