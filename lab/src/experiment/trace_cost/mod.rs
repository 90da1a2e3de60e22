//! `trace-cost`: what the trace costs where it is not compiled in, compiled in but off, and on.

mod measure;

use super::measured::CALL_REPLY;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "trace-cost",
    about: "What trace points cost a message: without, off, and on",
    ledger: &["S2C-10", "X-11"],
    machines: &[Measure::Emulated(measure::measure)],
    metrics: &CALL_REPLY,
    cases: &CASES,
    conditions: &[("words", "0"), ("domains", "two"), ("samples", "1000")],
    notes: &[
        "Each case is an image or a setting of its own; the message is that of ping-pong across \
         domains with no word beyond the registers.",
        "What a record takes is the difference between on and off, divided by the records of one \
         round trip: it includes the call of the writing function.",
    ],
    golden: true,
    ..Experiment::USUAL
};

/// Without trace points in the image, with them but turned off, and with a trace.
const CASES: [&str; 3] = ["not compiled in", "off", "on"];
