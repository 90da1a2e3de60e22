use super::*;
use crate::experiment::latency::tails::testing::{Tail, tails};
use crate::experiment::testing::{all_hold, expect};
use results::{Report, Verdict};

/// Chains like the paper's, but for one.
fn made_up(change: Option<Tail>) -> Report {
    let of = |kernel| {
        [
            (kernel, WHOLE, 580, 8000, 40000),
            (kernel, PREEMPTED, 550, 690, 700),
            (kernel, LAZY_DEQUEUE, 470, 2000, 6000),
        ]
    };
    let all: Vec<Tail> = manifest::KERNELS.into_iter().flat_map(of).chain(change).collect();
    tails(&all)
}

#[test]
fn chains_like_the_papers_reproduce() {
    all_hold(&EXPERIMENT, &made_up(None), &[]);
}

#[test]
fn other_chains_contradict() {
    for (tail, id) in [
        (("ipc-scan", LAZY_DEQUEUE, 470, 3000, 20000), "S0-C11a"),
        (("strict-lazy", WHOLE, 580, 8000, 60000), "S0-C11b"),
        (("strict-eager", WHOLE, 580, 8000, 20000), "S0-C11b"),
        (("fastpath", PREEMPTED, 550, 690, 2000), "S0-C11c"),
    ] {
        expect(&EXPERIMENT, &made_up(Some(tail)), Verdict::Contradicted, &[id]);
    }
}
