//! The claim about stopped threads (S0-E08).

use super::spec::{self, Band, Setting, Spec, visible};
use super::tails::{self, FAR_OUT, GROWS, NEAR, greatest, least};
use results::{Claim, Report};

/// Kernels that leave a stopped thread in the ready queue.
const LEFT_IN: [&str; 2] = ["fastpath", "slowpath"];
/// All others.
const TAKEN_OUT: [&str; 7] = [
    "direct-lazy",
    "direct-eager",
    "strict-lazy",
    "strict-eager",
    "ipc-scan",
    "ipc-ordered",
    "ipc-heap",
];

const PAPER: Setting = &[
    ("machine", "XScale PXA255, 400 MHz"),
    ("load", "250 threads suspended, the controller lowers itself"),
    ("samples", "a timer of 3.7 MHz at random distances"),
    ("purge", "without preemption points"),
    ("unit", "microseconds (figure only)"),
];
const OURS: &[(&str, Setting)] = &[
    (
        "qemu-x86_64",
        &[
            ("machine", "emulated: instructions are counted"),
            ("load", "50 to 250 threads stopped, the controller lowers itself"),
            ("samples", "1000 a case, at random distances"),
            ("purge", "without preemption points"),
            ("unit", "instructions"),
        ],
    ),
    (
        "twin",
        &[
            ("machine", "simulated: steps have stated costs"),
            ("load", "50 to 250 threads stopped, the controller lowers itself"),
            ("samples", "1000 a case, at random distances"),
            ("purge", "without preemption points"),
            ("unit", "modelled instructions"),
        ],
    ),
];

/// S0-C10.
pub static CLAIMS: [Spec; 1] = [Spec {
    id: "S0-C10",
    statement: "Stopping threads leaves a tail under fastpath and slowpath, and under no other \
                kernel",
    paper: PAPER,
    ours: OURS,
    hidden: visible,
    bands: &[
        Band {
            quantity: "worst wake-up in medians, the lesser of fastpath and slowpath",
            unit: "",
            bound: FAR_OUT,
            from: "choice: a tail is far out",
            figure: |report| Some(least(report, "", &LEFT_IN)?.0),
        },
        Band {
            quantity: "growth from 50 to 250 threads, the lesser of both",
            unit: "",
            bound: GROWS,
            from: "choice: it grows with the threads",
            figure: |report| Some(least(report, "", &LEFT_IN)?.1),
        },
        Band {
            quantity: "worst wake-up in medians, the other kernel with most",
            unit: "",
            bound: NEAR,
            from: "choice: no tail",
            figure: |report| greatest(report, "", &TAKEN_OUT),
        },
    ],
    remark: |report| tails::spelt(report, "", &manifest::KERNELS),
}];

/// S0-C10.
pub fn all(report: &Report) -> Vec<Claim> {
    spec::judge(&CLAIMS, report)
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
    fn every_kernel_is_judged() {
        let mut judged = [&LEFT_IN[..], &TAKEN_OUT].concat();
        let mut kernels = manifest::KERNELS;
        judged.sort_unstable();
        kernels.sort_unstable();
        assert_eq!(judged, kernels);
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
