//! Claims about what client/server loads ask of the scheduler (S0-E01, S0-E03).

use super::median;
use super::spec::{self, Band, Setting, Spec, silent, visible};
use crate::experiment::scheduler_stats::{
    AVOIDED, CASES, COUNTED, DEFERRED_DEQUEUES, DEFERRED_ENQUEUES, LONGEST, LOOK_UPS_AVOIDED,
    MESSAGES, QUEUED,
};
use results::{Bound, Claim, Report};

/// The kernels like it whose send queues are ordered by priority.
const ORDERED: [&str; 3] = ["ipc-scan", "ipc-ordered", "ipc-heap"];
/// A percent in millionths.
const PERCENT: f64 = 10_000.0;
/// Seconds of the paper's processor, of 400 million cycles, in one of ours.
const SECONDS: f64 = 2.5;

const PAPER: Setting = &[
    ("machine", "XScale PXA255, 400 MHz, Linux on L4"),
    ("load", "Re-aim: complete, database, udpserver; 5 processes"),
    ("work between messages", "61,244, 39,733, 9,311 cycles"),
    ("waits", "92, 51, 14 insertions a second besides the tick's (Table 5.1)"),
    ("ticks", "every 4 million cycles"),
    ("priorities", "not stated"),
];
const QEMU: Setting = &[
    ("machine", "emulated: an instruction is a nanosecond"),
    ("load", "5 clients, a server, a tick, a device's server"),
    ("work between messages", "the same, +- 50 % by seed"),
    ("waits", "as many, half by the clock and half for input"),
    ("ticks", "every 4 million nanoseconds"),
    ("priorities", "all equal, but for the tick's thread above them"),
];
const TWIN: Setting = &[
    ("machine", "simulated: steps have stated costs"),
    ("load", "5 clients, a server, a tick, a device's server"),
    ("work between messages", "the same, +- 50 % by seed"),
    ("waits", "as many, half by the clock and half for input"),
    ("ticks", "every 4 million nanoseconds"),
    ("priorities", "all equal, but for the tick's thread above them"),
];
const OURS: &[(&str, Setting)] = &[("qemu-x86_64", QEMU), ("twin", TWIN)];

