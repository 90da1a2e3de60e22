//! Claims about long send queues (S0-E06).

use super::spec::{self, Band, Setting, Spec, silent, visible};
use super::{cold, median};
use crate::experiment::ipc_queueing::CASES;
use results::{Bound, Claim, Report};

const METRIC: &str = "send-and-serve";

const PAPER: Setting = &[
    ("machine", "XScale PXA255"),
    ("load", "threads of random priorities, woken in random order, queue before any is served"),
    ("unit", "cycles a thread (figure only)"),
];
const OURS: &[(&str, Setting)] = &[
    (
        "qemu-x86_64",
        &[
            ("machine", "emulated: instructions are counted, there are no caches"),
            ("load", "the same, 1 to 1000 of 1000 threads, priorities 2 to 250"),
            ("unit", "instructions a thread"),
        ],
    ),
    (
        "twin",
        &[
            ("machine", "simulated: steps have stated costs, there are no caches"),
            ("load", "the same, 1 to 1000 of 1000 threads, priorities 2 to 250"),
            ("unit", "modelled instructions a thread"),
        ],
    ),
    (
        "native",
        &[
            ("machine", "the host's, with its caches"),
            ("load", "the same, 1 to 1000 of 1000 threads, priorities 2 to 250"),
            ("unit", "hundredths of ticks a thread, no trap, no page tables"),
        ],
    ),
];

/// All parts of S0-C07.
pub static CLAIMS: [Spec; 5] = [
    Spec {
        id: "S0-C07a",
        statement: "ipc-scan and ipc-ordered grow linearly with the queue",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[
            Band {
                quantity: "r squared of a line from 50 to 1000 threads, ipc-scan",
                unit: "",
                bound: Bound::Above(0.97),
                from: "choice: straight",
                figure: |report| Some(straightness(&curve(report, "ipc-scan")?)),
            },
            Band {
                quantity: "the same of ipc-ordered",
                unit: "",
                bound: Bound::Above(0.97),
                from: "choice: straight",
                figure: |report| Some(straightness(&curve(report, "ipc-ordered")?)),
            },
            Band {
                quantity: "what a further thread adds, the lesser of both",
                unit: "",
                bound: Bound::Above(0.0),
                from: "the ledger: O(n)",
                figure: |report| {
                    let of = |kernel| slope(&curve(report, kernel)?);
                    Some(of("ipc-scan")?.min(of("ipc-ordered")?))
                },
            },
        ],
        remark: silent,
    },
    Spec {
        id: "S0-C07b",
        statement: "ipc-ordered is about twice as fast as ipc-scan at length",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[Band {
            quantity: "ipc-scan over ipc-ordered with 1000 threads",
            unit: "",
            bound: Bound::Within(1.5, 2.5),
            from: "the ledger: 1.5 to 2.5",
            figure: |report| {
                Some(cost(report, "ipc-scan", 1000)? / cost(report, "ipc-ordered", 1000)?)
            },
        }],
        remark: |report| {
            let [scan, ordered] =
                ["ipc-scan", "ipc-ordered"].map(|kernel| at(&curve(report, kernel)?, 1000.0));
            let times = scan? / ordered?;
            Some(format!("without what direct-lazy's queue costs: {times:.1} times"))
        },
    },
    Spec {
        id: "S0-C07c",
        statement: "ipc-heap grows logarithmically with the queue",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[
            Band {
                quantity: "what its queue costs more with 100 threads than with 10",
                unit: "",
                bound: Bound::Above(0.0),
                from: "the ledger: O(log n)",
                figure: |report| rise(report, 10.0, 100.0),
            },
            Band {
                quantity: "rise from 100 to 1000 threads over that from 10 to 100",
                unit: "",
                bound: Bound::Within(0.3, 3.0),
                from: "choice: a logarithm has 1, a line 10, a constant none",
                figure: |report| {
                    // Without a rise there is no ratio, but a queue that is no heap.
                    Some(rise(report, 100.0, 1000.0)? / rise(report, 10.0, 100.0)?.max(1.0))
                },
            },
        ],
        remark: silent,
    },
    Spec {
        id: "S0-C07d",
        statement: "ipc-heap loses below about 10 queued threads and wins clearly beyond",
        paper: PAPER,
        ours: OURS,
        hidden: cold,
        bands: &[
            Band {
                quantity: "threads from which on ipc-heap costs less than ipc-scan",
                unit: "",
                bound: Bound::Within(5.0, 20.0),
                from: "the ledger: 5 to 20; 9,999 is never",
                figure: |report| crossing(&curve(report, "ipc-heap")?, &curve(report, "ipc-scan")?),
            },
            Band {
                quantity: "the same for ipc-ordered",
                unit: "",
                bound: Bound::Within(5.0, 20.0),
                from: "the ledger: 5 to 20; 9,999 is never",
                figure: |report| {
                    crossing(&curve(report, "ipc-heap")?, &curve(report, "ipc-ordered")?)
                },
            },
        ],
        remark: |report| {
            let of = |kernel| slope(&curve(report, kernel)?);
            let upkeep = at(&curve(report, "ipc-heap")?, 10.0)?;
            Some(format!(
                "each further thread adds {:.1} with ipc-scan and {:.1} with ipc-ordered, a \
                 heap's upkeep {upkeep:.0} with 10 threads",
                of("ipc-scan")?,
                of("ipc-ordered")?
            ))
        },
    },
    Spec {
        id: "S0-C07e",
        statement: "First come, first served costs the same for any length",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[Band {
            quantity: "direct-lazy with 1000 threads over 10 threads",
            unit: "",
            bound: Bound::Within(0.9, 1.1),
            from: "the ledger: flat; choice: within 10 %",
            figure: |report| {
                Some(cost(report, "direct-lazy", 1000)? / cost(report, "direct-lazy", 10)?)
            },
        }],
        remark: silent,
    },
];

