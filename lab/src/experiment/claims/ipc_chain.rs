//! Claims about chained messages (S0-E09).

use super::tails::{line, most, usual, worst};
use super::{judged, percent_above};
use crate::experiment::latency::SWEEP;
use results::{Claim, Report};

const WHOLE: &str = "whole";
const PREEMPTED: &str = "preempted";
const PURGE: &str = "purge";
/// Kernels under which the elevator purges.
const PURGING: [&str; 7] =
    ["fastpath", "slowpath", "direct-lazy", "strict-lazy", "ipc-scan", "ipc-ordered", "ipc-heap"];
/// What counts as far longer; the paper has 6.4.
const FAR: f64 = 3.0;
/// What counts as alike, in percent.
const ALIKE: f64 = 15.0;
/// Transfers by which a wake-up may be later than usual, with a preemption point.
const ABOUT_ONE: f64 = 2.0;

/// All parts of S0-C11.
pub fn all(report: &Report) -> Vec<Claim> {
    vec![longer(report), strict(report), preempted(report)]
}

fn longer(report: &Report) -> Claim {
    let found = || {
        let mut held = true;
        let mut figures = Vec::new();
        for kernel in PURGING {
            let chain = worst(report, kernel, WHOLE, most())?;
            let purge = worst(report, kernel, PURGE, most())?;
            held &= chain >= FAR * purge;
            figures.push(format!("{kernel} {chain} and {purge} ({:.1})", chain / purge));
        }
        Some((held, format!("worst of chain and purge: {}", figures.join(", "))))
    };
    judged("S0-C11a", "A chain delays a wake-up far longer than a purge of as many", found())
}

fn strict(report: &Report) -> Claim {
    let found = || {
        let mut held = true;
        let mut figures = Vec::new();
        for (direct, strict) in [("direct-lazy", "strict-lazy"), ("direct-eager", "strict-eager")] {
            let (a, b) =
                (worst(report, direct, WHOLE, most())?, worst(report, strict, WHOLE, most())?);
            held &= percent_above(b, a).abs() <= ALIKE;
            figures.push(format!("{direct} {a}, {strict} {b} ({:+.1} %)", percent_above(b, a)));
        }
        Some((held, format!("worst of a chain: {}", figures.join("; "))))
    };
    judged("S0-C11b", "Strict scheduling does not change how long a chain delays", found())
}

fn preempted(report: &Report) -> Claim {
    let found = || {
        let (mut held, mut level) = (true, true);
        let mut figures = Vec::new();
        for kernel in manifest::KERNELS {
            let transfer = line(report, kernel, WHOLE)?.slope;
            let late = worst(report, kernel, PREEMPTED, most())?;
            let over = late - usual(report, kernel, PREEMPTED)?;
            held &= over <= ABOUT_ONE * transfer;
            level &= percent_above(late, worst(report, kernel, PREEMPTED, SWEEP[0])?) <= ALIKE;
            figures.push(format!("{kernel} {late}, {:.1}", over / transfer));
        }
        let figures = figures.join("; ");
        let mut evidence = format!("worst, and transfers that it is above the median: {figures}");
        if !held && level {
            evidence += "; it does not grow with the chain: what is above the median is other \
                         sections of the kernel, beside which a transfer is short here";
        }
        Some((held, evidence))
    };
    let statement = "With a preemption point after each transfer a chain delays by about one";
    judged("S0-C11c", statement, found())
}

#[cfg(test)]
mod tests {
    use super::super::tails::testing::{Tail, tails};
    use super::super::testing::verdict;
    use super::*;
    use results::Verdict;

    fn claims(change: &[Tail]) -> Vec<Claim> {
        let mut rows = Vec::new();
        for kernel in manifest::KERNELS {
            rows.push((kernel, WHOLE, 580, 8000, 40000));
            rows.push((kernel, PREEMPTED, 550, 690, 700));
            rows.push((kernel, PURGE, 470, 2000, 6000));
        }
        rows.extend(change);
        all(&tails(&rows))
    }

    #[test]
    fn chains_like_the_papers_reproduce() {
        let claims = claims(&[]);
        for id in ["S0-C11a", "S0-C11b", "S0-C11c"] {
            assert_eq!(verdict(&claims, id), Verdict::Reproduced, "{id}: {claims:?}");
        }
    }

    #[test]
    fn other_chains_contradict() {
        let contradicted = |change: Tail, id: &str| {
            assert_eq!(verdict(&claims(&[change]), id), Verdict::Contradicted, "{id}");
        };
        contradicted(("ipc-scan", PURGE, 470, 3000, 20000), "S0-C11a");
        contradicted(("strict-lazy", WHOLE, 580, 8000, 60000), "S0-C11b");
        contradicted(("strict-eager", WHOLE, 580, 8000, 20000), "S0-C11b");
        contradicted(("fastpath", PREEMPTED, 550, 690, 2000), "S0-C11c");
    }

    #[test]
    fn without_rows_nothing_is_judged() {
        for claim in all(&tails(&[("fastpath", WHOLE, 580, 8000, 40000)])) {
            assert_eq!(claim.verdict, Verdict::NotObservable, "{}", claim.id);
        }
    }
}