/// All claims.
pub static CLAIMS: [Spec; 7] = [
    Spec {
        id: "S0-C02a",
        statement: "Lazy queueing avoids more than 95 % of queue operations in each load",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[Band {
            quantity: "queue operations avoided, load with least",
            unit: "%",
            bound: Bound::Above(95.0),
            from: "the ledger (the paper: 95.84)",
            figure: |report| least(report, AVOIDED),
        }],
        remark: |_| Some(BY_CONSTRUCTION.to_string()),
    },
    Spec {
        id: "S0-C02b",
        statement: "About a third of the insertions that are left are deferred ones",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[
            Band {
                quantity: "deferred insertions of all, load with least",
                unit: "%",
                bound: Bound::AtLeast(25.0),
                from: "choice: about a third (the paper: 31.6 to 46.4)",
                figure: |report| least(report, DEFERRED_ENQUEUES),
            },
            Band {
                quantity: "deferred insertions of all, load with most",
                unit: "%",
                bound: Bound::AtMost(50.0),
                from: "choice: about a third (the paper: 31.6 to 46.4)",
                figure: |report| most(report, DEFERRED_ENQUEUES),
            },
        ],
        remark: silent,
    },
    Spec {
        id: "S0-C02c",
        statement: "About two thirds of the removals that are left are deferred ones",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[
            Band {
                quantity: "deferred removals of all insertions, load with least",
                unit: "%",
                bound: Bound::AtLeast(55.0),
                from: "choice: about two thirds (the paper: 60.3 to 64.7)",
                figure: |report| least(report, DEFERRED_DEQUEUES),
            },
            Band {
                quantity: "deferred removals of all insertions, load with most",
                unit: "%",
                bound: Bound::AtMost(75.0),
                from: "choice: about two thirds (the paper: 60.3 to 64.7)",
                figure: |report| most(report, DEFERRED_DEQUEUES),
            },
        ],
        remark: silent,
    },
    Spec {
        id: "S0-C03",
        statement: "Direct switching avoids about 95 % of look-ups and more in each load",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[Band {
            quantity: "look-ups avoided, load with least",
            unit: "%",
            bound: Bound::Above(94.0),
            from: "the ledger (the paper: 94.83)",
            figure: |report| least(report, LOOK_UPS_AVOIDED),
        }],
        remark: |_| Some(BY_CONSTRUCTION.to_string()),
    },
    Spec {
        id: "S0-C06a",
        statement: "Fewer than one message in 400 million units of work, and fewer than 0.1 % of \
                    them, have to queue",
        paper: PAPER,
        ours: OURS,
        hidden: unqueued,
        bands: &[
            Band {
                quantity: "queued in 400 million units, load with most",
                unit: "",
                bound: Bound::Below(1.0),
                from: "the ledger (the paper: 0.89)",
                figure: |report| Some(figures(report, COUNTED, QUEUED)?.1 / 1000.0 / SECONDS),
            },
            Band {
                quantity: "of all messages, load with most",
                unit: "%",
                bound: Bound::Below(0.1),
                from: "the ledger (the paper: 0.0099)",
                figure: share_queued,
            },
        ],
        remark: silent,
    },
    Spec {
        id: "S0-C06b",
        statement: "Where a message queues, it is the only one",
        paper: PAPER,
        ours: OURS,
        hidden: unqueued,
        bands: &[Band {
            quantity: "longest queue, load with most",
            unit: "",
            bound: Bound::AtMost(1.0),
            from: "the ledger",
            figure: |report| Some(figures(report, COUNTED, LONGEST)?.1),
        }],
        remark: silent,
    },
    Spec {
        id: "S0-C06c",
        statement: "Send queues ordered by priority cost nothing",
        paper: PAPER,
        ours: OURS,
        hidden: unqueued,
        bands: &[Band {
            quantity: "messages fewer than with direct-lazy, kernel with most, loads together",
            unit: "%",
            bound: Bound::Below(0.5),
            from: "choice: nothing that the scatter between kernels lets one see",
            figure: fewer,
        }],
        remark: silent,
    },
];

const BY_CONSTRUCTION: &str = "by construction a call and its reply touch no queue and look up \
                               nothing between two waits; measured is what ticks and waits add";

/// All claims.
pub fn all(report: &Report) -> Vec<Claim> {
    spec::judge(&CLAIMS, report)
}

/// The least and the greatest figure of all loads.
fn figures(report: &Report, kernel: &str, metric: &str) -> Option<(f64, f64)> {
    let all: Option<Vec<f64>> =
        CASES.iter().map(|load| median(report, kernel, metric, load)).collect();
    let all = all?;
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    Some((least, all.into_iter().fold(0.0, f64::max)))
}

fn least(report: &Report, metric: &str) -> Option<f64> {
    Some(figures(report, COUNTED, metric)?.0 / PERCENT)
}

fn most(report: &Report, metric: &str) -> Option<f64> {
    Some(figures(report, COUNTED, metric)?.1 / PERCENT)
}

/// Where no message queues, nothing is known of queues.
fn unqueued(report: &Report) -> Option<String> {
    let none = figures(report, COUNTED, QUEUED)?.1 == 0.0;
    none.then(|| "no message queued, so that the loads do not tell".to_string())
}

fn share_queued(report: &Report) -> Option<f64> {
    let mut share = 0.0_f64;
    for load in CASES {
        let of = |metric| median(report, COUNTED, metric, load);
        share = share.max(of(QUEUED)? / of(MESSAGES)? * 100.0);
    }
    Some(share)
}

