//! Claims about the ring of threads (S0-E05).

use super::{judged, median, percent_above, unobservable};
use results::{Claim, Report};

const METRIC: &str = "hop";
const FEW: &str = "potatoes=1";
const MANY: &str = "potatoes=249";
/// In the middle of the sweep.
const SOME: &str = "potatoes=100";
/// What counts as clearly faster, in percent.
const CLEARLY: f64 = 10.0;
/// What counts as about 10 percent.
const TENTH: std::ops::RangeInclusive<f64> = 5.0..=20.0;
/// What counts as about the same cost, in percent.
const ALIKE: f64 = 5.0;

/// All parts of S0-C05.
pub fn all(report: &Report) -> Vec<Claim> {
    vec![fast_path(report), slow_path(report), order(report), queues(report), caches()]
}

fn hop(report: &Report, kernel: &str, case: &str) -> Option<f64> {
    median(report, kernel, METRIC, case)
}

/// The mean over the whole sweep.
fn mean(report: &Report, kernel: &str) -> Option<f64> {
    let cases = &crate::experiment::hot_potato::CASES;
    let hops: Option<Vec<f64>> = cases.iter().map(|case| hop(report, kernel, case)).collect();
    let hops = hops?;
    Some(hops.iter().sum::<f64>() / hops.len() as f64)
}

fn fast_path(report: &Report) -> Claim {
    let found = || {
        let at = |case| Some((hop(report, "fastpath", case)?, hop(report, "slowpath", case)?));
        let ((few_fast, few_slow), (many_fast, many_slow)) = (at(FEW)?, at(MANY)?);
        let faster = percent_above(few_slow, few_fast);
        let slower = percent_above(many_fast, many_slow);
        let mut evidence = format!(
            "one potato: fastpath {few_fast}, slowpath {few_slow}; 249: {many_fast}, {many_slow}"
        );
        if faster < CLEARLY {
            evidence += "; our fast path takes calls and replies that wait, and passing a potato \
                         on is neither, so that it gains nothing";
        }
        Some((faster >= CLEARLY && slower > 0.0 && slower < CLEARLY, evidence))
    };
    let statement = "fastpath is clearly fastest with few potatoes and ends slightly slower than \
                     slowpath near saturation";
    judged("S0-C05a", statement, found())
}

fn slow_path(report: &Report) -> Claim {
    let found = || {
        let (direct, slow) = (mean(report, "direct-lazy")?, mean(report, "slowpath")?);
        let faster = percent_above(slow, direct);
        let mut evidence = format!(
            "mean over the sweep: direct-lazy {direct:.0}, slowpath {slow:.0}: {faster:+.1} %"
        );
        if faster < *TENTH.start() {
            evidence += "; slowpath's removal of a receiver from the ready queue (S0-17) has \
                         nothing to do here: who waits for a potato got the CPU directly and is \
                         hardly ever queued, and who waits to send is removed by neither";
        }
        Some((TENTH.contains(&faster), evidence))
    };
    judged("S0-C05b", "direct-lazy is about 10 % faster than slowpath", found())
}

fn order(report: &Report) -> Claim {
    let found = || {
        let of = |kernel| mean(report, kernel);
        let (direct_lazy, strict_lazy) = (of("direct-lazy")?, of("strict-lazy")?);
        let (direct_eager, strict_eager) = (of("direct-eager")?, of("strict-eager")?);
        let held =
            direct_lazy < strict_lazy && strict_lazy < direct_eager && direct_eager < strict_eager;
        let ahead = percent_above(direct_eager, strict_lazy);
        let mut evidence = format!(
            "means over the sweep: direct-lazy {direct_lazy:.0}, strict-lazy {strict_lazy:.0}, \
             direct-eager {direct_eager:.0}, strict-eager {strict_eager:.0}; direct-eager \
             against strict-lazy {ahead:+.1} %"
        );
        if strict_lazy > direct_eager {
            evidence += "; where a potato goes to a lower thread, strict order looks up the \
                         highest, and lazy queueing then queues the receiver and removes the \
                         blocked sender that it meets: together more than keeping the queue exact";
        }
        let (lazy, eager) = (hop(report, "direct-lazy", MANY)?, hop(report, "direct-eager", MANY)?);
        if lazy > eager {
            evidence += &format!(
                "; with 249 potatoes lazy queueing itself loses (direct-lazy {lazy}, direct-eager \
                 {eager}), since most removals that it puts off are made after all"
            );
        }
        Some((held && (0.0..=10.0).contains(&ahead), evidence))
    };
    let statement = "The order is that of ping-pong, with strict-lazy about 4 % ahead of \
                     direct-eager";
    judged("S0-C05c", statement, found())
}

