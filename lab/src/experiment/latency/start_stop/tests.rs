use super::EXPERIMENT;
use super::claims::{LEFT_IN, taken_out};
use crate::experiment::latency::tails::testing::{Tail, tails};
use crate::experiment::testing::verdict;
use results::Verdict::{self, Contradicted, Reproduced};

fn judge(change: Option<Tail>) -> Verdict {
    let tail = |kernel: &'static str| match LEFT_IN.contains(&kernel) {
        true => (kernel, "", 500, 3000, 13000),
        false => (kernel, "", 500, 680, 680),
    };
    let all: Vec<Tail> = manifest::KERNELS.into_iter().map(tail).chain(change).collect();
    verdict(&EXPERIMENT, &tails(&all), "S0-C10")
}

#[test]
fn every_kernel_is_judged() {
    assert_eq!(LEFT_IN.len() + taken_out().len(), manifest::KERNELS.len());
}

#[test]
fn it_can_go_either_way() {
    assert_eq!(judge(None), Reproduced);
    assert_eq!(judge(Some(("slowpath", "", 500, 680, 690))), Contradicted);
    assert_eq!(judge(Some(("fastpath", "", 500, 680, 690))), Contradicted);
    assert_eq!(judge(Some(("direct-lazy", "", 500, 3000, 13000))), Contradicted);
    assert_eq!(judge(Some(("strict-eager", "", 500, 3000, 13000))), Contradicted);
}
