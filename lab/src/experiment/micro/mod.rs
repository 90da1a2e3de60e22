//! `micro`: what single operations of the kernel cost.

mod measure;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::{Experiment, Measure};
use abi::results::Tag;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "micro",
    about: "What single operations of the kernel cost",
    ledger: &["S0-29", "S0-36"],
    machines: &[Measure::Emulated(measure::measure)],
    kernels: &["fastpath", "slowpath"],
    metrics: &METRIC_NAMES,
    parameters: &[Parameter::samples(&[1000], "rounds")],
    conditions: &[("warm-up rounds", "16")],
    notes: &[
        "16 warm-up rounds are not recorded; what two counter reads in a row cost is subtracted.",
        "The counts include the user-level stubs, and assertions are on.",
    ],
    golden: true,
    modelled: true,
    ..Experiment::USUAL
};

/// Which program's recording holds an end of a span.
#[derive(Clone, Copy)]
enum Of {
    Micro,
    Peer,
}

/// A metric: its name and the ends of its span. Its number in the recordings is its place here,
/// from 1.
type Metric = (&'static str, (Of, u16), (Of, u16));

const fn within(name: &'static str) -> Metric {
    (name, (Of::Micro, Tag::BEFORE), (Of::Micro, Tag::AFTER))
}

const fn to_peer(name: &'static str) -> Metric {
    (name, (Of::Micro, Tag::BEFORE), (Of::Peer, Tag::AFTER))
}

const fn from_peer(name: &'static str) -> Metric {
    (name, (Of::Peer, Tag::BEFORE), (Of::Micro, Tag::AFTER))
}

const METRICS: [Metric; 22] = [
    within("null-call"),
    to_peer("send-higher"),
    to_peer("notify-higher"),
    within("notify-lower"),
    within("interrupt"),
    within("yield"),
    to_peer("fault-deliver"),
    from_peer("fault-resume"),
    within("fault-round-trip"),
    within("map"),
    within("protect"),
    within("unmap"),
    within("cap-copy"),
    within("cap-revoke"),
    within("thread-create"),
    within("thread-destroy"),
    within("refused-call"),
    within("refused-exchange"),
    within("refused-reply-wait"),
    within("refused-deadline"),
    within("round-trip-by-hand"),
    within("round-trip-typed"),
];

const METRIC_NAMES: [&str; METRICS.len()] = {
    let mut names = [""; METRICS.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = METRICS[index].0;
        index += 1;
    }
    names
};
