//! Claims about chained messages (S0-E09).

use super::percent_above;
use super::spec::{self, Band, Setting, Spec, silent, visible};
use super::tails::{line, most, usual, worst};
use crate::experiment::latency::SWEEP;
use results::{Bound, Claim, Report};

const WHOLE: &str = "whole";
const PREEMPTED: &str = "preempted";
const PURGE: &str = "purge";
/// Kernels under which the elevator purges.
const PURGING: [&str; 7] =
    ["fastpath", "slowpath", "direct-lazy", "strict-lazy", "ipc-scan", "ipc-ordered", "ipc-heap"];

const PAPER: Setting = &[
    ("machine", "XScale PXA255, 400 MHz"),
    ("load", "250 threads, each sending to the next and receiving"),
    ("samples", "a timer of 3.7 MHz at random distances"),
    ("purge", "without preemption points"),
    ("unit", "microseconds (figure only)"),
];
const OURS: &[(&str, Setting)] = &[
    (
        "qemu-x86_64",
        &[
            ("machine", "emulated: instructions are counted"),
            (
                "load",
                "50 to 250 threads, each sending to the next and receiving from the one before",
            ),
            ("samples", "200 a case, at random distances"),
            ("purge", "without preemption points"),
            ("unit", "instructions"),
        ],
    ),
    (
        "twin",
        &[
            ("machine", "simulated: steps have stated costs"),
            (
                "load",
                "50 to 250 threads, each sending to the next and receiving from the one before",
            ),
            ("samples", "200 a case, at random distances"),
            ("purge", "without preemption points"),
            ("unit", "modelled instructions"),
        ],
    ),
];

/// All parts of S0-C11.
pub static CLAIMS: [Spec; 3] = [
    Spec {
        id: "S0-C11a",
        statement: "A chain delays a wake-up far longer than a purge of as many",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[Band {
            quantity: "worst wake-up by a chain over that by a purge, kernel with least",
            unit: "",
            bound: Bound::AtLeast(3.0),
            from: "the ledger: 3 (the paper: 6.4)",
            figure: |report| {
                let ratio = |kernel| {
                    let of = |form| worst(report, kernel, form, most());
                    Some(of(WHOLE)? / of(PURGE)?)
                };
                PURGING
                    .map(ratio)
                    .into_iter()
                    .collect::<Option<Vec<_>>>()?
                    .into_iter()
                    .reduce(f64::min)
            },
        }],
        remark: silent,
    },
    Spec {
        id: "S0-C11b",
        statement: "Strict scheduling does not change how long a chain delays",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[
            Band {
                quantity: "strict-lazy above direct-lazy",
                unit: "%",
                bound: Bound::Within(-15.0, 15.0),
                from: "choice: similar",
                figure: |report| above(report, "strict-lazy", "direct-lazy"),
            },
            Band {
                quantity: "strict-eager above direct-eager",
                unit: "%",
                bound: Bound::Within(-15.0, 15.0),
                from: "choice: similar",
                figure: |report| above(report, "strict-eager", "direct-eager"),
            },
        ],
        remark: silent,
    },
    Spec {
        id: "S0-C11c",
        statement: "With a preemption point after each transfer a chain delays by about one",
        paper: PAPER,
        ours: OURS,
        hidden: visible,
        bands: &[Band {
            quantity: "worst wake-up less the median, in transfers, kernel with most",
            unit: "",
            bound: Bound::AtMost(2.0),
            from: "choice: about one",
            figure: |report| {
                let over = manifest::KERNELS.map(|kernel| over(report, kernel));
                over.into_iter().collect::<Option<Vec<_>>>()?.into_iter().reduce(f64::max)
            },
        }],
        remark: level,
    },
];

/// All parts of S0-C11.
pub fn all(report: &Report) -> Vec<Claim> {
    spec::judge(&CLAIMS, report)
}

/// By how many percent a whole chain delays more under `a` than under `b`.
fn above(report: &Report, a: &str, b: &str) -> Option<f64> {
    let of = |kernel| worst(report, kernel, WHOLE, most());
    Some(percent_above(of(a)?, of(b)?))
}

/// By how many transfers the worst wake-up is above the median, with preemption points.
fn over(report: &Report, kernel: &str) -> Option<f64> {
    let late = worst(report, kernel, PREEMPTED, most())? - usual(report, kernel, PREEMPTED)?;
    Some(late / line(report, kernel, WHOLE)?.slope)
}

/// Whether what is above the median belongs to the chain.
fn level(report: &Report) -> Option<String> {
    let mut most_grown = 0.0_f64;
    for kernel in manifest::KERNELS {
        let of = |threads| worst(report, kernel, PREEMPTED, threads);
        most_grown = most_grown.max(percent_above(of(most())?, of(SWEEP[0])?));
    }
    Some(format!("with preemption points five times the threads add at most {most_grown:.0} %"))
}

#[cfg(test)]
mod tests {
    use super::super::tails::testing::{Tail, tails};
    use super::super::testing::verdict;
    use super::*;
    use results::Verdict;

    fn claims(change: &[Tail]) -> Vec<Claim> {
        let mut rows = Vec::new();
        for kernel in manifest::KERNELS {
            rows.push((kernel, WHOLE, 580, 8000, 40000));
            rows.push((kernel, PREEMPTED, 550, 690, 700));
            rows.push((kernel, PURGE, 470, 2000, 6000));
        }
        rows.extend(change);
        all(&tails(&rows))
    }

    #[test]
    fn chains_like_the_papers_reproduce() {
        let claims = claims(&[]);
        for id in ["S0-C11a", "S0-C11b", "S0-C11c"] {
            assert_eq!(verdict(&claims, id), Verdict::Reproduced, "{id}: {claims:?}");
        }
    }

    #[test]
    fn other_chains_contradict() {
        let contradicted = |change: Tail, id: &str| {
            assert_eq!(verdict(&claims(&[change]), id), Verdict::Contradicted, "{id}");
        };
        contradicted(("ipc-scan", PURGE, 470, 3000, 20000), "S0-C11a");
        contradicted(("strict-lazy", WHOLE, 580, 8000, 60000), "S0-C11b");
        contradicted(("strict-eager", WHOLE, 580, 8000, 20000), "S0-C11b");
        contradicted(("fastpath", PREEMPTED, 550, 690, 2000), "S0-C11c");
    }

    #[test]
    fn without_rows_nothing_is_judged() {
        for claim in all(&tails(&[("fastpath", WHOLE, 580, 8000, 40000)])) {
            assert_eq!(claim.verdict, Verdict::NotObservable, "{}", claim.id);
        }
    }
}
