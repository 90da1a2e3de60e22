//! The claim about wake-ups across CPUs (S2C-11).

use super::median;
use super::spec::{self, Band, Spec};
use crate::experiment::cpus::ipi::{IPI, SENT};
use results::{Bound, Claim, Report, WAKE_UP};

/// S2C-C09.
pub static CLAIMS: [Spec; 1] = [Spec {
    id: "S2C-C09",
    statement: "A wake-up by another CPU's interrupt is later than a local one by more than the \
                interrupt between CPUs takes, a term that local timers never show",
    paper: &[
        ("system", "LITMUS-RT, a multiprocessor"),
        ("measured", "release latencies, with local timers and across CPUs"),
        ("unit", "microseconds"),
    ],
    ours: &[(
        "qemu-x86_64",
        &[
            ("system", "every kernel, 4 CPUs"),
            ("measured", "a timer's instant to the woken thread, on its CPU and on another"),
            ("unit", "instructions of all CPUs together"),
        ],
    )],
    hidden: |_| None,
    bands: &[Band {
        quantity: "later on another CPU than by the interrupt, in the kernel with least to spare",
        unit: "instructions",
        bound: Bound::Above(0.0),
        from: "the ledger: a term of its own",
        figure: |report| spare(report).map(|least| least.0),
    }],
    remark: |report| {
        let (_, kernel, local, remote) = spare(report)?;
        Some(format!("{kernel}: {local} locally, {remote} on another CPU"))
    },
}];

/// S2C-C09.
pub fn all(report: &Report) -> Vec<Claim> {
    spec::judge(&CLAIMS, report)
}

/// By how much more than the interrupt takes the wake-up on another CPU is later than the local
/// one, under the kernel with the least of it; that kernel, and both wake-ups.
fn spare(report: &Report) -> Option<(f64, &str, f64, f64)> {
    let mut kernels: Vec<&str> = report.rows.iter().map(|row| row.kernel.as_str()).collect();
    kernels.dedup();
    let terms = kernels.into_iter().map(|kernel| {
        let of = |metric, case| median(report, kernel, metric, case);
        let (local, remote) = (of(WAKE_UP, "same CPU")?, of(WAKE_UP, "another CPU")?);
        Some((remote - local - of(IPI, SENT)?, kernel, local, remote))
    });
    let terms = terms.collect::<Option<Vec<_>>>()?;
    terms.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))
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
            ("fastpath", IPI, SENT, 300),
            ("slowpath", WAKE_UP, "same CPU", 400),
            ("slowpath", WAKE_UP, "another CPU", remote),
            ("slowpath", IPI, SENT, 300),
        ];
        verdict(&all(&report("qemu-x86_64", &rows)), "S2C-C09")
    }

    #[test]
    fn it_can_go_either_way() {
        assert_eq!(judge(701), Verdict::Reproduced);
        assert_eq!(judge(700), Verdict::Contradicted);
        assert_eq!(judge(390), Verdict::Contradicted);
        let alone = all(&report("qemu-x86_64", &[("fastpath", IPI, SENT, 300)]));
        assert_eq!(verdict(&alone, "S2C-C09"), Verdict::NotObservable);
    }
}
