//! The claim about stopped threads (S0-E08).

use crate::experiment::claim::Ours::{Machine, Same, Unit};
use crate::experiment::claim::{Setting, Spec, claim};
use crate::experiment::latency::tails::{
    self, FAR_OUT, GROWS, NEAR, greatest, least, least_growth,
};
use manifest::KERNELS;

/// Kernels that leave a stopped thread in the ready queue.
pub const LEFT_IN: [&str; 2] = ["fastpath", "slowpath"];
/// All others.
pub fn taken_out() -> Vec<&'static str> {
    KERNELS.into_iter().filter(|kernel| !LEFT_IN.contains(kernel)).collect()
}

const SETTING: Setting = &[
    ("machine", "XScale PXA255, 400 MHz", Machine),
    (
        "load",
        "250 threads suspended, the controller lowers itself",
        Same("50 to 250 threads stopped, the controller lowers itself"),
    ),
    ("samples", "a timer of 3.7 MHz at random distances", Same("1000 a case, at random distances")),
    ("lazy dequeue", "without preemption points", Same("without preemption points")),
    ("unit", "microseconds (figure only)", Unit("")),
];

/// S0-C10.
pub fn claims() -> Vec<Spec> {
    vec![
        claim(
            "S0-C10",
            "Stopping threads leaves a tail under fastpath and slowpath, and under no \
             other kernel",
            SETTING,
        )
        .figure("worst wake-up in medians, the lesser of fastpath and slowpath", "", |r| {
            least(r, "", &LEFT_IN)
        })
        .lies(FAR_OUT, "choice: a tail is far out")
        .figure("growth from 50 to 250 threads, the lesser of both", "", |r| {
            least_growth(r, "", &LEFT_IN)
        })
        .lies(GROWS, "choice: it grows with the threads")
        .figure("worst wake-up in medians, the other kernel with most", "", |r| {
            greatest(r, "", &taken_out())
        })
        .lies(NEAR, "choice: no tail")
        .remark(|r| tails::spelt(r, "", &KERNELS)),
    ]
}
