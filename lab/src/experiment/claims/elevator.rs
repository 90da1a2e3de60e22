//! Claims about the elevator (S0-E07).

use super::judged;
use super::tails::{line, shown_by};
use results::{Claim, Report};

const CALL: &str = "call";
const SEND: &str = "send";
/// Kernels that queue lazily; which of them keep a thread queued that blocks is the claim.
const LAZY: [&str; 7] =
    ["fastpath", "slowpath", "direct-lazy", "strict-lazy", "ipc-scan", "ipc-ordered", "ipc-heap"];
const EAGER: [&str; 2] = ["direct-eager", "strict-eager"];
/// What counts as proportional.
const STRAIGHT: f64 = 0.95;

/// All parts of S0-C08, and S0-C09.
pub fn all(report: &Report) -> Vec<Claim> {
    vec![calls(report), sends(report), eager(report), proportional(report)]
}

fn calls(report: &Report) -> Claim {
    let statement = "With calls as the third step all lazy kernels show a tail";
    let found = shown_by(report, CALL, &LAZY, &LAZY);
    judged("S0-C08a", statement, found)
}

fn sends(report: &Report) -> Claim {
    let wanted: Vec<&str> = LAZY.into_iter().filter(|kernel| *kernel != "slowpath").collect();
    let found = || {
        let (held, mut evidence) = shown_by(report, SEND, &LAZY, &wanted)?;
        let fast = super::tails::has_tail(report, "fastpath", SEND)?;
        if !fast {
            evidence += "; our fast path takes calls and replies that wait, so that a send with a \
                         receive goes slowpath's way, which takes the receiver out of the queue";
        }
        Some((held, evidence))
    };
    let statement = "With a send and a receive as the third step all lazy kernels but slowpath \
                     show a tail";
    judged("S0-C08b", statement, found())
}

fn eager(report: &Report) -> Claim {
    let found = || {
        let (call, calls) = shown_by(report, CALL, &EAGER, &[])?;
        let (send, sends) = shown_by(report, SEND, &EAGER, &[])?;
        Some((call && send, format!("by calls, {calls}; by sends, {sends}")))
    };
    judged("S0-C08c", "Eager kernels show no tail", found())
}

fn proportional(report: &Report) -> Claim {
    let found = || {
        let mut held = true;
        let mut figures = Vec::new();
        for kernel in LAZY {
            let line = line(report, kernel, CALL)?;
            held &= line.r2 > STRAIGHT && line.slope > 0.0;
            figures.push(format!("{kernel} {:.1} a thread (r2 {:.3})", line.slope, line.r2));
        }
        Some((held, format!("worst by calls, 50 to 250 threads: {}", figures.join(", "))))
    };
    judged("S0-C09", "The tail grows in proportion to the number of threads", found())
}

#[cfg(test)]
mod tests {
    use super::super::tails::testing::{Tail, tails};
    use super::super::testing::verdict;
    use super::*;
    use results::Verdict;

    fn paper() -> Vec<Tail> {
        let mut all = Vec::new();
        for kernel in LAZY {
            all.push((kernel, CALL, 470, 3000, 12500));
            all.push((kernel, SEND, 470, 3000, 12500));
        }
        all.push(("slowpath", SEND, 480, 700, 720));
        for kernel in EAGER {
            all.push((kernel, CALL, 500, 690, 690));
            all.push((kernel, SEND, 500, 690, 690));
        }
        all
    }

    fn claims(change: &[Tail]) -> Vec<Claim> {
        all(&tails(&[&paper()[..], change].concat()))
    }

    #[test]
    fn tails_like_the_papers_reproduce() {
        let claims = claims(&[]);
        for id in ["S0-C08a", "S0-C08b", "S0-C08c", "S0-C09"] {
            assert_eq!(verdict(&claims, id), Verdict::Reproduced, "{id}: {claims:?}");
        }
    }

    #[test]
    fn other_tails_contradict() {
        let contradicted = |change: Tail, id: &str| {
            assert_eq!(verdict(&claims(&[change]), id), Verdict::Contradicted, "{id}");
        };
        contradicted(("ipc-heap", CALL, 470, 700, 720), "S0-C08a");
        contradicted(("slowpath", SEND, 470, 3000, 12500), "S0-C08b");
        contradicted(("fastpath", SEND, 470, 700, 720), "S0-C08b");
        contradicted(("strict-eager", SEND, 470, 3000, 12500), "S0-C08c");
        contradicted(("direct-eager", CALL, 470, 3000, 12500), "S0-C08c");
        contradicted(("strict-lazy", CALL, 470, 12500, 12500), "S0-C09");
    }

    #[test]
    fn a_crooked_tail_is_not_proportional() {
        let mut crooked = tails(&paper());
        for row in &mut crooked.rows {
            let here = row.kernel == "direct-lazy" && row.case.starts_with(CALL);
            if here && row.case.ends_with("=150") {
                row.summary.median = 40_000.into();
            }
        }
        assert_eq!(verdict(&all(&crooked), "S0-C09"), Verdict::Contradicted);
    }

    #[test]
    fn without_rows_nothing_is_judged() {
        for claim in all(&tails(&[("fastpath", CALL, 470, 3000, 12500)])) {
            assert_eq!(claim.verdict, Verdict::NotObservable, "{}", claim.id);
        }
    }
}
