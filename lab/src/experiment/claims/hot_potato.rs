//! Claims about the ring of threads (S0-E05).

use super::spec::{self, Band, Setting, Spec, silent, visible};
use super::{cold, median, percent_above};
use crate::experiment::hot_potato::{COLD, FEW_THREADS, PING_PONG};
use results::{Bound, Claim, Report};

const METRIC: &str = "hop";
const FEW: &str = "potatoes=1";
const MANY: &str = "potatoes=249";
/// In the middle of the sweep.
const SOME: &str = "potatoes=100";

const PAPER: Setting = &[
    ("machine", "XScale PXA255, 32 KiB of data cache, a miss 108 of 300 cycles"),
    ("load", "250 threads, priorities 1 to 250 shuffled, 1 to 250 messages"),
    ("preemption", "none in the kernel"),
    ("unit", "cycles a hop (figure only)"),
];
const OURS: &[(&str, Setting)] = &[
    (
        "qemu-x86_64",
        &[
            ("machine", "emulated: instructions are counted, there are no caches"),
            ("load", "250 threads, priorities 1 to 250 shuffled, 1 to 249 messages"),
            ("preemption", "none: purge = 0, preempt_chains = false"),
            ("unit", "instructions a hop"),
        ],
    ),
    (
        "twin",
        &[
            ("machine", "simulated: steps have stated costs, there are no caches"),
            ("load", "250 threads, priorities 1 to 250 shuffled, 1 to 249 messages"),
            ("preemption", "none: purge = 0, preempt_chains = false"),
            ("unit", "modelled instructions a hop"),
        ],
    ),
    (
        "native",
        &[
            ("machine", "the host's, with its caches"),
            ("load", "the same; b, c and e: 4,000 threads, more than 1 MiB holds"),
            ("preemption", "none: nothing interrupts"),
            ("unit", "hundredths of ticks a hop, no trap, no page tables"),
        ],
    ),
];