fn queues(report: &Report) -> Claim {
    let found = || {
        let above = |kernel, case| {
            Some(percent_above(hop(report, kernel, case)?, hop(report, "direct-lazy", case)?))
        };
        let flat = [
            above("ipc-scan", SOME)?,
            above("ipc-scan", MANY)?,
            above("ipc-ordered", SOME)?,
            above("ipc-ordered", MANY)?,
        ];
        let heap = [above("ipc-heap", FEW)?, above("ipc-heap", MANY)?];
        let level = flat.iter().all(|percent| percent.abs() <= ALIKE);
        let dearest = heap[1] > flat[1].max(flat[3]);
        let mut evidence = format!(
            "against direct-lazy at 249 potatoes: scan {:+.1} %, ordered {:+.1} %, heap {:+.1} % \
             (with one potato {:+.1} %)",
            flat[1], flat[3], heap[1], heap[0]
        );
        if !dearest {
            evidence += "; with a queue of one a heap has nothing to compare, while a scan still \
                         looks at the one";
        }
        Some((level && dearest && heap[1] > heap[0] + 1.0, evidence))
    };
    let statement = "ipc-scan and ipc-ordered cost what direct-lazy does, since queues never \
                     exceed one; ipc-heap costs more the more sends are queued";
    judged("S0-C05d", statement, found())
}

fn caches() -> Claim {
    let statement = "A hop costs far more than a message in ping-pong, because the working set \
                     leaves the cache";
    unobservable("S0-C05e", statement, "instructions are counted here, and there are no caches")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, verdict};
    use super::*;
    use crate::experiment::hot_potato::CASES;
    use results::Verdict;

    /// Costs with one potato and with 249; between them in a straight line.
    type Curve = (&'static str, u64, u64);

    const PAPER: [Curve; 9] = [
        ("fastpath", 300, 560),
        ("slowpath", 480, 550),
        ("direct-lazy", 430, 500),
        ("strict-lazy", 520, 560),
        ("direct-eager", 540, 580),
        ("strict-eager", 600, 640),
        ("ipc-scan", 431, 502),
        ("ipc-ordered", 432, 503),
        ("ipc-heap", 435, 560),
    ];

    fn claims(change: &[Curve]) -> Vec<Claim> {
        let mut rows = Vec::new();
        for curve in PAPER {
            let (kernel, one, many) =
                *change.iter().find(|other| other.0 == curve.0).unwrap_or(&curve);
            for (i, case) in CASES.into_iter().enumerate() {
                let last = CASES.len() - 1;
                let value = (one * (last - i) as u64 + many * i as u64) / last as u64;
                rows.push((kernel, METRIC, case, value));
            }
        }
        all(&report("made up", &rows))
    }

    #[test]
    fn curves_like_the_papers_reproduce() {
        let claims = claims(&[]);
        for id in ["S0-C05a", "S0-C05b", "S0-C05c", "S0-C05d"] {
            assert_eq!(verdict(&claims, id), Verdict::Reproduced, "{id}: {claims:?}");
        }
        assert_eq!(verdict(&claims, "S0-C05e"), Verdict::NotObservable);
    }

    #[test]
    fn other_curves_contradict() {
        let contradicted = |change: &[Curve], id: &str| {
            assert_eq!(verdict(&claims(change), id), Verdict::Contradicted, "{id}");
        };
        contradicted(&[("fastpath", 479, 560)], "S0-C05a");
        contradicted(&[("fastpath", 300, 520)], "S0-C05a");
        contradicted(&[("slowpath", 432, 501)], "S0-C05b");
        contradicted(&[("strict-lazy", 400, 410)], "S0-C05c");
        contradicted(&[("ipc-scan", 431, 700)], "S0-C05d");
        contradicted(&[("ipc-heap", 435, 502)], "S0-C05d");
        contradicted(&[("ipc-heap", 560, 560)], "S0-C05d");
    }

    #[test]
    fn without_rows_nothing_is_judged() {
        let claims = all(&report("made up", &[("slowpath", METRIC, FEW, 480)]));
        for claim in claims {
            assert_eq!(claim.verdict, Verdict::NotObservable, "{}", claim.id);
        }
    }
}
