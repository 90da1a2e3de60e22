//! Claims about deterministic futexes (S2H-E01). The paper has no figures.

use super::{
    ATTACKED, CALLS, FUTEXES, HASHED_WAIT, HASHED_WAKE, KERNELS, LOCK, OPERATIONS, REQUEUE_ALL,
    UNLOCK, alike, attacked, case, cases,
};
use crate::experiment::claim::Ours::{Machine, Same, Unit};
use crate::experiment::claim::{Setting, Spec, claim, fact, least, median, most};
use results::Bound::{Above, AtLeast, AtMost};
use results::Report;

pub(super) const SETTING: Setting = &[
    ("machine", "none: the paper reports no measurement", Machine),
    (
        "load",
        "none is stated",
        Same("1 to 1,024 waiters of one futex, 1 to 1,024 futexes of one waiter"),
    ),
    ("unit", "none is stated", Unit(" a call, stub, block and wake-up included")),
];

const ATTACK: Setting = &[
    SETTING[0],
    SETTING[1],
    (
        "attack",
        "on process-local locks; no more is stated",
        Same("7 threads of another domain, below and on the same CPU: every call on their words"),
    ),
    SETTING[2],
];

/// What is taken for the same.
pub(super) const SAME: f64 = 1.02;
/// The same of single calls, of which one or another meets a tick.
pub(super) const WORST: f64 = 1.05;

/// All claims.
pub fn claims() -> Vec<Spec> {
    let mut claims = growth();
    claims.extend(robustness());
    claims
}

fn growth() -> Vec<Spec> {
    vec![
        claim("S2H-C01", "calls take as long for any number of waiters and futexes", SETTING)
            .figure("the most over the least, of the operation that varies most", "", |r| {
                most(OPERATIONS.into_iter().map(|metric| variation(r, metric)))
            })
            .lies(AtMost(SAME), "the ledger: flat; choice: within 2 %"),
        claim("S2H-C02", "with hash chains they take longer as keys fall together", SETTING)
            .figure("1,024 futexes over one, the lesser of wait and wake-up", "", |r| {
                let grown = |metric| Some(at(r, metric, 5)? / at(r, metric, 0)?);
                least([HASHED_WAIT, HASHED_WAKE].map(grown))
            })
            .lies(Above(10.0), "choice: far from flat")
            .remark(|r| {
                let last = at(r, HASHED_WAKE, 5)?;
                Some(format!("a wake-up takes {last:.0} behind 1,023 others of its bucket"))
            }),
        claim("S2H-C05", "waking all takes as long for any number of waiters", SETTING)
            .figure("the most over the least of a requeue of all", "", |r| {
                variation(r, REQUEUE_ALL)
            })
            .lies(AtMost(SAME), "the ledger: independent of n; choice: within 2 %"),
    ]
}

fn robustness() -> Vec<Spec> {
    vec![
        claim("S2H-C03a", "an attack on local locks disturbs no other domain's", ATTACK)
            .figure("medians beside an attack over those without", "", |r| {
                most(attacked_calls().map(|call| slower(r, call)))
            })
            .lies(AtMost(SAME), "the ledger: no change; choice: within 2 %")
            .figure("the longest of all cases, likewise", "", |r| {
                most(attacked_calls().map(|call| longer(r, call)))
            })
            .lies(AtMost(WORST), "choice: within 5 %, as a call may meet a tick"),
        claim("S2H-C04", "free mutexes need no system call", SETTING)
            .figure("the longer of lock and unlock, instructions", "", |r| {
                most([LOCK, UNLOCK].map(|metric| at(r, metric, 0)))
            })
            .lies(AtMost(15.0), "choice: the shortest system call takes six times as many"),
        claim("S2H-C06", "whatever words say, the kernel does not fail", SETTING)
            .figure("calls with words that lie in a run that ended well", "", |r| {
                least(KERNELS.map(|kernel| fact(r, &format!("{CALLS}, {kernel}"))))
            })
            .lies(AtLeast(1_000.0), "choice; the fuzzers of `test` make millions"),
    ]
}

/// A figure with one waiter, by the number of futexes.
fn at(report: &Report, metric: &str, futexes: usize) -> Option<f64> {
    most(KERNELS.map(|kernel| median(report, kernel, metric, &case(1, FUTEXES[futexes]))))
}

/// The most over the least among cases that should cost the same.
fn variation(report: &Report, metric: &str) -> Option<f64> {
    let of = |kernel, cases: &[String]| {
        let figures = || cases.iter().map(|case| median(report, kernel, metric, case));
        Some(most(figures())? / least(figures())?)
    };
    let of = &of;
    most(KERNELS.into_iter().flat_map(|kernel| alike().map(|cases| of(kernel, &cases))))
}

/// The operations that are attacked, under each kernel.
fn attacked_calls() -> impl Iterator<Item = (&'static str, &'static str)> {
    KERNELS.into_iter().flat_map(|kernel| ATTACKED.map(|metric| (kernel, metric)))
}

/// How much longer an operation takes beside an attack, in the case that differs most.
fn slower(report: &Report, (kernel, metric): (&str, &str)) -> Option<f64> {
    let median = |case: &str| median(report, kernel, metric, case);
    most(cases().into_iter().map(|case| Some(median(&attacked(&case))? / median(&case)?)))
}

/// How much longer the longest of all cases takes beside an attack.
fn longer(report: &Report, (kernel, metric): (&str, &str)) -> Option<f64> {
    let beside = most(cases().iter().map(|case| longest(report, kernel, metric, &attacked(case))));
    let without = most(cases().iter().map(|case| longest(report, kernel, metric, case)));
    Some(beside? / without?)
}

fn longest(report: &Report, kernel: &str, metric: &str, case: &str) -> Option<f64> {
    let row = report.rows.iter().find(|row| {
        (row.kernel.as_str(), row.metric.as_str(), row.case.as_str()) == (kernel, metric, case)
    })?;
    Some(row.summary.max as f64)
}

/// How the worst of two cases compare.
pub(super) fn worst(report: &Report, metric: &str, one: &str, other: &str) -> Option<f64> {
    let longest = |kernel, case| longest(report, kernel, metric, case);
    most(KERNELS.map(|kernel| Some(longest(kernel, one)? / longest(kernel, other)?)))
}