/// All parts of S0-C05.
pub static CLAIMS: [Spec; 5] = [
    Spec {
        id: "S0-C05a",
        statement: "fastpath is clearly fastest with few potatoes and ends slightly slower than \
                    slowpath near saturation",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[
            Band {
                quantity: "slowpath above fastpath with one potato",
                unit: "%",
                bound: Bound::AtLeast(10.0),
                from: "choice: clearly",
                figure: |report| above(report, "slowpath", "fastpath", FEW),
            },
            Band {
                quantity: "fastpath above slowpath with 249 potatoes",
                unit: "%",
                bound: Bound::Above(0.0),
                from: "the ledger: the checks are paid in vain",
                figure: |report| above(report, "fastpath", "slowpath", MANY),
            },
            Band {
                quantity: "the same again",
                unit: "%",
                bound: Bound::AtMost(10.0),
                from: "choice: slightly",
                figure: |report| above(report, "fastpath", "slowpath", MANY),
            },
        ],
        remark: silent,
    },
    Spec {
        id: "S0-C05b",
        statement: "direct-lazy is about 10 % faster than slowpath",
        paper: PAPER,
        ours: OURS,
        hidden: cold,
        bands: &[Band {
            quantity: "slowpath above direct-lazy, mean of a ring of 4,000",
            unit: "%",
            bound: Bound::Within(5.0, 20.0),
            from: "the ledger: at least 5 %; choice: at most 20 %",
            figure: |report| mean_above(report, "slowpath", "direct-lazy"),
        }],
        remark: silent,
    },
    Spec {
        id: "S0-C05c",
        statement: "The order is that of ping-pong, with strict-lazy about 4 % ahead of \
                    direct-eager",
        paper: PAPER,
        ours: OURS,
        hidden: cold,
        bands: &[
            Band {
                quantity: "strict-lazy above direct-lazy, mean of a ring of 4,000",
                unit: "%",
                bound: Bound::Above(0.0),
                from: "the ledger's order",
                figure: |report| mean_above(report, "strict-lazy", "direct-lazy"),
            },
            Band {
                quantity: "direct-eager above strict-lazy",
                unit: "%",
                bound: Bound::Within(0.0, 10.0),
                from: "choice: about 4 %",
                figure: |report| mean_above(report, "direct-eager", "strict-lazy"),
            },
            Band {
                quantity: "strict-eager above direct-eager",
                unit: "%",
                bound: Bound::Above(0.0),
                from: "the ledger's order",
                figure: |report| mean_above(report, "strict-eager", "direct-eager"),
            },
        ],
        remark: silent,
    },
    Spec {
        id: "S0-C05d",
        statement: "ipc-scan and ipc-ordered cost what direct-lazy does, since queues never \
                    exceed one; ipc-heap costs more the more sends are queued",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[
            Band {
                quantity: "ipc-scan and ipc-ordered away from direct-lazy, 100 and 249 potatoes",
                unit: "%",
                bound: Bound::AtMost(5.0),
                from: "choice: about the same",
                figure: level,
            },
            Band {
                quantity: "ipc-heap above the dearer of the two with 249 potatoes",
                unit: "%",
                bound: Bound::Above(0.0),
                from: "the ledger: slower",
                figure: |report| {
                    let other = |kernel| above(report, "ipc-heap", kernel, MANY);
                    Some(other("ipc-scan")?.min(other("ipc-ordered")?))
                },
            },
            Band {
                quantity: "ipc-heap above direct-lazy, more with 249 potatoes than with one",
                unit: "points",
                bound: Bound::Above(1.0),
                from: "the ledger: diverging; choice: a point",
                figure: |report| {
                    let heap = |case| above(report, "ipc-heap", "direct-lazy", case);
                    Some(heap(MANY)? - heap(FEW)?)
                },
            },
        ],
        remark: silent,
    },
    Spec {
        id: "S0-C05e",
        statement: "A hop costs far more than a message in ping-pong, because the working set \
                    leaves the cache",
        paper: PAPER,
        ours: OURS,
        hidden: cold,
        bands: &[
            Band {
                quantity: "a hop among 4,000 threads over one among 8, kernel with least",
                unit: "",
                bound: Bound::AtLeast(1.3),
                from: "choice: far more; the same work in more memory",
                figure: |report| least(report, COLD[0].1, FEW_THREADS),
            },
            Band {
                quantity: "a hop among 4,000 threads over a message, kernel with least",
                unit: "",
                bound: Bound::AtLeast(1.3),
                from: "choice: far more",
                figure: |report| least(report, COLD[0].1, PING_PONG),
            },
        ],
        remark: |report| {
            let times = least(report, FEW, FEW_THREADS)?;
            let held = "the host's second cache holds 250 thread control blocks";
            Some(format!("among 250 a hop takes {times:.2} times one among 8: {held}"))
        },
    },
];

/// All parts of S0-C05.
pub fn all(report: &Report) -> Vec<Claim> {
    spec::judge(&CLAIMS, report)
}

fn hop(report: &Report, kernel: &str, case: &str) -> Option<f64> {
    median(report, kernel, METRIC, case)
}

/// By how many percent a hop of `a` is above one of `b`.
fn above(report: &Report, a: &str, b: &str, case: &str) -> Option<f64> {
    Some(percent_above(hop(report, a, case)?, hop(report, b, case)?))
}

/// The mean over all cases of the ring that leaves the cache.
fn mean(report: &Report, kernel: &str) -> Option<f64> {
    let hops: Option<Vec<f64>> = COLD.iter().map(|(_, case)| hop(report, kernel, case)).collect();
    let hops = hops?;
    Some(hops.iter().sum::<f64>() / hops.len() as f64)
}

fn mean_above(report: &Report, a: &str, b: &str) -> Option<f64> {
    Some(percent_above(mean(report, a)?, mean(report, b)?))
}

/// How far the kernels whose queues never exceed one are from direct-lazy at most.
fn level(report: &Report) -> Option<f64> {
    let mut most = 0.0_f64;
    for kernel in ["ipc-scan", "ipc-ordered"] {
        for case in [SOME, MANY] {
            most = most.max(above(report, kernel, "direct-lazy", case)?.abs());
        }
    }
    Some(most)
}

