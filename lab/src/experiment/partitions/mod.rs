//! `partitions`: what the background partition of a major time frame gets and what it disturbs
//! (S2D-C02), and how soon an event is handled there (S2D-C03).

mod claims;
mod measure;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::{Experiment, Measure};
use manifest::spell_duration;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "partitions",
    about: "Windows beside a background partition, and events handled there",
    ledger: &["S2D-07", "S2D-08", "S2D-C02", "S2D-C03"],
    machines: &[Measure::Simulated(measure::measure), Measure::Emulated(measure::measure)],
    kernels: &[manifest::TREE],
    metrics: &[START, JITTER, RESPONSE, IDLE_USED, EVENT, EVENT_WORST],
    parameters: &[
        Parameter::time("frame", [5_000_000, 100_000_000], &FRAMES, "length of the major frame"),
        Parameter::count("frames", [8, 400], &[COUNT], "recorded of each case").sets("frames"),
    ],
    conditions: &[
        ("windows", "one: 40 % of the frame; a gap of 10 %; two: 40 %; a gap of 10 %"),
        ("tasks", "released 1/32 of a frame before their window, and work for half of it"),
        ("events", "one in each frame, by a timer, at phases spread evenly over the frame"),
    ],
    notes: &[
        "From the beginning of a window, an instant of the frame, to the task's first instruction \
         and to the end of its work; from a timer's instant to the handler's first instruction.",
        "The jitter is the greatest of a case's starts less the least one.",
        "`idle-used` is what the lowest thread of the background had of all time that no other \
         reservation had, in millionths.",
        "`via=moved`: a dispatcher in the background moves the handler's thread out of its \
         partition when the event comes, and back. `equal` and `below` are the handler's priority \
         beside that of the tasks: a tie goes to the background.",
    ],
    claims: claims::claims,
    deep: true,
    ..Experiment::USUAL
};

/// From a window's beginning to the first instruction of its task.
const START: &str = "window-start";
/// How much that differs between windows.
const JITTER: &str = "window-jitter";
/// From a window's beginning to the end of the task's work.
const RESPONSE: &str = "response";
/// What the background had of the idle time.
const IDLE_USED: &str = "idle-used";
/// From an event to its handler.
const EVENT: &str = "event-latency";
/// The longest.
const EVENT_WORST: &str = "event-latency-worst";

/// Usual lengths of the major frame, in nanoseconds.
const FRAMES: [u64; 3] = [5_000_000, 10_000_000, 20_000_000];
/// Frames that are recorded, usually.
const COUNT: u64 = 16;
/// The partitions with windows.
const PARTITIONS: [&str; 2] = ["one", "two"];
/// What runs beside the tasks: nothing; a thread below them in the background; that, and the first
/// task never waits.
const LOADS: [&str; 3] = ["none", "background", "overrun"];
/// How an event is handled, and the reservation that its handler runs on: in the background at the
/// highest priority, in a partition with windows, at the tasks' priority, below it, and by a thread
/// of the partition that is moved.
const VIAS: [(&str, &str); 5] = [
    ("background", "above"),
    ("partition", "one-handler"),
    ("equal", "equal"),
    ("below", "below"),
    ("moved", "one-handler"),
];
/// So many of these are measured in frames of each length, the others in one.
const IN_EACH: usize = 2;

/// The case of a partition's windows.
fn window_case(partition: &str, load: &str, frame: u64) -> String {
    format!("partition={partition} load={load} frame={}", spell_duration(frame))
}

/// The case of events.
fn event_case(via: &str, frame: u64) -> String {
    format!("via={via} frame={}", spell_duration(frame))
}
