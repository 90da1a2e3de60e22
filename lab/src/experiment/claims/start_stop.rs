//! The claim about stopped threads (S0-E08).

use super::judged;
use super::tails::shown_by;
use results::{Claim, Report};

/// Kernels that leave a stopped thread in the ready queue.
const LEFT_IN: [&str; 2] = ["fastpath", "slowpath"];

/// S0-C10.
pub fn all(report: &Report) -> Vec<Claim> {
    let statement = "Stopping threads leaves a tail under fastpath and slowpath, and under no \
                     other kernel";
    vec![judged("S0-C10", statement, shown_by(report, "", &manifest::KERNELS, &LEFT_IN))]
}

#[cfg(test)]
mod tests {
    use super::super::tails::testing::{Tail, tails};
    use super::super::testing::verdict;
    use super::*;
    use results::Verdict;

    fn judge(change: &[Tail]) -> Verdict {
        let tail = |kernel: &'static str| match LEFT_IN.contains(&kernel) {
            true => (kernel, "", 500, 3000, 13000),
            false => (kernel, "", 500, 680, 680),
        };
        let mut rows: Vec<Tail> = manifest::KERNELS.into_iter().map(tail).collect();
        rows.extend(change);
        verdict(&all(&tails(&rows)), "S0-C10")
    }

    #[test]
    fn it_can_go_either_way() {
        assert_eq!(judge(&[]), Verdict::Reproduced);
        assert_eq!(judge(&[("slowpath", "", 500, 680, 690)]), Verdict::Contradicted);
        assert_eq!(judge(&[("fastpath", "", 500, 680, 690)]), Verdict::Contradicted);
        assert_eq!(judge(&[("direct-lazy", "", 500, 3000, 13000)]), Verdict::Contradicted);
        assert_eq!(judge(&[("strict-eager", "", 500, 3000, 13000)]), Verdict::Contradicted);
        let alone = all(&tails(&[("slowpath", "", 500, 3000, 13000)]));
        assert_eq!(verdict(&alone, "S0-C10"), Verdict::NotObservable);
    }
}
