//! `scheduler-stats`: what client/server loads ask of the scheduler and of send queues (S0-34,
//! S0-E01 to S0-E03), by the counters that a kernel with statistics keeps.
//!
//! A row's one sample is the whole run.

mod claims;
mod measure;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::user_system::UserSystem;
use super::{Experiment, Measure};
use abi::statistics::Counter;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "scheduler-stats",
    about: "What client/server loads ask of the scheduler, by counters",
    ledger: &[
        "S0-02", "S0-13", "S0-33", "S0-34", "S0-E01", "S0-E02", "S0-E03", "S0-C02", "S0-C03",
        "S0-C06",
    ],
    machines: &[Measure::Emulated(measure::emulated), Measure::Simulated(measure::measure)],
    kernels: &manifest::ALL_KERNELS,
    metrics: &METRICS,
    cases: &CASES,
    parameters: &[Parameter::time(
        "time",
        [10_000_000, 60_000_000_000],
        &[SECOND],
        "from the first tick on; 4 s under direct-lazy, which claims rest on",
    )],
    conditions: &[
        ("clients", "5 of equal priority; the server is above them, a tick of 4 ms above it"),
        ("work between messages", "61,244, 39,733 and 9,311 instructions, +- 50 % by seed"),
        (
            "waits",
            "at a tick or for a device's server of the clients' priority, one after 6.6, 11.8 \
                   and 42.8 million instructions of a client and the server",
        ),
    ],
    notes: &[
        RATES_OF,
        AVOIDS,
        "Work between messages is the time of one less half a round trip of ping-pong under the \
         same kernel without statistics; the overhead is that half's part of the time.",
        JUDGED,
        "The load fixes work, waits and priorities: how long queues get follows.",
    ],
    claims: claims::claims,
    user_system: Some(UserSystem {
        machines: &[
            Measure::Emulated(measure::of_user_system),
            Measure::Simulated(measure::of_user_system),
        ],
        parameters: &[],
        notes: &[RATES_OF, AVOIDS, JUDGED],
    }),
    deep: true,
    ..Experiment::USUAL
};

const RATES_OF: &str = "Rates count in 1000 s of the machine's own time, in which an instruction \
     is a nanosecond; ppm are millionths.";
const AVOIDS: &str = "What is avoided counts as 0 where a kernel does more than eager queueing \
     would, or more look-ups than switches.";

const JUDGED: &str = "`accuracy` is the part of the programs' time in which no more urgent thread \
     was ready, `accuracy-of-equals` that of the time in which equals were ready that each had an \
     equal part of, in millionths; by the trace of a run of its own, of at most a second.";

/// The loads, which are systems of the same names.
const CASES: [&str; 3] = ["complete", "database", "udpserver"];

/// Part of queue operations of eager queueing that were not made.
const AVOIDED: &str = "avoided-ppm";
/// Part of insertions into the ready queue that were deferred ones.
const DEFERRED_ENQUEUES: &str = "enqueues-deferred-ppm";
/// Part of removals from it that were, by insertions.
const DEFERRED_DEQUEUES: &str = "dequeues-deferred-ppm";
/// Part of switches that took no look-up.
const LOOK_UPS_AVOIDED: &str = "look-ups-avoided-ppm";
/// Messages.
const MESSAGES: &str = "messages-per-1000s";
/// Messages that had to queue.
const QUEUED: &str = "queued-messages-per-1000s";
/// The longest queue of senders.
const LONGEST: &str = "longest-send-queue";

const RATES: [(&str, Counter); 8] = [
    ("eager-per-1000s", Counter::Eager),
    ("actual-per-1000s", Counter::Actual),
    ("deferred-enqueues-per-1000s", Counter::DeferredEnqueues),
    ("deferred-dequeues-per-1000s", Counter::DeferredDequeues),
    ("switches-per-1000s", Counter::Switches),
    ("look-ups-per-1000s", Counter::LookUps),
    (MESSAGES, Counter::Messages),
    (QUEUED, Counter::QueuedMessages),
];

/// Part of the programs' time in which no more urgent thread was ready.
const ACCURACY: &str = "accuracy";
/// Part of the time that equals shared in which each had an equal part.
const OF_EQUALS: &str = "accuracy-of-equals";
/// The longest run of a thread that is traced for these, in nanoseconds.
const TRACED: u64 = SECOND;

const METRICS: [&str; 20] = [
    RATES[0].0,
    RATES[1].0,
    AVOIDED,
    RATES[2].0,
    DEFERRED_ENQUEUES,
    RATES[3].0,
    DEFERRED_DEQUEUES,
    RATES[4].0,
    RATES[5].0,
    LOOK_UPS_AVOIDED,
    MESSAGES,
    "work-between-messages",
    "overhead-ppm",
    QUEUED,
    LONGEST,
    "ready-queue-median",
    "ready-queue-most-frequent",
    "ready-queue-longest",
    ACCURACY,
    OF_EQUALS,
];

/// The kernel that the thesis counted in, and that claims rest on.
const COUNTED: &str = "direct-lazy";
/// A second in nanoseconds.
const SECOND: u64 = 1_000_000_000;
