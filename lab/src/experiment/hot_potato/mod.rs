//! `hot-potato`: a ring of threads with unique priorities passes messages on (S0-37).

mod claims;
mod measure;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "hot-potato",
    about: "What a hop costs in a ring of 250 threads, by messages under way",
    ledger: &["S0-37", "S0-E05", "S0-C05"],
    machines: &[
        Measure::Emulated(measure::measure),
        Measure::Simulated(measure::measure),
        Measure::Hardware(measure::on_host),
    ],
    metrics: &[METRIC],
    cases: &["on native also a larger ring", FEW_THREADS, PING_PONG],
    parameters: &[
        Parameter::among("messages", &MESSAGES, "under way in the ring"),
        Parameter::count("rounds", [1, 50], &[3], "of each case; native: 5 starts of 15")
            .sets("rounds"),
    ],
    conditions: &[
        ("threads", "250, with priorities 1 to 250 in shuffled order"),
        ("messages that each thread sees", "150"),
        ("places", "each round has the messages at other places of the ring"),
        ("larger ring", "native: also 4,000 threads, with 1 to 3,984 messages"),
    ],
    caches: "warm; with 4,000 threads more than the second cache holds",
    notes: &[
        "A hop is one send to the next thread and one receive from the one before, in one system \
         call; a series has 37,500 hops, whatever the number of messages, and all are in the ring \
         when it begins.",
        "At the end of its hops a message is handed to the coordinator, which adds one message for \
         each: with 249 messages at most 1 %, the same for every kernel.",
        "With 250 messages every thread would wait to send and none would receive: 249 is the \
         most that can move.",
        "Native has no trap and no page tables. Its samples are the least series of each start, in \
         hundredths of ticks. The thread control blocks of 4,000 threads are more than a second \
         cache of 1 MiB holds.",
    ],
    golden: true,
    modelled: true,
    claims: claims::claims,
    ..Experiment::USUAL
};

/// Numbers of messages, in the order of the program's cases.
const MESSAGES: [u64; 14] = [1, 2, 5, 10, 25, 50, 75, 100, 125, 150, 175, 200, 225, 249];
/// On the native machine: messages in a ring that leaves the second cache, as many for each thread
/// as in cases of the sweep.
const COLD: [u64; 4] = [1, 400, 1600, 3984];
/// One message in a ring that any cache holds.
const FEW_THREADS: &str = "threads=8 messages=1";
/// A message between a client and a server.
const PING_PONG: &str = "ping-pong message";
const METRIC: &str = "hop";

/// The case of a number of messages.
fn case(messages: u64) -> String {
    format!("messages={messages}")
}

/// The same in the ring that leaves the second cache.
fn cold(messages: u64) -> String {
    format!("threads=4000 messages={messages}")
}