/// A hop of one case over that of another, under the kernel with the least of it.
fn least(report: &Report, case: &str, other: &str) -> Option<f64> {
    let ratio = |kernel: &str| Some(hop(report, kernel, case)? / hop(report, kernel, other)?);
    let ratios: Option<Vec<f64>> = manifest::KERNELS.into_iter().map(ratio).collect();
    ratios?.into_iter().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, verdict};
    use super::*;
    use crate::experiment::hot_potato::CASES;
    use results::{Origin, Verdict};

    /// Costs with one potato and with 249; between them in a straight line.
    type Curve = (&'static str, u64, u64);

    const PAPER: [Curve; 9] = [
        ("fastpath", 300, 560),
        ("slowpath", 480, 550),
        ("direct-lazy", 430, 500),
        ("strict-lazy", 520, 560),
        ("direct-eager", 540, 580),
        ("strict-eager", 600, 640),
        ("ipc-scan", 431, 502),
        ("ipc-ordered", 432, 503),
        ("ipc-heap", 435, 560),
    ];

    /// As measured where there are caches.
    fn claims(change: &[Curve]) -> Vec<Claim> {
        let mut report = made_up(change);
        report.origin = Origin::HARDWARE;
        all(&report)
    }

    fn made_up(change: &[Curve]) -> Report {
        let mut rows = Vec::new();
        for curve in PAPER {
            let (kernel, one, many) =
                *change.iter().find(|other| other.0 == curve.0).unwrap_or(&curve);
            for (i, case) in CASES.into_iter().enumerate() {
                let last = CASES.len() - 1;
                let value = (one * (last - i) as u64 + many * i as u64) / last as u64;
                rows.push((kernel, METRIC, case, value));
            }
            let cold = COLD.map(|(_, case)| case).into_iter().zip([0, 1, 4, 9]);
            rows.extend(
                cold.map(|(case, i)| (kernel, METRIC, case, (one * (9 - i) + many * i) / 9)),
            );
            rows.extend([FEW_THREADS, PING_PONG].map(|case| (kernel, METRIC, case, 230)));
        }
        report("made up", &rows)
    }

    #[test]
    fn curves_like_the_papers_reproduce() {
        let claims = claims(&[]);
        for id in ["S0-C05a", "S0-C05b", "S0-C05c", "S0-C05d", "S0-C05e"] {
            assert_eq!(verdict(&claims, id), Verdict::Reproduced, "{id}: {claims:?}");
        }
    }

    #[test]
    fn without_caches_what_rests_on_them_is_not_judged() {
        let counted = all(&made_up(&[]));
        for id in ["S0-C05b", "S0-C05c", "S0-C05e"] {
            assert_eq!(verdict(&counted, id), Verdict::NotObservable, "{id}");
        }
        assert_eq!(verdict(&counted, "S0-C05d"), Verdict::Reproduced);
    }

    #[test]
    fn other_curves_contradict() {
        let contradicted = |change: &[Curve], id: &str| {
            assert_eq!(verdict(&claims(change), id), Verdict::Contradicted, "{id}");
        };
        contradicted(&[("fastpath", 479, 560)], "S0-C05a");
        contradicted(&[("fastpath", 300, 520)], "S0-C05a");
        contradicted(&[("slowpath", 432, 501)], "S0-C05b");
        contradicted(&[("fastpath", 300, 700)], "S0-C05a");
        contradicted(&[("slowpath", 700, 800)], "S0-C05b");
        contradicted(&[("strict-lazy", 400, 410)], "S0-C05c");
        contradicted(&[("direct-eager", 600, 660)], "S0-C05c");
        contradicted(&[("strict-eager", 500, 510)], "S0-C05c");
        contradicted(&[("fastpath", 298, 560)], "S0-C05e");
        contradicted(&[("ipc-scan", 431, 700)], "S0-C05d");
        contradicted(&[("ipc-heap", 435, 502)], "S0-C05d");
        contradicted(&[("ipc-heap", 560, 560)], "S0-C05d");
    }

    #[test]
    fn without_rows_nothing_is_judged() {
        let claims = all(&report("made up", &[("slowpath", METRIC, FEW, 480)]));
        for claim in claims {
            assert_eq!(claim.verdict, Verdict::NotObservable, "{}", claim.id);
        }
    }
}
