//! The claim about wake-ups across CPUs (S2C-11).

use super::{CASES, IDLE, REMOTE};
use crate::experiment::claim::Ours::Same;
use crate::experiment::claim::{Setting, Spec, claim, kernels, least, median, most};
use results::Bound::Within;
use results::{Report, WAKE_UP};

const SETTING: Setting = &[
    (
        "system",
        "LITMUS-RT on 16 CPUs, Xeon X7550, 2.0 GHz",
        Same("every kernel, 4 CPUs, the other three idle"),
    ),
    (
        "wake-ups",
        "cyclictest: by timers of the thread's own CPU",
        Same("by the first CPU's timer, on that CPU and on another"),
    ),
    (
        "the way between CPUs",
        "argued, not measured: cyclictest never sees it",
        Same("measured apart, from a signal's return, without a timer"),
    ),
    ("unit", "microseconds", Same("instructions of all CPUs together")),
];

/// S2C-C09.
pub fn claims() -> Vec<Spec> {
    vec![
        claim(
            "S2C-C09",
            "A wake-up by another CPU's interrupt is later than a local one by the way between \
             CPUs, a term that local timers never show",
            SETTING,
        )
        .figure("what another CPU adds over the way between CPUs, in the least kernel", "", |r| {
            least(kernels(r).into_iter().map(|kernel| Some(term(r, kernel)?.0)))
        })
        .lies(
            Within(0.75, 1.5),
            "choice: the term is that way; half a switch may be on either side",
        )
        .figure("the same in the greatest", "", |r| {
            most(kernels(r).into_iter().map(|kernel| Some(term(r, kernel)?.0)))
        })
        .lies(Within(0.75, 1.5), "choice: as above")
        .remark(|r| {
            let kernel = kernels(r).into_iter().next()?;
            let (_, [local, remote, between]) = term(r, kernel)?;
            Some(format!(
                "{kernel}: {local} locally, {remote} on another CPU, {between} between CPUs"
            ))
        }),
    ]
}

/// What another CPU adds to a wake-up over what the way between CPUs takes where it is measured
/// apart; the local wake-up, the one on another CPU and that way.
fn term(report: &Report, kernel: &str) -> Option<(f64, [f64; 3])> {
    let [local, remote] = CASES.map(|case| median(report, kernel, WAKE_UP, case));
    let (local, remote, between) = (local?, remote?, median(report, kernel, REMOTE, IDLE)?);
    Some(((remote - local) / between, [local, remote, between]))
}
