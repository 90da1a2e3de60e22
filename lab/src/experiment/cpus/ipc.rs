//! `cross-cpu-ipc`: messages, signals and moves between CPUs, beside the same on one CPU.

use super::super::run::recording;
use super::super::{Experiment, Measured, Setup};
use abi::results::Tag;
use anyhow::{Context, Result};
use results::{Recording, Spans};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "cross-cpu-ipc",
    about: "What a call and its reply take between two CPUs, and on one of several",
    ledger: &["S1-03", "S1-05"],
    machines: &["qemu-x86_64"],
    kernels: &manifest::KERNELS,
    metrics: &[ROUND_TRIP],
    cases: &[],
    parameters: &[("CPUs", "4"), ("words", "0, 4, 64"), ("samples", "1000")],
    notes: &[],
    golden: true,
    modelled: false,
    claims: |_| Vec::new(),
    measure,
};

const ROUND_TRIP: &str = "call-reply";
/// The system whose domains call each other.
const SYSTEM: &str = "ping-across";
/// The number under which its programs record rounds, and the cases that are used.
const ROUNDS: u16 = 1;
const WORDS: [(u16, &str); 3] = [(0, "words=0"), (1, "words=4"), (5, "words=64")];
/// Where the server is.
const PLACES: [(u32, &str); 2] = [(0, "same CPU"), (1, "two CPUs")];

fn measure(setup: &Setup, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    for (cpu, place) in PLACES {
        let outcome = super::boot(setup, SYSTEM, kernel, &mut |system| {
            system.domains.iter_mut().filter(|d| d.name == "server").for_each(|d| d.cpu = cpu);
        })?;
        let client = recording(&outcome, "client-recording", kernel)?;
        let server = recording(&outcome, "server-recording", kernel)?;
        let mut trips = round_trips(&client, &server)?;
        for (number, words) in WORDS {
            let values = trips.remove(&number).context("the programs lack a case")?;
            measured.samples.push(kernel, ROUND_TRIP, &format!("{place} {words}"), values);
        }
    }
    Ok(measured)
}

/// Calls and replies of each case together, without what the server does in between.
fn round_trips(
    client: &Recording,
    server: &Recording,
) -> Result<std::collections::BTreeMap<u16, Vec<u64>>> {
    let Spans { cases: calls, .. } =
        results::spans(client, Tag::BEFORE, server, Tag::AFTER, ROUNDS)?;
    let Spans { cases: mut replies, .. } =
        results::spans(server, Tag::BEFORE, client, Tag::AFTER, ROUNDS)?;
    for (case, values) in &mut replies {
        let calls = calls.get(case).context("replies without calls")?;
        values.iter_mut().zip(calls).for_each(|(reply, call)| *reply += call);
    }
    Ok(replies)
}
