//! Claims about chained messages (S0-E09).

use super::{LAZY_DEQUEUE, PREEMPTED, WHOLE};
use crate::experiment::claim::Ours::{Machine, Same, Unit};
use crate::experiment::claim::{Setting, Spec, claim, least, most, percent_above};
use crate::experiment::latency::tails::{line, usual, worst};
use crate::experiment::latency::{FEWEST, MOST};
use manifest::LAZY;
use results::Bound::{AtLeast, AtMost, Within};
use results::Report;

const SETTING: Setting = &[
    ("machine", "XScale PXA255, 400 MHz", Machine),
    (
        "load",
        "250 threads, each sending to the next and receiving",
        Same("50 to 250 threads, each sending to the next and receiving from the one before"),
    ),
    ("samples", "a timer of 3.7 MHz at random distances", Same("200 a case, at random distances")),
    ("lazy dequeue", "without preemption points", Same("without preemption points")),
    ("unit", "microseconds (figure only)", Unit("")),
];

/// All parts of S0-C11.
pub fn claims() -> Vec<Spec> {
    vec![
        claim(
            "S0-C11a",
            "A chain delays a wake-up far longer than a lazy dequeue of as many",
            SETTING,
        )
        .figure(
            "worst wake-up by a chain over that by a lazy dequeue, kernel with least",
            "",
            |r| {
                let ratio = |kernel| {
                    let of = |form| worst(r, kernel, form, MOST);
                    Some(of(WHOLE)? / of(LAZY_DEQUEUE)?)
                };
                least(LAZY.map(ratio))
            },
        )
        .lies(AtLeast(3.0), "the ledger: 3 (the paper: 6.4)"),
        claim("S0-C11b", "Strict scheduling does not change how long a chain delays", SETTING)
            .figure("strict-lazy above direct-lazy", "%", |r| {
                above(r, "strict-lazy", "direct-lazy")
            })
            .lies(Within(-15.0, 15.0), "choice: similar")
            .figure("strict-eager above direct-eager", "%", |r| {
                above(r, "strict-eager", "direct-eager")
            })
            .lies(Within(-15.0, 15.0), "choice: similar"),
        claim(
            "S0-C11c",
            "With a preemption point after each transfer a chain delays by about one",
            SETTING,
        )
        .figure("worst wake-up less the median, in transfers, kernel with most", "", |r| {
            most(manifest::KERNELS.map(|kernel| over(r, kernel)))
        })
        .lies(AtMost(2.0), "choice: about one")
        .remark(level),
    ]
}

/// By how many percent a whole chain delays more under `a` than under `b`.
fn above(report: &Report, a: &str, b: &str) -> Option<f64> {
    let of = |kernel| worst(report, kernel, WHOLE, MOST);
    Some(percent_above(of(a)?, of(b)?))
}

/// By how many transfers the worst wake-up is above the median, with preemption points.
fn over(report: &Report, kernel: &str) -> Option<f64> {
    let late = worst(report, kernel, PREEMPTED, MOST)? - usual(report, kernel, PREEMPTED)?;
    Some(late / line(report, kernel, WHOLE)?.slope)
}

/// Whether what is above the median belongs to the chain.
fn level(report: &Report) -> Option<String> {
    let grown = |kernel| {
        let of = |threads| worst(report, kernel, PREEMPTED, threads);
        Some(percent_above(of(MOST)?, of(FEWEST)?).max(0.0))
    };
    let grown = most(manifest::KERNELS.map(grown))?;
    Some(format!("with preemption points five times the threads add at most {grown:.0} %"))
}
