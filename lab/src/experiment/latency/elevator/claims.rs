//! Claims about the elevator (S0-E07).

use super::{CALL, SEND};
use crate::experiment::claim::Ours::{Machine, Same, Unit};
use crate::experiment::claim::{self, Line, Setting, Spec, claim};
use crate::experiment::latency::tails::{
    self, FAR_OUT, GROWS, NEAR, greatest, least, least_growth, line,
};
use manifest::{EAGER, LAZY};
use results::Bound::Above;
use results::Report;

/// All lazy kernels but slowpath, which removes a thread that sends and receives elsewhere.
const KEEPING: [&str; 6] =
    ["fastpath", "direct-lazy", "strict-lazy", "ipc-scan", "ipc-ordered", "ipc-heap"];
const SLOWPATH: [&str; 1] = ["slowpath"];

const SETTING: Setting = &[
    ("machine", "XScale PXA255, 400 MHz", Machine),
    (
        "load",
        "250 threads in ascending order, third step a blocking call",
        Same("50 to 250 threads, third step a call, or a send with a receive"),
    ),
    ("samples", "a timer of 3.7 MHz at random distances", Same("1000 a case, at random distances")),
    ("lazy dequeue", "without preemption points", Same("without preemption points")),
    ("unit", "microseconds (figure only)", Unit("")),
];

/// All parts of S0-C08, and S0-C09.
pub fn claims() -> Vec<Spec> {
    vec![
        claim("S0-C08a", "With calls as the third step all lazy kernels show a tail", SETTING)
            .figure("worst wake-up in medians, lazy kernel with least", "", |r| {
                least(r, CALL, &LAZY)
            })
            .lies(FAR_OUT, "choice: a tail is far out (the paper: 8 times the eager one)")
            .figure("growth from 50 to 250 threads, lazy kernel with least", "", |r| {
                least_growth(r, CALL, &LAZY)
            })
            .lies(GROWS, "choice: it grows with the threads")
            .remark(|r| tails::spelt(r, CALL, &LAZY)),
        claim(
            "S0-C08b",
            "With a send and a receive as the third step all lazy kernels but slowpath \
             show a tail",
            SETTING,
        )
        .figure("worst wake-up in medians, lazy kernel but slowpath with least", "", |r| {
            least(r, SEND, &KEEPING)
        })
        .lies(FAR_OUT, "choice: a tail is far out")
        .figure("growth from 50 to 250 threads, lazy kernel but slowpath with least", "", |r| {
            least_growth(r, SEND, &KEEPING)
        })
        .lies(GROWS, "choice: it grows with the threads")
        .figure("worst wake-up in medians, slowpath", "", |r| greatest(r, SEND, &SLOWPATH))
        .lies(NEAR, "choice: no tail")
        .remark(|r| tails::spelt(r, SEND, &LAZY)),
        claim("S0-C08c", "Eager kernels show no tail", SETTING)
            .figure("worst wake-up in medians, eager kernel with most, by calls", "", |r| {
                greatest(r, CALL, &EAGER)
            })
            .lies(NEAR, "choice: no tail")
            .figure("the same by sends", "", |r| greatest(r, SEND, &EAGER))
            .lies(NEAR, "choice: no tail"),
        claim("S0-C09", "The tail grows in proportion to the number of threads", SETTING)
            .figure("r squared of a line from 50 to 250 threads, lazy kernel with least", "", |r| {
                lines(r, |line| line.r2)
            })
            .lies(Above(0.95), "the ledger: 0.95")
            .figure("what a further thread adds, lazy kernel with least", "instructions", |r| {
                lines(r, |line| line.slope)
            })
            .lies(Above(0.0), "the ledger: in proportion"),
    ]
}

/// The least of the lazy kernels' lines by calls.
fn lines(report: &Report, of: fn(Line) -> f64) -> Option<f64> {
    claim::least(LAZY.map(|kernel| Some(of(line(report, kernel, CALL)?))))
}
