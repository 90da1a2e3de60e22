//! `ping-pong`: a client calls a server, and both note the time.
//!
//! In each round the client writes BEFORE its call and AFTER the call has returned; the server
//! writes AFTER its receive has returned and BEFORE it replies. A call ends at the server, a
//! reply at the client, so each span has its ends in two recordings.

use super::run::{boot_fact, push_spans, recording, round_trip_facts};
use super::{Boots, Cpus, Emulated, Experiment, Measure, Measured, claims};
use crate::machine::Outcome;
use abi::results::Tag;
use anyhow::Result;
use results::Spans;

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
        ("priorities", "equal; with no words also a server above and one below its client"),
        ("warm-up rounds", "16"),
        ("samples", "at least 1000"),
    ],
    notes: &[
        "16 warm-up rounds are not recorded; what two counter reads in a row cost is subtracted.",
        "Client and server have equal priority, as nothing else is said. A strict kernel looks up \
         who is highest only where that may have changed: never between equals.",
        "The counts include the user-level stubs, and assertions are on.",
    ],
    golden: true,
    modelled: true,
    claims: claims::ping_pong::all,
};

/// Names of cases: first those that the programs record by number, then those of [`UNEQUAL`].
const CASES: [&str; 14] = [
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
    SERVER_ABOVE,
    SERVER_BELOW,
];

/// The case of a server above its client.
pub const SERVER_ABOVE: &str = "server above words=0";
/// The case of a server below its client.
pub const SERVER_BELOW: &str = "server below words=0";

/// Cases of partners of unequal priority, with the server's; the client's is [`CLIENT`].
const UNEQUAL: [(&str, u8); 2] = [(SERVER_ABOVE, CLIENT + 10), (SERVER_BELOW, CLIENT - 10)];
const CLIENT: u8 = 100;

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
        for (metric, spans) in round_trips(&setup.boot(system, kernel)?, kernel)? {
            push_spans(&mut measured, kernel, metric, &CASES, spans)?;
        }
    }
    for (case, priority) in UNEQUAL {
        let outcome = setup.boot_changed(SYSTEMS[0], kernel, &mut |system| {
            for domain in &mut system.domains {
                domain.priority = if domain.name == "server" { priority } else { CLIENT };
            }
        })?;
        for (metric, mut spans) in round_trips(&outcome, kernel)? {
            // Of the message lengths only the first, no words.
            spans.cases.retain(|number, _| *number == 0);
            push_spans(&mut measured, kernel, metric, &[case], spans)?;
        }
    }
    measured.facts.push(boot_fact(setup, "hello", kernel)?);
    Ok(measured)
}

/// Both halves of the round trips that client and server of a run have recorded.
fn round_trips(outcome: &Outcome, kernel: &str) -> Result<[(&'static str, Spans); 2]> {
    let client = recording(outcome, "client-recording", kernel)?;
    let server = recording(outcome, "server-recording", kernel)?;
    let call = results::spans(&client, Tag::BEFORE, &server, Tag::AFTER, ROUND_TRIP)?;
    let reply = results::spans(&server, Tag::BEFORE, &client, Tag::AFTER, ROUND_TRIP)?;
    Ok([("call", call), ("reply-wait", reply)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_cost_no_more_where_a_fast_path_stands_before_them() {
        let golden = include_str!("../../../tests/golden.toml").parse::<toml::Table>().unwrap();
        let figure = |kernel: &str, metric: &str, case: &str| {
            let key = format!("{kernel} {metric} {case}");
            golden["ping-pong"][&key].as_integer().unwrap_or_else(|| panic!("no figure `{key}`"))
        };
        let short = ["words=0", "words=4"];
        let long = CASES.iter().filter(|case| !short.iter().any(|short| case.ends_with(short)));
        for case in long {
            for metric in EXPERIMENT.metrics {
                let (fast, slow) =
                    (figure("fastpath", metric, case), figure("slowpath", metric, case));
                assert!(fast <= slow, "{metric} {case}: {fast} instructions, {slow} without it");
            }
        }
    }
}
