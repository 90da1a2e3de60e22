//! `ping-pong`: a client calls a server, and both note the time (S0-36).

mod claims;
mod measure;
#[cfg(test)]
mod tests;

use super::measured::CALL_REPLY;
use super::parameter::Parameter;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "ping-pong",
    about: "What a call and its reply cost, across and within domains",
    ledger: &["S0-36", "S0-E04", "S0-C01", "S0-C04"],
    machines: &[Measure::Emulated(measure::emulated), Measure::Simulated(measure::measure)],
    metrics: &CALL_REPLY,
    cases: &["across", "same", SERVER_ABOVE, SERVER_BELOW],
    parameters: &[
        Parameter::among("words", &WORDS, "of a message"),
        Parameter::samples(&[1000], "rounds"),
    ],
    conditions: &[
        ("priorities", "equal; with no words also a server above and one below its client"),
        ("warm-up rounds", "16"),
    ],
    notes: &[
        "16 warm-up rounds are not recorded; what two counter reads in a row cost is subtracted.",
        "Client and server have equal priority, as nothing else is said. A strict kernel looks up \
         who is highest only where that may have changed: never between equals.",
        "The counts include the user-level stubs, and assertions are on.",
    ],
    golden: true,
    modelled: true,
    claims: claims::claims,
    ..Experiment::USUAL
};

/// Lengths of messages in words.
const WORDS: [u64; 6] = [0, 4, 8, 16, 32, 64];

/// The case of a server above its client.
const SERVER_ABOVE: &str = "server above words=0";
/// The case of a server below its client.
const SERVER_BELOW: &str = "server below words=0";
