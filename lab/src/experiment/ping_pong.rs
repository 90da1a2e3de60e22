//! `ping-pong`: a client calls a server of the same priority, and both note the time.
//!
//! In each round the client writes BEFORE its call and AFTER the call has returned; the server
//! writes AFTER its receive has returned and BEFORE it replies. A call ends at the server, a
//! reply at the client, so each span has its ends in two recordings.

use super::run::{boot_fact, push_spans, recording, round_trip_facts};
use super::{Boots, Cpus, Emulated, Experiment, Measure, Measured, claims};
use abi::results::Tag;
use anyhow::Result;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "ping-pong",
    about: "What a call and its reply cost, across and within protection domains",
    ledger: &["S0-36", "S0-E04", "S0-C01", "S0-C04"],
    machines: &[Measure::Emulated(emulated), Measure::Simulated(measure)],
    cpus: Cpus::One,
    kernels: &manifest::KERNELS,
    metrics: &["call", "reply-wait"],
    cases: &CASES,
    parameters: &[
        ("words", "0, 4, 8, 16, 32, 64"),
        ("priorities", "equal"),
        ("warm-up rounds", "16"),
        ("samples", "at least 1000"),
    ],
    notes: &[
        "Client and server have equal priority; 16 warm-up rounds are not recorded; what two \
         counter reads in a row cost is subtracted.",
        "The counts include the user-level stubs, and assertions are on.",
    ],
    golden: true,
    modelled: true,
    claims: claims::ping_pong::all,
};

/// Names of cases by the number that the programs record.
const CASES: [&str; 12] = [
    "across words=0",
    "across words=4",
    "across words=8",
    "across words=16",
    "across words=32",
    "across words=64",
    "same words=0",
    "same words=4",
    "same words=8",
    "same words=16",
    "same words=32",
    "same words=64",
];

/// The systems that run the cases.
const SYSTEMS: [&str; 2] = ["ping-across", "ping-same"];

/// The number under which the programs record rounds.
const ROUND_TRIP: u16 = 1;

/// On the emulator, which also counts what single instructions do.
fn emulated(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = measure(setup, kernel)?;
    let counts = round_trip_facts(setup, SYSTEMS[0], kernel)?;
    measured.facts.splice(0..0, counts);
    Ok(measured)
}

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    for system in SYSTEMS {
        let outcome = setup.boot(system, kernel)?;
        let client = recording(&outcome, "client-recording", kernel)?;
        let server = recording(&outcome, "server-recording", kernel)?;
        let call = results::spans(&client, Tag::BEFORE, &server, Tag::AFTER, ROUND_TRIP)?;
        let reply = results::spans(&server, Tag::BEFORE, &client, Tag::AFTER, ROUND_TRIP)?;
        push_spans(&mut measured, &client.kernel, "call", &CASES, call)?;
        push_spans(&mut measured, &client.kernel, "reply-wait", &CASES, reply)?;
    }
    measured.facts.push(boot_fact(setup, "hello", kernel)?);
    Ok(measured)
}
