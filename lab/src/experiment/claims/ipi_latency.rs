//! The claim about wake-ups across CPUs (S2C-11).

use super::median;
use super::spec::{self, Band, Spec, visible};
use crate::experiment::cpus::ipi::{IDLE, KICK};
use results::{Bound, Claim, Report, WAKE_UP};

/// S2C-C09.
pub static CLAIMS: [Spec; 1] = [Spec {
    id: "S2C-C09",
    statement: "A wake-up by another CPU's interrupt is later than a local one by the way between \
                CPUs, a term that local timers never show",
    paper: &[
        ("system", "LITMUS-RT on 16 CPUs, Xeon X7550, 2.0 GHz"),
        ("wake-ups", "cyclictest: by timers of the thread's own CPU"),
        ("the way between CPUs", "argued, not measured: cyclictest never sees it"),
        ("unit", "microseconds"),
    ],
    ours: &[(
        "qemu-x86_64",
        &[
            ("system", "every kernel, 4 CPUs, the other three idle"),
            ("wake-ups", "by the first CPU's timer, on that CPU and on another"),
            ("the way between CPUs", "measured apart, from a signal's return, without a timer"),
            ("unit", "instructions of all CPUs together"),
        ],
    )],
    hidden: visible,
    bands: &[
        Band {
            quantity: "what another CPU adds over the way between CPUs, in the least kernel",
            unit: "",
            bound: Bound::Within(0.75, 1.5),
            from: "choice: the term is that way; half a switch may be on either side",
            figure: |report| terms(report)?.into_iter().map(|term| term.1).reduce(f64::min),
        },
        Band {
            quantity: "the same in the greatest",
            unit: "",
            bound: Bound::Within(0.75, 1.5),
            from: "choice: as above",
            figure: |report| terms(report)?.into_iter().map(|term| term.1).reduce(f64::max),
        },
    ],
    remark: |report| {
        let (kernel, _, [local, remote, kick]) = terms(report)?.into_iter().next()?;
        Some(format!("{kernel}: {local} locally, {remote} on another CPU, {kick} between CPUs"))
    },
}];

/// S2C-C09.
pub fn all(report: &Report) -> Vec<Claim> {
    spec::judge(&CLAIMS, report)
}

/// By kernel: what another CPU adds to a wake-up over what the way between CPUs takes where it is
/// measured apart; the local wake-up, the one on another CPU and that way.
fn terms(report: &Report) -> Option<Vec<(&str, f64, [f64; 3])>> {
    let mut kernels: Vec<&str> = report.rows.iter().map(|row| row.kernel.as_str()).collect();
    kernels.dedup();
    let term = |kernel| {
        let of = |metric, case| median(report, kernel, metric, case);
        let (local, remote) = (of(WAKE_UP, "same CPU")?, of(WAKE_UP, "another CPU")?);
        let kick = of(KICK, IDLE)?;
        Some((kernel, (remote - local) / kick, [local, remote, kick]))
    };
    kernels.into_iter().map(term).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, verdict};
    use super::*;
    use results::Verdict;

    fn judge(remote: u64) -> Verdict {
        let rows = [
            ("fastpath", WAKE_UP, "same CPU", 400),
            ("fastpath", WAKE_UP, "another CPU", 900),
            ("fastpath", KICK, IDLE, 400),
            ("slowpath", WAKE_UP, "same CPU", 400),
            ("slowpath", WAKE_UP, "another CPU", remote),
            ("slowpath", KICK, IDLE, 400),
        ];
        verdict(&all(&report("qemu-x86_64", &rows)), "S2C-C09")
    }

    #[test]
    fn it_can_go_either_way() {
        assert_eq!(judge(800), Verdict::Reproduced);
        assert_eq!(judge(699), Verdict::Contradicted, "less than the way between CPUs");
        assert_eq!(judge(390), Verdict::Contradicted, "no later at all");
        assert_eq!(judge(1001), Verdict::Contradicted, "more than that way explains");
        let alone = all(&report("qemu-x86_64", &[("fastpath", KICK, IDLE, 400)]));
        assert_eq!(verdict(&alone, "S2C-C09"), Verdict::NotObservable);
    }
}
