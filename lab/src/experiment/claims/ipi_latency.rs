//! The claim about wake-ups across CPUs (S2C-11).

use super::{judged, median};
use crate::experiment::cpus::ipi::{IPI, SENT};
use results::{Claim, Report, WAKE_UP};

/// S2C-C09.
pub fn all(report: &Report) -> Vec<Claim> {
    let statement = "A wake-up by another CPU's interrupt is later than a local one by more than \
                     the interrupt between CPUs takes, a term that local timers never show";
    vec![judged("S2C-C09", statement, remote_is_later(report))]
}

/// Under every kernel of the report; the one with the least to spare is told.
fn remote_is_later(report: &Report) -> Option<(bool, String)> {
    let mut kernels: Vec<&str> = report.rows.iter().map(|row| row.kernel.as_str()).collect();
    kernels.dedup();
    let terms = kernels.into_iter().map(|kernel| {
        let of = |metric, case| median(report, kernel, metric, case);
        let (local, remote) = (of(WAKE_UP, "same CPU")?, of(WAKE_UP, "another CPU")?);
        Some((remote - local - of(IPI, SENT)?, kernel, local, remote))
    });
    let terms = terms.collect::<Option<Vec<_>>>()?;
    let (spare, kernel, local, remote) = terms.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let kick = remote - local - spare;
    let evidence = format!(
        "{kernel}, which has least to spare: {local} locally, {remote} on another CPU; of the \
         difference of {} the interrupt is {kick}",
        remote - local
    );
    Some((spare > 0.0, evidence))
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
