//! `hot-potato`: a ring of threads with unique priorities passes messages on (S0-37).
//!
//! The program writes BEFORE when all potatoes of a series are in the ring, and AFTER when the
//! last of them has made all its hops.

use super::run::{push_shares, recording};
use super::{Boots, Cpus, Experiment, Hardware, Measure, Measured, claims, native_series};
use crate::machine::native::Cost;
use anyhow::{Context, Result};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "hot-potato",
    about: "What a hop costs in a ring of 250 threads, by how many messages are under way",
    ledger: &["S0-37", "S0-E05", "S0-C05"],
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
        ("threads", "250, with priorities 1 to 250 in shuffled order"),
        ("potatoes", "1 to 249"),
        ("messages that each thread sees", "150"),
        ("rounds", "3, each with the potatoes at other places of the ring; native: 5 starts of 15"),
        ("larger ring", "native: also 4,000 threads, with 1 to 3,984 potatoes"),
    ],
    notes: &[
        "A hop is one send to the next thread and one receive from the one before, in one system \
         call; a series has 37,500 hops, whatever the number of potatoes, and all are in the ring \
         when it begins.",
        "At the end of its hops a potato is handed to the coordinator, which adds one message for \
         each: with 249 potatoes at most 1 %, the same for every kernel.",
        "With 250 potatoes every thread would wait to send and none would receive: 249 is the \
         most that can move.",
        "Native has no trap and no page tables. Its samples are the least series of each start, in \
         hundredths of ticks. The thread control blocks of 4,000 threads are more than a second \
         cache of 1 MiB holds.",
    ],
    golden: true,
    modelled: true,
    claims: claims::hot_potato::all,
};

/// Names of cases by the number that the program records.
pub const CASES: [&str; 14] = [
    "potatoes=1",
    "potatoes=2",
    "potatoes=5",
    "potatoes=10",
    "potatoes=25",
    "potatoes=50",
    "potatoes=75",
    "potatoes=100",
    "potatoes=125",
    "potatoes=150",
    "potatoes=175",
    "potatoes=200",
    "potatoes=225",
    "potatoes=249",
];

/// On the native machine: potatoes in a ring that leaves the second cache, as many for each thread
/// as in cases of the sweep.
pub const COLD: [(u64, &str); 4] = [
    (1, "threads=4000 potatoes=1"),
    (400, "threads=4000 potatoes=400"),
    (1600, "threads=4000 potatoes=1600"),
    (3984, "threads=4000 potatoes=3984"),
];
/// One potato in a ring that any cache holds.
pub const FEW_THREADS: &str = "threads=8 potatoes=1";
/// A message between a client and a server.
pub const PING_PONG: &str = "ping-pong message";

const METRIC: &str = "hop";
const SYSTEM: &str = "hot-potato";
const SERIES: u16 = 1;
/// Hops in a series: 250 threads see 150 messages each.
const HOPS: u64 = 250 * 150;

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let outcome = setup.boot(SYSTEM, kernel)?;
    let series = recording(&outcome, "recording", kernel)?;
    push_shares(&mut measured, &series, (METRIC, SERIES), &CASES, &|_| Ok(HOPS))?;
    Ok(measured)
}

fn on_host(setup: &Hardware, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let potatoes = |case: &'static str| {
        let count = case.strip_prefix("potatoes=").and_then(|count| count.parse().ok());
        Ok((count.with_context(|| format!("case `{case}` names no number"))?, case))
    };
    let sweep = CASES.into_iter().map(potatoes).collect::<Result<Vec<(u64, &str)>>>()?;
    let of = (kernel, METRIC);
    native_series::measure(&mut measured, setup, of, &["ring"], &sweep)?;
    native_series::measure(&mut measured, setup, of, &["ring", "--threads", "4000"], &COLD)?;
    let few = ["ring", "--threads", "8"];
    native_series::measure(&mut measured, setup, of, &few, &[(1, FEW_THREADS)])?;
    let options = ["cost", "--kernel", kernel, "--lockings", "none", "--rounds", "100"];
    let mut messages = Vec::new();
    for _ in 0..native_series::STARTS {
        let host = setup.run::<Vec<Cost>>(&options)?;
        let cost = host.found.first().context("no message was measured")?;
        let mut batches = cost.batches.clone();
        batches.sort_unstable();
        // A batch is short enough that the host leaves most of them alone.
        let usual = batches.get(batches.len() / 2).context("no batch was measured")?;
        messages.push(usual * 100 / cost.messages_in_batch);
    }
    measured.samples.push(kernel, METRIC, PING_PONG, messages);
    Ok(measured)
}
