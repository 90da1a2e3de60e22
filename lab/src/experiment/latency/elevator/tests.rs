use super::*;
use crate::experiment::latency::tails::testing::{Tail, tails};
use crate::experiment::testing::{all_hold, expect};
use results::{Report, Verdict};

/// Tails like the paper's, but for one.
fn made_up(change: Option<Tail>) -> Report {
    let mut all: Vec<Tail> = Vec::new();
    for kernel in manifest::KERNELS {
        let eager = kernel.ends_with("-eager");
        let tail = if eager { (500, 690, 690) } else { (470, 3000, 12500) };
        all.extend([CALL, SEND].map(|form| (kernel, form, tail.0, tail.1, tail.2)));
    }
    all.push(("slowpath", SEND, 480, 700, 720));
    all.extend(change);
    tails(&all)
}

#[test]
fn tails_like_the_papers_reproduce() {
    all_hold(&EXPERIMENT, &made_up(None), &[]);
}

#[test]
fn other_tails_contradict() {
    for (tail, id) in [
        (("ipc-heap", CALL, 470, 700, 720), "S0-C08a"),
        (("slowpath", SEND, 470, 3000, 12500), "S0-C08b"),
        (("fastpath", SEND, 470, 700, 720), "S0-C08b"),
        (("strict-eager", SEND, 470, 3000, 12500), "S0-C08c"),
        (("direct-eager", CALL, 470, 3000, 12500), "S0-C08c"),
        (("strict-lazy", CALL, 470, 12500, 12500), "S0-C09"),
    ] {
        expect(&EXPERIMENT, &made_up(Some(tail)), Verdict::Contradicted, &[id]);
    }
}

#[test]
fn a_crooked_tail_is_not_proportional() {
    let mut crooked = made_up(None);
    for row in &mut crooked.rows {
        if row.kernel == "direct-lazy" && row.case == "call threads=150" {
            row.summary.median = 40_000.into();
        }
    }
    expect(&EXPERIMENT, &crooked, Verdict::Contradicted, &["S0-C09"]);
}
