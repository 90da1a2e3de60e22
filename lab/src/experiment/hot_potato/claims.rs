//! Claims about the ring of threads (S0-E05).

use super::{COLD, FEW_THREADS, METRIC, PING_PONG, case};
use crate::experiment::claim::Ours::{Each, Machine};
use crate::experiment::claim::{
    self, Setting, Spec, claim, cold, mean, median, most, percent_above,
};
use results::Bound::{Above, AtLeast, AtMost, Within};
use results::Report;

const SETTING: Setting = &[
    ("machine", "XScale PXA255, 32 KiB of data cache, a miss 108 of 300 cycles", Machine),
    (
        "load",
        "250 threads, priorities 1 to 250 shuffled, 1 to 250 messages",
        Each([
            "250 threads, priorities 1 to 250 shuffled, 1 to 249 messages",
            "250 threads, priorities 1 to 250 shuffled, 1 to 249 messages",
            "the same; b, c and e: 4,000 threads, more than 1 MiB holds",
        ]),
    ),
    (
        "preemption",
        "none in the kernel",
        Each([
            "none: lazy_dequeues = 0, preempt_chains = false",
            "none: lazy_dequeues = 0, preempt_chains = false",
            "none: nothing interrupts",
        ]),
    ),
    (
        "unit",
        "cycles a hop (figure only)",
        Each([
            "instructions a hop",
            "modelled instructions a hop",
            "hundredths of ticks a hop, no trap, no page tables",
        ]),
    ),
];

const FEW: u64 = 1;
const MANY: u64 = 249;
/// In the middle of the sweep.
const SOME: u64 = 100;

/// Why the checks of our fast path are not paid in vain.
const GOES_ON: &str = "our general path goes on with the slots that the fast path has resolved; \
                       the thesis's begins anew";

/// All parts of S0-C05.
pub fn claims() -> Vec<Spec> {
    let mut claims = order();
    claims.extend(kernels());
    claims
}

/// Those about the order of kernels.
fn order() -> Vec<Spec> {
    vec![
        claim(
            "S0-C05a",
            "fastpath is clearly fastest with few messages and ends slightly slower than \
             slowpath near saturation",
            SETTING,
        )
        .figure("slowpath above fastpath with one message", "%", |r| {
            above(r, "slowpath", "fastpath", FEW)
        })
        .lies(AtLeast(10.0), "choice: clearly")
        .figure("fastpath above slowpath with 249 messages", "%", |r| {
            above(r, "fastpath", "slowpath", MANY)
        })
        .lies(Above(0.0), "the ledger: the checks are paid in vain")
        .figure("the same again", "%", |r| above(r, "fastpath", "slowpath", MANY))
        .lies(AtMost(10.0), "choice: slightly")
        .remark(|_| Some(GOES_ON.to_string())),
        claim("S0-C05b", "direct-lazy is about 10 % faster than slowpath", SETTING)
            .hidden(cold)
            .figure("slowpath above direct-lazy, mean of a ring of 4,000", "%", |r| {
                mean_above(r, "slowpath", "direct-lazy")
            })
            .lies(Within(5.0, 20.0), "the ledger: at least 5 %; choice: at most 20 %"),
        claim(
            "S0-C05c",
            "The order is that of ping-pong, with strict-lazy about 4 % ahead of \
             direct-eager",
            SETTING,
        )
        .hidden(cold)
        .figure("strict-lazy above direct-lazy, mean of a ring of 4,000", "%", |r| {
            mean_above(r, "strict-lazy", "direct-lazy")
        })
        .lies(Above(0.0), "the ledger's order")
        .figure("direct-eager above strict-lazy", "%", |r| {
            mean_above(r, "direct-eager", "strict-lazy")
        })
        .lies(Within(0.0, 10.0), "choice: about 4 %")
        .figure("strict-eager above direct-eager", "%", |r| {
            mean_above(r, "strict-eager", "direct-eager")
        })
        .lies(Above(0.0), "the ledger's order"),
    ]
}

/// Those about single kernels and the cache.
fn kernels() -> Vec<Spec> {
    vec![
        claim(
            "S0-C05d",
            "ipc-scan and ipc-ordered cost what direct-lazy does, since queues never \
             exceed one; ipc-heap costs more the more sends are queued",
            SETTING,
        )
        .figure("ipc-scan and ipc-ordered away from direct-lazy, 100 and 249 messages", "%", level)
        .lies(AtMost(5.0), "choice: about the same")
        .figure("ipc-heap above the dearer of the two with 249 messages", "%", |r| {
            let other = |kernel| above(r, "ipc-heap", kernel, MANY);
            Some(other("ipc-scan")?.min(other("ipc-ordered")?))
        })
        .lies(Above(0.0), "the ledger: slower")
        .figure("ipc-heap above direct-lazy, more with 249 messages than with one", "points", |r| {
            let heap = |case| above(r, "ipc-heap", "direct-lazy", case);
            Some(heap(MANY)? - heap(FEW)?)
        })
        .lies(Above(1.0), "the ledger: diverging; choice: a point"),
        claim(
            "S0-C05e",
            "A hop costs far more than a message in ping-pong, because the working set \
             leaves the cache",
            SETTING,
        )
        .hidden(cold)
        .figure("a hop among 4,000 threads over one among 8, kernel with least", "", |r| {
            least(r, &super::cold(FEW), FEW_THREADS)
        })
        .lies(AtLeast(1.3), "choice: far more; the same work in more memory")
        .figure("a hop among 4,000 threads over a message, kernel with least", "", |r| {
            least(r, &super::cold(FEW), PING_PONG)
        })
        .lies(AtLeast(1.3), "choice: far more")
        .remark(|r| {
            let times = least(r, &case(FEW), FEW_THREADS)?;
            let held = "the host's second cache holds 250 thread control blocks";
            Some(format!("among 250 a hop takes {times:.2} times one among 8: {held}"))
        }),
    ]
}

fn hop(report: &Report, kernel: &str, case: &str) -> Option<f64> {
    median(report, kernel, METRIC, case)
}

/// By how many percent a hop of `a` is above one of `b`.
fn above(report: &Report, a: &str, b: &str, messages: u64) -> Option<f64> {
    let case = case(messages);
    Some(percent_above(hop(report, a, &case)?, hop(report, b, &case)?))
}

/// The same of means over all cases of the ring that leaves the cache.
fn mean_above(report: &Report, a: &str, b: &str) -> Option<f64> {
    let mean = |kernel| mean(COLD.map(|messages| hop(report, kernel, &super::cold(messages))));
    Some(percent_above(mean(a)?, mean(b)?))
}

/// How far the kernels whose queues never exceed one are from direct-lazy at most.
fn level(report: &Report) -> Option<f64> {
    let off = |kernel| [SOME, MANY].map(|n| Some(above(report, kernel, "direct-lazy", n)?.abs()));
    most(["ipc-scan", "ipc-ordered"].into_iter().flat_map(off))
}

/// A hop of one case over that of another, under the kernel with the least of it.
fn least(report: &Report, case: &str, other: &str) -> Option<f64> {
    let ratio = |kernel| Some(hop(report, kernel, case)? / hop(report, kernel, other)?);
    claim::least(manifest::KERNELS.map(ratio))
}
