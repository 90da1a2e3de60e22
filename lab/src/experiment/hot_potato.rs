//! `hot-potato`: a ring of threads with unique priorities passes messages on (S0-37).
//!
//! The program writes BEFORE when all potatoes of a series are in the ring, and AFTER when the
//! last of them has made all its hops.

use super::run::{push_shares, recording};
use super::{Boots, Cpus, Experiment, Measure, Measured, claims};
use anyhow::Result;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "hot-potato",
    about: "What a hop costs in a ring of 250 threads, by how many messages are under way",
    ledger: &["S0-37", "S0-E05", "S0-C05"],
    machines: &[Measure::Emulated(measure), Measure::Simulated(measure)],
    cpus: Cpus::One,
    kernels: &manifest::KERNELS,
    metrics: &["hop"],
    cases: &CASES,
    parameters: &[
        ("threads", "250, with priorities 1 to 250 in shuffled order"),
        ("potatoes", "1 to 249"),
        ("messages that each thread sees", "150"),
        ("rounds", "3, each with the potatoes at other places of the ring"),
    ],
    notes: &[
        "A hop is one send to the next thread and one receive from the one before, in one system \
         call; a series has 37,500 hops, whatever the number of potatoes, and all are in the ring \
         when it begins.",
        "At the end of its hops a potato is handed to the coordinator, which adds one message for \
         each: with 249 potatoes at most 1 %, the same for every kernel.",
        "With 250 potatoes every thread would wait to send and none would receive: 249 is the \
         most that can move.",
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

const SYSTEM: &str = "hot-potato";
const SERIES: u16 = 1;
/// Hops in a series: 250 threads see 150 messages each.
const HOPS: u64 = 250 * 150;

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let outcome = setup.boot(SYSTEM, kernel)?;
    let series = recording(&outcome, "recording", kernel)?;
    push_shares(&mut measured, &series, ("hop", SERIES), &CASES, &|_| Ok(HOPS))?;
    Ok(measured)
}
