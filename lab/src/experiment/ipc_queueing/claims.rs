//! Claims about long send queues (S0-E06).

use super::{METRIC, THREADS, case};
use crate::experiment::claim::Ours::{Each, Machine, Same};
use crate::experiment::claim::{Line, Setting, Spec, claim, cold, median};
use results::Bound::{Above, Within};
use results::Report;

const SETTING: Setting = &[
    ("machine", "XScale PXA255", Machine),
    (
        "load",
        "threads of random priorities, woken in random order, queue before any is served",
        Same("the same, 1 to 1000 of 1000 threads, priorities 2 to 250"),
    ),
    (
        "unit",
        "cycles a thread (figure only)",
        Each([
            "instructions a thread",
            "modelled instructions a thread",
            "hundredths of ticks a thread, no trap, no page tables",
        ]),
    ),
];

/// A crossing that never comes.
const NEVER: f64 = 9_999.0;

/// All parts of S0-C07.
pub fn claims() -> Vec<Spec> {
    let mut claims = growth();
    claims.extend(crossings());
    claims
}

fn growth() -> Vec<Spec> {
    vec![
        claim("S0-C07a", "ipc-scan and ipc-ordered grow linearly with the queue", SETTING)
            .figure("r squared of a line from 50 to 1000 threads, ipc-scan", "", |r| {
                Some(straightness(&curve(r, "ipc-scan")?))
            })
            .lies(Above(0.97), "choice: straight")
            .figure("the same of ipc-ordered", "", |r| {
                Some(straightness(&curve(r, "ipc-ordered")?))
            })
            .lies(Above(0.97), "choice: straight")
            .figure("what a further thread adds, the lesser of both", "", |r| {
                let of = |kernel| slope(&curve(r, kernel)?);
                Some(of("ipc-scan")?.min(of("ipc-ordered")?))
            })
            .lies(Above(0.0), "the ledger: O(n)"),
        claim("S0-C07b", "ipc-ordered is about twice as fast as ipc-scan at length", SETTING)
            .figure("ipc-scan over ipc-ordered with 1000 threads", "", |r| {
                Some(cost(r, "ipc-scan", 1000)? / cost(r, "ipc-ordered", 1000)?)
            })
            .lies(Within(1.5, 2.5), "the ledger: 1.5 to 2.5")
            .remark(|r| {
                let [scan, ordered] =
                    ["ipc-scan", "ipc-ordered"].map(|kernel| at(&curve(r, kernel)?, 1000.0));
                let times = scan? / ordered?;
                Some(format!("without what direct-lazy's queue costs: {times:.1} times"))
            }),
        claim("S0-C07c", "ipc-heap grows logarithmically with the queue", SETTING)
            .figure("what its queue costs more with 100 threads than with 10", "", |r| {
                rise(r, 10.0, 100.0)
            })
            .lies(Above(0.0), "the ledger: O(log n)")
            .figure("rise from 100 to 1000 threads over that from 10 to 100", "", |r| {
                // Without a rise there is no ratio, but a queue that is no heap.
                Some(rise(r, 100.0, 1000.0)? / rise(r, 10.0, 100.0)?.max(1.0))
            })
            .lies(Within(0.3, 3.0), "choice: a logarithm has 1, a line 10, a constant none"),
    ]
}

fn crossings() -> Vec<Spec> {
    vec![
        claim(
            "S0-C07d",
            "ipc-heap loses below about 10 queued threads and wins clearly beyond",
            SETTING,
        )
        .hidden(cold)
        .figure("threads from which on ipc-heap costs less than ipc-scan", "", |r| {
            crossing(&curve(r, "ipc-heap")?, &curve(r, "ipc-scan")?)
        })
        .lies(Within(5.0, 20.0), "the ledger: 5 to 20; 9,999 is never")
        .figure("the same for ipc-ordered", "", |r| {
            crossing(&curve(r, "ipc-heap")?, &curve(r, "ipc-ordered")?)
        })
        .lies(Within(5.0, 20.0), "the ledger: 5 to 20; 9,999 is never")
        .remark(|r| {
            let of = |kernel| slope(&curve(r, kernel)?);
            let upkeep = at(&curve(r, "ipc-heap")?, 10.0)?;
            Some(format!(
                "each further thread adds {:.1} with ipc-scan and {:.1} with ipc-ordered, a \
                 heap's upkeep {upkeep:.0} with 10 threads",
                of("ipc-scan")?,
                of("ipc-ordered")?
            ))
        }),
        claim("S0-C07e", "First come, first served costs the same for any length", SETTING)
            .figure("direct-lazy with 1000 threads over 10 threads", "", |r| {
                Some(cost(r, "direct-lazy", 1000)? / cost(r, "direct-lazy", 10)?)
            })
            .lies(Within(0.9, 1.1), "the ledger: flat; choice: within 10 %"),
    ]
}

fn cost(report: &Report, kernel: &str, threads: u64) -> Option<f64> {
    median(report, kernel, METRIC, &case(threads))
}

/// A kernel's cost, without what a first-come-first-served queue costs, by the queue's length.
fn curve(report: &Report, kernel: &str) -> Option<Vec<(f64, f64)>> {
    let point = |threads| {
        let more = cost(report, kernel, threads)? - cost(report, "direct-lazy", threads)?;
        Some((threads as f64, more))
    };
    THREADS.into_iter().map(point).collect()
}

fn at(curve: &[(f64, f64)], threads: f64) -> Option<f64> {
    curve.iter().find(|(x, _)| *x == threads).map(|(_, y)| *y)
}

/// What the heap costs more with `to` threads than with `from`.
fn rise(report: &Report, from: f64, to: f64) -> Option<f64> {
    let heap = curve(report, "ipc-heap")?;
    Some(at(&heap, to)? - at(&heap, from)?)
}

/// How much of the spread of a curve from 50 threads on a straight line explains.
fn straightness(curve: &[(f64, f64)]) -> f64 {
    let long: Vec<_> = curve.iter().copied().filter(|(x, _)| *x >= 50.0).collect();
    Line::through(&long).r2
}

/// What a further thread in a long queue adds.
fn slope(curve: &[(f64, f64)]) -> Option<f64> {
    Some((at(curve, 1000.0)? - at(curve, 100.0)?) / 900.0)
}

/// The first length from which `a` costs less than `b` for good, or [`NEVER`].
fn crossing(a: &[(f64, f64)], b: &[(f64, f64)]) -> Option<f64> {
    let wins = a.iter().zip(b).rev().take_while(|(a, b)| a.1 < b.1).last();
    Some(wins.map_or(NEVER, |(point, _)| point.0))
}