/// A crossing that never comes.
const NEVER: f64 = 9_999.0;

/// All parts of S0-C07.
pub fn all(report: &Report) -> Vec<Claim> {
    spec::judge(&CLAIMS, report)
}

fn cost(report: &Report, kernel: &str, threads: u64) -> Option<f64> {
    median(report, kernel, METRIC, &format!("threads={threads}"))
}

/// A kernel's cost, without what a first-come-first-served queue costs, by the queue's length.
fn curve(report: &Report, kernel: &str) -> Option<Vec<(f64, f64)>> {
    let point = |case: &&str| {
        let threads = case.strip_prefix("threads=")?.parse().ok()?;
        let base = median(report, "direct-lazy", METRIC, case)?;
        Some((threads, median(report, kernel, METRIC, case)? - base))
    };
    CASES.iter().map(point).collect()
}

fn at(curve: &[(f64, f64)], threads: f64) -> Option<f64> {
    curve.iter().find(|(x, _)| *x == threads).map(|(_, y)| *y)
}

/// What the heap costs more with `to` threads than with `from`.
fn rise(report: &Report, from: f64, to: f64) -> Option<f64> {
    let heap = curve(report, "ipc-heap")?;
    Some(at(&heap, to)? - at(&heap, from)?)
}

/// How much of the spread of a curve from 50 threads on a straight line explains (r squared).
fn straightness(curve: &[(f64, f64)]) -> f64 {
    let points: Vec<_> = curve.iter().filter(|(x, _)| *x >= 50.0).collect();
    let n = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in points {
        xy += (x - mean_x) * (y - mean_y);
        xx += (x - mean_x).powi(2);
        yy += (y - mean_y).powi(2);
    }
    if yy == 0.0 { 0.0 } else { xy * xy / (xx * yy) }
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

#[cfg(test)]
mod tests {
    use super::super::testing::{report, verdict};
    use super::*;
    use results::{Origin, Verdict};

    fn claims(queue: impl Fn(&str, f64) -> f64) -> Vec<Claim> {
        let mut rows = Vec::new();
        for kernel in ["direct-lazy", "ipc-scan", "ipc-ordered", "ipc-heap"] {
            for case in CASES {
                let threads = case.strip_prefix("threads=").unwrap().parse().unwrap();
                rows.push((kernel, METRIC, case, 1000 + queue(kernel, threads) as u64));
            }
        }
        let mut report = report("made up", &rows);
        report.origin = Origin::HARDWARE;
        all(&report)
    }

    fn paper(kernel: &str, n: f64) -> f64 {
        match kernel {
            "ipc-scan" => 6.0 * n,
            "ipc-ordered" => 3.0 * n,
            "ipc-heap" => 12.0 + 10.0 * n.log2(),
            _ => 0.0,
        }
    }

    #[test]
    fn curves_like_the_papers_reproduce() {
        let claims = claims(paper);
        for id in ["S0-C07a", "S0-C07b", "S0-C07c", "S0-C07d", "S0-C07e"] {
            assert_eq!(verdict(&claims, id), Verdict::Reproduced, "{id}: {claims:?}");
        }
    }

    #[test]
    fn other_curves_contradict() {
        let bent = claims(|kernel, n| match kernel {
            "ipc-scan" => n * n / 50.0,
            "ipc-heap" => n * 4.0,
            "direct-lazy" => n,
            _ => paper(kernel, n),
        });
        assert_eq!(verdict(&bent, "S0-C07a"), Verdict::Contradicted);
        assert_eq!(verdict(&bent, "S0-C07b"), Verdict::Contradicted);
        assert_eq!(verdict(&bent, "S0-C07c"), Verdict::Contradicted);
        assert_eq!(verdict(&bent, "S0-C07e"), Verdict::Contradicted);
        let late = claims(|kernel, n| match kernel {
            "ipc-heap" => 400.0 + 10.0 * n.log2(),
            _ => paper(kernel, n),
        });
        assert_eq!(verdict(&late, "S0-C07d"), Verdict::Contradicted);
        let flat = claims(|kernel, n| if kernel == "ipc-heap" { 30.0 } else { paper(kernel, n) });
        assert_eq!(verdict(&flat, "S0-C07c"), Verdict::Contradicted);
    }

    #[test]
    fn a_heap_that_never_wins_contradicts() {
        let dear =
            claims(|kernel, n| if kernel == "ipc-heap" { 9.0 * n } else { paper(kernel, n) });
        assert_eq!(verdict(&dear, "S0-C07d"), Verdict::Contradicted);
        let early = claims(|kernel, n| if kernel == "ipc-heap" { 1.0 } else { paper(kernel, n) });
        assert_eq!(verdict(&early, "S0-C07d"), Verdict::Contradicted);
    }

    #[test]
    fn without_rows_nothing_is_judged() {
        for claim in all(&report("made up", &[("direct-lazy", METRIC, "threads=1000", 1000)])) {
            assert_eq!(claim.verdict, Verdict::NotObservable, "{}", claim.id);
        }
    }
}
