//! Claims about what client/server loads ask of the scheduler (S0-E01, S0-E03).

use super::{
    AVOIDED, CASES, COUNTED, DEFERRED_DEQUEUES, DEFERRED_ENQUEUES, LONGEST, LOOK_UPS_AVOIDED,
    MESSAGES, QUEUED,
};
use crate::experiment::claim::Ours::{Each, Same};
use crate::experiment::claim::{self, Setting, Spec, claim, mean, median};
use results::Bound::{Above, AtLeast, AtMost, Below};
use results::Report;

/// The kernels like it whose send queues are ordered by priority.
pub const ORDERED: [&str; 3] = ["ipc-scan", "ipc-ordered", "ipc-heap"];
/// A percent in millionths.
const PERCENT: f64 = 10_000.0;
/// Seconds of the paper's processor, of 400 million cycles, in one of ours.
const SECONDS: f64 = 2.5;

const SETTING: Setting = &[
    (
        "machine",
        "XScale PXA255, 400 MHz, Linux on L4",
        Each([
            "emulated: an instruction is a nanosecond",
            "simulated: steps have stated costs",
            "",
        ]),
    ),
    (
        "load",
        "Re-aim: complete, database, udpserver; 5 processes",
        Same("5 clients, a server, a tick, a device's server"),
    ),
    ("work between messages", "61,244, 39,733, 9,311 cycles", Same("the same, +- 50 % by seed")),
    (
        "waits",
        "92, 51, 14 insertions a second besides the tick's (Table 5.1)",
        Same("as many, half by the clock and half for input"),
    ),
    ("ticks", "every 4 million cycles", Same("every 4 million nanoseconds")),
    ("priorities", "not stated", Same("all equal, but for the tick's thread above them")),
];

const BY_CONSTRUCTION: &str = "by construction a call and its reply touch no queue and look up \
                               nothing between two waits; measured is what ticks and waits add";

/// All claims.
pub fn claims() -> Vec<Spec> {
    let mut claims = scheduler();
    claims.extend(queues());
    claims
}

fn scheduler() -> Vec<Spec> {
    vec![
        claim(
            "S0-C02a",
            "Lazy queueing avoids more than 95 % of queue operations in each load",
            SETTING,
        )
        .figure("queue operations avoided, load with least", "%", |r| least(r, AVOIDED))
        .lies(Above(95.0), "the ledger (the paper: 95.84)")
        .remark(|_| Some(BY_CONSTRUCTION.to_string())),
        claim(
            "S0-C02b",
            "About a third of the insertions that are left are deferred ones",
            SETTING,
        )
        .figure("deferred insertions of all, load with least", "%", |r| least(r, DEFERRED_ENQUEUES))
        .lies(AtLeast(25.0), "choice: about a third (the paper: 31.6 to 46.4)")
        .figure("deferred insertions of all, load with most", "%", |r| most(r, DEFERRED_ENQUEUES))
        .lies(AtMost(50.0), "choice: about a third (the paper: 31.6 to 46.4)"),
        claim(
            "S0-C02c",
            "About two thirds of the removals that are left are deferred ones",
            SETTING,
        )
        .figure("deferred removals of all insertions, load with least", "%", |r| {
            least(r, DEFERRED_DEQUEUES)
        })
        .lies(AtLeast(55.0), "choice: about two thirds (the paper: 60.3 to 64.7)")
        .figure("deferred removals of all insertions, load with most", "%", |r| {
            most(r, DEFERRED_DEQUEUES)
        })
        .lies(AtMost(75.0), "choice: about two thirds (the paper: 60.3 to 64.7)"),
        claim(
            "S0-C03",
            "Direct switching avoids about 95 % of look-ups and more in each load",
            SETTING,
        )
        .figure("look-ups avoided, load with least", "%", |r| least(r, LOOK_UPS_AVOIDED))
        .lies(Above(94.0), "the ledger (the paper: 94.83)")
        .remark(|_| Some(BY_CONSTRUCTION.to_string())),
    ]
}

fn queues() -> Vec<Spec> {
    vec![
        claim(
            "S0-C06a",
            "Fewer than one message in 400 million units of work, and fewer than 0.1 % of \
             them, have to queue",
            SETTING,
        )
        .hidden(unqueued)
        .figure("queued in 400 million units, load with most", "", |r| {
            Some(greatest(r, QUEUED)? / 1000.0 / SECONDS)
        })
        .lies(Below(1.0), "the ledger (the paper: 0.89)")
        .figure("of all messages, load with most", "%", share_queued)
        .lies(Below(0.1), "the ledger (the paper: 0.0099)"),
        claim("S0-C06b", "Where a message queues, it is the only one", SETTING)
            .hidden(unqueued)
            .figure("longest queue, load with most", "", |r| greatest(r, LONGEST))
            .lies(AtMost(1.0), "the ledger"),
        claim("S0-C06c", "Send queues ordered by priority cost nothing", SETTING)
            .hidden(unqueued)
            .figure(
                "messages fewer than with direct-lazy, kernel with most, loads together",
                "%",
                fewer,
            )
            .lies(Below(0.5), "choice: nothing that the scatter between kernels lets one see"),
    ]
}

/// Figures of all loads.
fn figures(report: &Report, metric: &str) -> [Option<f64>; 3] {
    CASES.map(|load| median(report, COUNTED, metric, load))
}

fn greatest(report: &Report, metric: &str) -> Option<f64> {
    claim::most(figures(report, metric))
}

/// The least figure of all loads, in percent.
fn least(report: &Report, metric: &str) -> Option<f64> {
    Some(claim::least(figures(report, metric))? / PERCENT)
}

/// The greatest one, in percent.
fn most(report: &Report, metric: &str) -> Option<f64> {
    Some(greatest(report, metric)? / PERCENT)
}

/// Where no message queues, nothing is known of queues.
fn unqueued(report: &Report) -> Option<String> {
    let none = greatest(report, QUEUED)? == 0.0;
    none.then(|| "no message queued, so that the loads do not tell".to_string())
}

fn share_queued(report: &Report) -> Option<f64> {
    let all = figures(report, QUEUED).into_iter().zip(figures(report, MESSAGES));
    claim::most(all.map(|(queued, messages)| Some(queued? / messages? * 100.0)))
}

/// By how many percent of its messages the worst of the kernels with ordered queues has fewer.
/// Loads count alike, whatever their rates.
fn fewer(report: &Report) -> Option<f64> {
    claim::most(ORDERED.map(|kernel| {
        mean(CASES.map(|load| {
            let of = |kernel| median(report, kernel, MESSAGES, load);
            Some((1.0 - of(kernel)? / of(COUNTED)?) * 100.0)
        }))
    }))
}
