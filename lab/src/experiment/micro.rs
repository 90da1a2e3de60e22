//! `micro`: what single operations of the kernel cost.

use super::run::{push_spans, recording};
use super::{Cpus, Emulated, Experiment, Measure, Measured};
use abi::results::Tag;
use anyhow::Result;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "micro",
    about: "What single operations of the kernel cost, from a null call to a thread's creation",
    ledger: &["S0-29", "S0-36"],
    machines: &[Measure::Emulated(measure)],
    cpus: Cpus::One,
    kernels: &["fastpath", "slowpath"],
    metrics: &METRIC_NAMES,
    cases: &[],
    parameters: &[("warm-up rounds", "16"), ("samples", "at least 1000")],
    notes: &[
        "16 warm-up rounds are not recorded; what two counter reads in a row cost is subtracted.",
        "The counts include the user-level stubs, and assertions are on.",
    ],
    golden: true,
    modelled: true,
    claims: |_| Vec::new(),
};

/// The system that runs all of it.
const SYSTEM: &str = "micro";

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

const METRICS: [Metric; 20] = [
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

fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let outcome = setup.boot(SYSTEM, kernel)?;
    let micro = recording(&outcome, "micro-recording", kernel)?;
    let peer = recording(&outcome, "peer-recording", kernel)?;
    for (number, (name, start, end)) in (1..).zip(METRICS) {
        let of = |of: Of| match of {
            Of::Micro => &micro,
            Of::Peer => &peer,
        };
        let spans = results::spans(of(start.0), start.1, of(end.0), end.1, number)?;
        push_spans(&mut measured, &micro.kernel, name, &[""], spans)?;
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a message that the fast path has looked at and left may cost more than on a kernel
    /// without one, in instructions.
    const MOST_MORE: i64 = 8;

    #[test]
    fn messages_that_the_fast_path_leaves_cost_hardly_more() {
        let golden = include_str!("../../../tests/golden.toml").parse::<toml::Table>().unwrap();
        let figure = |kernel: &str, metric: &str| {
            let key = format!("{kernel} {metric}");
            golden["micro"][&key].as_integer().unwrap_or_else(|| panic!("no figure `{key}`"))
        };
        let left = METRIC_NAMES.iter().filter(|name| name.starts_with("refused-"));
        let left = left.chain(&["fault-resume", "send-higher"]);
        for metric in left {
            let more = figure("fastpath", metric) - figure("slowpath", metric);
            assert!(more <= MOST_MORE, "{metric}: {more} more");
        }
    }
}