/// By how many percent of its messages the worst of the kernels with ordered queues has fewer.
/// Loads count alike, whatever their rates.
fn fewer(report: &Report) -> Option<f64> {
    let mut worst = f64::NEG_INFINITY;
    for kernel in ORDERED {
        let mut fewer = 0.0;
        for load in CASES {
            let of = |kernel| median(report, kernel, MESSAGES, load);
            fewer += (1.0 - of(kernel)? / of(COUNTED)?) * 100.0 / CASES.len() as f64;
        }
        worst = worst.max(fewer);
    }
    Some(worst)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, verdict};
    use super::*;

    use results::Verdict;

    /// The paper's figures, with 2.5 times as much work in a second; the same for the kernels with
    /// ordered queues.
    fn paper() -> Vec<(&'static str, &'static str, &'static str, u64)> {
        let mut rows = Vec::new();
        let figures: [(&str, [u64; 3]); 7] = [
            (AVOIDED, [958_400, 977_100, 994_900]),
            (DEFERRED_ENQUEUES, [316_300, 356_200, 463_900]),
            (DEFERRED_DEQUEUES, [647_300, 602_600, 603_500]),
            (LOOK_UPS_AVOIDED, [948_300, 970_600, 992_700]),
            (MESSAGES, [16_235_475, 24_947_975, 103_505_075]),
            (QUEUED, [1_600, 2_225, 1_400]),
            (LONGEST, [1, 1, 1]),
        ];
        for kernel in ORDERED.into_iter().chain([COUNTED]) {
            for (metric, values) in figures {
                rows.extend((0..3).map(|load| (kernel, metric, CASES[load], values[load])));
            }
        }
        rows
    }

    /// The verdict on a claim if one figure of `database` were another.
    fn with(id: &str, kernel: &str, metric: &str, value: u64) -> Verdict {
        let mut rows = paper();
        let row = rows.iter_mut().find(|row| (row.0, row.1, row.2) == (kernel, metric, CASES[1]));
        row.expect("there is such a row").3 = value;
        verdict(&all(&report("made up", &rows)), id)
    }

    #[test]
    fn the_papers_figures_reproduce() {
        for claim in all(&report("made up", &paper())) {
            assert_eq!(claim.verdict, Verdict::Reproduced, "{}: {}", claim.id, claim.evidence);
        }
    }

    #[test]
    fn one_load_contradicts() {
        let contradicting = [
            ("S0-C02a", COUNTED, AVOIDED, 949_900),
            ("S0-C02b", COUNTED, DEFERRED_ENQUEUES, 240_000),
            ("S0-C02b", COUNTED, DEFERRED_ENQUEUES, 510_000),
            ("S0-C02c", COUNTED, DEFERRED_DEQUEUES, 500_000),
            ("S0-C02c", COUNTED, DEFERRED_DEQUEUES, 800_000),
            ("S0-C03", COUNTED, LOOK_UPS_AVOIDED, 939_900),
            ("S0-C06a", COUNTED, QUEUED, 2_500),
            ("S0-C06a", COUNTED, MESSAGES, 2_000_000),
            ("S0-C06b", COUNTED, LONGEST, 2),
            ("S0-C06c", ORDERED[2], MESSAGES, 24_500_000),
        ];
        for (id, kernel, metric, value) in contradicting {
            assert_eq!(with(id, kernel, metric, value), Verdict::Contradicted, "{id}: {value}");
        }
        assert_eq!(with("S0-C06c", ORDERED[0], MESSAGES, 24_900_000), Verdict::Reproduced);
        assert_eq!(with("S0-C02a", ORDERED[0], AVOIDED, 0), Verdict::Reproduced, "another kernel");
    }

    #[test]
    fn queues_that_never_were_tell_nothing() {
        let mut rows = paper();
        rows.iter_mut().filter(|row| row.1 == LONGEST || row.1 == QUEUED).for_each(|row| row.3 = 0);
        let claims = all(&report("made up", &rows));
        for id in ["S0-C06a", "S0-C06b", "S0-C06c"] {
            assert_eq!(verdict(&claims, id), Verdict::NotObservable, "{id}");
        }
        assert_eq!(verdict(&claims, "S0-C02a"), Verdict::Reproduced);
    }

    #[test]
    fn without_rows_nothing_is_judged() {
        for claim in all(&report("made up", &[])) {
            assert_eq!(claim.verdict, Verdict::NotObservable, "{}", claim.id);
        }
    }
}
