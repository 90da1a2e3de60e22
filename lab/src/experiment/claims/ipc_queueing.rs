//! Claims about long send queues (S0-E06).

use super::{judged, median};
use crate::experiment::ipc_queueing::CASES;
use results::{Claim, Report};

const METRIC: &str = "send-and-serve";
const LONGEST: &str = "threads=1000";
/// What counts as about twice.
const TWICE: std::ops::RangeInclusive<f64> = 1.5..=2.5;
/// What counts as about 10 threads.
const AROUND_TEN: std::ops::RangeInclusive<f64> = 5.0..=20.0;

/// All parts of S0-C07.
pub fn all(report: &Report) -> Vec<Claim> {
    vec![growth(report), factor(report), logarithm(report), heap(report), fifo(report)]
}

/// A kernel's cost, without what a first-come-first-served queue costs, by the queue's length.
fn curve(report: &Report, kernel: &str) -> Option<Vec<(f64, f64)>> {
    let point = |case: &&str| {
        let threads = case.strip_prefix("threads=")?.parse().ok()?;
        let base = median(report, "direct-lazy", METRIC, case)?;
        Some((threads, median(report, kernel, METRIC, case)? - base))
    };
    CASES.iter().map(point).collect()
}

fn at(curve: &[(f64, f64)], threads: f64) -> Option<f64> {
    curve.iter().find(|(x, _)| *x == threads).map(|(_, y)| *y)
}

/// How much of the spread of a curve from 50 threads on a straight line explains (r squared).
fn straightness(curve: &[(f64, f64)]) -> f64 {
    let points: Vec<_> = curve.iter().filter(|(x, _)| *x >= 50.0).collect();
    let n = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in points {
        xy += (x - mean_x) * (y - mean_y);
        xx += (x - mean_x).powi(2);
        yy += (y - mean_y).powi(2);
    }
    if yy == 0.0 { 0.0 } else { xy * xy / (xx * yy) }
}

fn growth(report: &Report) -> Claim {
    let found = || {
        let (scan, ordered) = (curve(report, "ipc-scan")?, curve(report, "ipc-ordered")?);
        let fits = [straightness(&scan), straightness(&ordered)];
        let rises = [&scan, &ordered].map(|curve| at(curve, 1000.0) > at(curve, 100.0));
        let evidence = format!(
            "r squared of a straight line from 50 to 1000 threads: scan {:.4}, ordered {:.4}",
            fits[0], fits[1]
        );
        Some((fits.iter().all(|fit| *fit > 0.97) && rises == [true; 2], evidence))
    };
    judged("S0-C07a", "ipc-scan and ipc-ordered grow linearly with the queue", found())
}

fn factor(report: &Report) -> Claim {
    let found = || {
        let cost = |kernel| median(report, kernel, METRIC, LONGEST);
        let (scan, ordered) = (cost("ipc-scan")?, cost("ipc-ordered")?);
        let base = cost("direct-lazy")?;
        let times = scan / ordered;
        let evidence = format!(
            "with 1000 threads ipc-scan {scan}, ipc-ordered {ordered}: {times:.2} times as much; \
             without what a first-come-first-served queue costs {:.1} times as much",
            (scan - base) / (ordered - base)
        );
        Some((TWICE.contains(&times), evidence))
    };
    judged("S0-C07b", "ipc-ordered is about twice as fast as ipc-scan at length", found())
}

fn logarithm(report: &Report) -> Claim {
    let found = || {
        let heap = curve(report, "ipc-heap")?;
        let [h10, h100, h1000] = [10.0, 100.0, 1000.0].map(|threads| at(&heap, threads));
        let (first, second): (f64, f64) = (h100? - h10?, h1000? - h100?);
        let evidence = format!(
            "from 10 to 100 threads its queue costs {first:.0} more, from 100 to 1000 threads \
             {second:.0} more: a logarithm adds as much, a line ten times as much"
        );
        Some((first > 0.0 && second > 0.0 && second < 3.0 * first, evidence))
    };
    judged("S0-C07c", "ipc-heap grows logarithmically with the queue", found())
}

/// What a further thread in a long queue adds.
fn slope(curve: &[(f64, f64)]) -> Option<f64> {
    Some((at(curve, 1000.0)? - at(curve, 100.0)?) / 900.0)
}

/// The first length from which `a` costs less than `b` for good.
fn crossing(a: &[(f64, f64)], b: &[(f64, f64)]) -> Option<f64> {
    let wins = a.iter().zip(b).rev().take_while(|(a, b)| a.1 < b.1).last();
    wins.map(|(point, _)| point.0)
}

