//! Claims about one message between two threads (S0-E04).

use super::{SERVER_ABOVE, SERVER_BELOW};
use crate::experiment::claim::Ours::{Machine, Same, Unit};
use crate::experiment::claim::{Setting, Spec, claim, least, median, most, percent_above};
use results::Bound::{Above, AtLeast, AtMost, Within};
use results::{PAIR, Report};

const EQUAL: &str = "across words=0";

/// The setting with partners of some priorities.
macro_rules! setting {
    ($priorities:literal) => {
        &[
            ("machine", "XScale PXA255, 400 MHz", Machine),
            (
                "load",
                "a call and its reply, no words, warm caches",
                Same("a call and its reply, no words, two domains"),
            ),
            ("priorities", "not stated", Same($priorities)),
            ("unit", "cycles", Unit("")),
        ]
    };
}
const SETTING: Setting = setting!("equal");

/// Kernels that cost about the same.
const LIKE: [&str; 5] = ["slowpath", "direct-lazy", "ipc-scan", "ipc-ordered", "ipc-heap"];
/// Kernels without one of the two optimisations; their order is no part of the claim.
const SINGLE: [&str; 2] = ["strict-lazy", "direct-eager"];

/// S0-C01, and S0-C04 in parts: its second half under each order of priorities.
pub fn claims() -> Vec<Spec> {
    vec![
        claim(
            "S0-C01",
            "The scheduling interface costs about 1 %: direct-lazy against slowpath in \
             ping-pong",
            SETTING,
        )
        .hidden(|r| {
            let why = "calls of functions cost nothing in the model, only steps do";
            (r.machine == "twin").then(|| why.to_string())
        })
        .figure("direct-lazy above slowpath", "%", |r| {
            let of = |kernel| pair(r, kernel, EQUAL);
            Some(percent_above(of("direct-lazy")?, of("slowpath")?))
        })
        .lies(AtMost(2.0), "the ledger: at most 2 % (the paper: 297 cycles against 294)"),
        claim(
            "S0-C04a",
            "Order of cost: fastpath < slowpath ~ direct-lazy ~ ipc-* < strict-lazy and \
             direct-eager < strict-eager",
            SETTING,
        )
        .figure("slowpath and its like over fastpath", "", |r| {
            Some(span(r, &LIKE)?.0 / span(r, &["fastpath"])?.1)
        })
        .lies(Above(1.0), "the ledger's order (the paper: 1.70)")
        .figure("dearest of slowpath and its like above the cheapest", "%", |r| {
            let (low, high) = span(r, &LIKE)?;
            Some(percent_above(high, low))
        })
        .lies(AtMost(3.0), "choice: about equal (the paper: 3.4 %, code generation)")
        .figure("strict-lazy and direct-eager over slowpath and its like", "", |r| {
            Some(span(r, &SINGLE)?.0 / span(r, &LIKE)?.1)
        })
        .lies(Above(1.0), "the ledger's order (the paper: 1.20)")
        .figure("strict-eager over strict-lazy and direct-eager", "", |r| {
            Some(span(r, &["strict-eager"])?.0 / span(r, &SINGLE)?.1)
        })
        .lies(Above(1.0), "the ledger's order (the paper: 1.21)"),
        worth(
            claim(
                "S0-C04b",
                "Direct switching and lazy queueing are each worth roughly a quarter of a message, \
                 and together at least their sum",
                SETTING,
            ),
            EQUAL,
        )
        .remark(bound),
        worth(
            claim(
                "S0-C04c",
                "The same with a server above its client",
                setting!("server above its client"),
            ),
            SERVER_ABOVE,
        ),
        worth(
            claim(
                "S0-C04d",
                "The same with a server below its client",
                setting!("server below its client"),
            ),
            SERVER_BELOW,
        ),
    ]
}

/// What the optimisations are worth under the priorities of a case.
fn worth(claim: Spec, case: &'static str) -> Spec {
    claim
        .figure("strict-lazy above direct-lazy", "%", move |r| above(r, "strict-lazy", case))
        .lies(Within(15.0, 35.0), "the ledger (the paper: 23 %)")
        .figure("direct-eager above direct-lazy", "%", move |r| above(r, "direct-eager", case))
        .lies(Within(15.0, 35.0), "the ledger (the paper: 26 %)")
        .figure("strict-eager above direct-lazy, less the other two", "points", move |r| {
            let more = |kernel| above(r, kernel, case);
            Some(more("strict-eager")? - more("strict-lazy")? - more("direct-eager")?)
        })
        .lies(AtLeast(-5.0), "the ledger: at least the sum less 5 (the paper: +3)")
}

fn pair(report: &Report, kernel: &str, case: &str) -> Option<f64> {
    median(report, kernel, PAIR, case)
}

/// By how many percent a kernel's pair is above that of direct-lazy.
fn above(report: &Report, kernel: &str, case: &str) -> Option<f64> {
    Some(percent_above(pair(report, kernel, case)?, pair(report, "direct-lazy", case)?))
}

/// The cheapest and the dearest pair of some kernels.
fn span(report: &Report, kernels: &[&str]) -> Option<(f64, f64)> {
    let pairs = || kernels.iter().map(|kernel| pair(report, kernel, EQUAL));
    Some((least(pairs())?, most(pairs())?))
}

/// Why strict order is cheap between equals.
fn bound(report: &Report) -> Option<String> {
    let cheap = above(report, "strict-lazy", EQUAL)? < 15.0;
    let why = "an upper bound on the highest ready priority (S0-24) tells strict-lazy without a \
               look-up that neither of two equals is outranked; the thesis describes such a bound \
               too, but not when its kernel still searches";
    cheap.then(|| why.to_string())
}