fn heap(report: &Report) -> Claim {
    let found = || {
        let [heap, ordered, scan] =
            ["ipc-heap", "ipc-ordered", "ipc-scan"].map(|kernel| curve(report, kernel));
        let (heap, ordered, scan) = (heap?, ordered?, scan?);
        let crossings = [crossing(&heap, &scan), crossing(&heap, &ordered)];
        let spell = |crossing: Option<f64>| {
            crossing.map_or("never".to_string(), |threads| format!("from {threads} threads on"))
        };
        let near = |crossing: &Option<f64>| crossing.is_some_and(|at| AROUND_TEN.contains(&at));
        let held = crossings.iter().all(near);
        let mut evidence = format!(
            "ipc-heap costs less than ipc-scan {}, less than ipc-ordered {}",
            spell(crossings[0]),
            spell(crossings[1])
        );
        if !held {
            evidence += &format!(
                "; each further thread costs {:.1} with scan and {:.1} with ordered, a heap's \
                 upkeep {:.0} with 10 threads",
                slope(&scan)?,
                slope(&ordered)?,
                at(&heap, 10.0)?
            );
        }
        Some((held, evidence))
    };
    let statement = "ipc-heap loses below about 10 queued threads and wins clearly beyond";
    judged("S0-C07d", statement, found())
}

fn fifo(report: &Report) -> Claim {
    let found = || {
        let few = median(report, "direct-lazy", METRIC, "threads=10")?;
        let many = median(report, "direct-lazy", METRIC, LONGEST)?;
        let evidence = format!("10 threads: {few}, 1000 threads: {many}");
        Some(((many / few - 1.0).abs() <= 0.1, evidence))
    };
    judged("S0-C07e", "First come, first served costs the same for any length", found())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{report, verdict};
    use super::*;
    use results::Verdict;

    fn claims(queue: impl Fn(&str, f64) -> f64) -> Vec<Claim> {
        let mut rows = Vec::new();
        for kernel in ["direct-lazy", "ipc-scan", "ipc-ordered", "ipc-heap"] {
            for case in CASES {
                let threads = case.strip_prefix("threads=").unwrap().parse().unwrap();
                rows.push((kernel, METRIC, case, 1000 + queue(kernel, threads) as u64));
            }
        }
        all(&report("made up", &rows))
    }

    fn paper(kernel: &str, n: f64) -> f64 {
        match kernel {
            "ipc-scan" => 6.0 * n,
            "ipc-ordered" => 3.0 * n,
            "ipc-heap" => 12.0 + 10.0 * n.log2(),
            _ => 0.0,
        }
    }

    #[test]
    fn curves_like_the_papers_reproduce() {
        let claims = claims(paper);
        for id in ["S0-C07a", "S0-C07b", "S0-C07c", "S0-C07d", "S0-C07e"] {
            assert_eq!(verdict(&claims, id), Verdict::Reproduced, "{id}: {claims:?}");
        }
    }

    #[test]
    fn other_curves_contradict() {
        let bent = claims(|kernel, n| match kernel {
            "ipc-scan" => n * n / 50.0,
            "ipc-heap" => n * 4.0,
            "direct-lazy" => n,
            _ => paper(kernel, n),
        });
        assert_eq!(verdict(&bent, "S0-C07a"), Verdict::Contradicted);
        assert_eq!(verdict(&bent, "S0-C07b"), Verdict::Contradicted);
        assert_eq!(verdict(&bent, "S0-C07c"), Verdict::Contradicted);
        assert_eq!(verdict(&bent, "S0-C07e"), Verdict::Contradicted);
        let late = claims(|kernel, n| match kernel {
            "ipc-heap" => 400.0 + 10.0 * n.log2(),
            _ => paper(kernel, n),
        });
        assert_eq!(verdict(&late, "S0-C07d"), Verdict::Contradicted);
        let flat = claims(|kernel, n| if kernel == "ipc-heap" { 30.0 } else { paper(kernel, n) });
        assert_eq!(verdict(&flat, "S0-C07c"), Verdict::Contradicted);
    }

    #[test]
    fn without_rows_nothing_is_judged() {
        for claim in all(&report("made up", &[("direct-lazy", METRIC, LONGEST, 1000)])) {
            assert_eq!(claim.verdict, Verdict::NotObservable, "{}", claim.id);
        }
    }
}
