//! Tails of latencies, as claims see them: the worst wake-ups by the number of threads.

use super::median;
use crate::experiment::latency::SWEEP;
use results::{Bound, Report, WAKE_UP, WAKE_UP_WORST};

/// The name of a case.
pub fn case(form: &str, threads: u64) -> String {
    let gap = if form.is_empty() { "" } else { " " };
    format!("{form}{gap}threads={threads}")
}

/// The worst wake-up.
pub fn worst(report: &Report, kernel: &str, form: &str, threads: u64) -> Option<f64> {
    median(report, kernel, WAKE_UP_WORST, &case(form, threads))
}

/// The median wake-up with the most threads.
pub fn usual(report: &Report, kernel: &str, form: &str) -> Option<f64> {
    median(report, kernel, WAKE_UP, &case(form, most()))
}

/// The most threads, and the fewest.
pub const fn most() -> u64 {
    SWEEP[SWEEP.len() - 1]
}

const FEWEST: u64 = SWEEP[0];

/// By how many medians the worst wake-up with the most threads is one.
fn times_median(report: &Report, kernel: &str, form: &str) -> Option<f64> {
    Some(worst(report, kernel, form, most())? / usual(report, kernel, form)?)
}

/// By how many times the worst wake-up grows from the fewest threads to five times as many.
fn growth(report: &Report, kernel: &str, form: &str) -> Option<f64> {
    Some(worst(report, kernel, form, most())? / worst(report, kernel, form, FEWEST)?)
}

/// Where a tail lies that some kernels must show: far out, ...
pub const FAR_OUT: Bound = Bound::Above(3.0);
/// ... and longer with more threads.
pub const GROWS: Bound = Bound::Above(2.0);
/// Where the worst wake-ups of kernels lie that must not show one.
pub const NEAR: Bound = Bound::AtMost(3.0);

/// Of kernels that must show a tail, the least worst wake-up in medians, and the least growth.
pub fn least(report: &Report, form: &str, kernels: &[&str]) -> Option<(f64, f64)> {
    let mut least = (f64::INFINITY, f64::INFINITY);
    for kernel in kernels {
        least.0 = least.0.min(times_median(report, kernel, form)?);
        least.1 = least.1.min(growth(report, kernel, form)?);
    }
    Some(least)
}

/// Of kernels that must show none, the greatest worst wake-up in medians.
pub fn greatest(report: &Report, form: &str, kernels: &[&str]) -> Option<f64> {
    let mut greatest = 0.0_f64;
    for kernel in kernels {
        greatest = greatest.max(times_median(report, kernel, form)?);
    }
    Some(greatest)
}

/// The worst wake-ups of kernels, in words.
pub fn spelt(report: &Report, form: &str, kernels: &[&str]) -> Option<String> {
    let figure = |kernel: &&str| {
        let (worst, usual) = (worst(report, kernel, form, most())?, usual(report, kernel, form)?);
        Some(format!("{kernel} {worst} (median {usual})"))
    };
    let figures: Option<Vec<String>> = kernels.iter().map(figure).collect();
    Some(format!("worst with {} threads: {}", most(), figures?.join(", ")))
}

/// A straight line through the worst wake-ups over the whole sweep.
pub struct Line {
    /// What a further thread adds.
    pub slope: f64,
    /// How much of the scatter the line explains, at most 1.
    pub r2: f64,
}

/// The line of least squares.
pub fn line(report: &Report, kernel: &str, form: &str) -> Option<Line> {
    let points: Option<Vec<(f64, f64)>> =
        SWEEP.iter().map(|n| Some((*n as f64, worst(report, kernel, form, *n)?))).collect();
    let points = points?;
    let count = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let xx = mean(&|p| (p.0 - x).powi(2));
    let yy = mean(&|p| (p.1 - y).powi(2));
    let xy = mean(&|p| (p.0 - x) * (p.1 - y));
    // Points that are all alike are on a line, but not on one that grows.
    Some(Line { slope: xy / xx, r2: if yy > 0.0 { xy * xy / (xx * yy) } else { 0.0 } })
}

#[cfg(test)]
pub mod testing {
    //! Made-up tails.

    use super::case;
    use crate::experiment::claims::testing::report;
    use crate::experiment::latency::SWEEP;
    use results::{Report, WAKE_UP, WAKE_UP_WORST};

    /// A form of an experiment under a kernel: the median, and the worst with the fewest and the
    /// most threads.
    pub type Tail = (&'static str, &'static str, u64, u64, u64);

    /// A report of tails that grow in a straight line; of a kernel and form that occurs several
    /// times, the last counts.
    pub fn tails(all: &[Tail]) -> Report {
        let mut rows: Vec<(&str, &str, String, u64)> = Vec::new();
        for (index, (kernel, form, usual, few, many)) in all.iter().enumerate() {
            if all[index + 1..].iter().any(|later| (later.0, later.1) == (*kernel, *form)) {
                continue;
            }
            for threads in SWEEP {
                let share = threads - SWEEP[0];
                let worst = few + (many - few) * share / (SWEEP[SWEEP.len() - 1] - SWEEP[0]);
                rows.push((kernel, WAKE_UP, case(form, threads), *usual));
                rows.push((kernel, WAKE_UP_WORST, case(form, threads), worst));
            }
        }
        let rows: Vec<_> = rows.iter().map(|(k, m, c, v)| (*k, *m, c.as_str(), *v)).collect();
        report("made up", &rows)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::tails;
    use super::*;

    #[test]
    fn a_tail_is_far_out_and_grows() {
        let of = |usual, few, many| {
            let tails = tails(&[("fastpath", "call", usual, few, many)]);
            let (far_out, grown) = least(&tails, "call", &["fastpath"]).unwrap();
            let near = greatest(&tails, "call", &["fastpath"]).unwrap();
            [FAR_OUT.holds(far_out), GROWS.holds(grown), NEAR.holds(near)]
        };
        assert_eq!(of(500, 3000, 12000), [true, true, false]);
        assert_eq!(of(500, 700, 1400), [false, false, true]);
        assert_eq!(of(500, 11000, 12000), [true, false, false]);
        assert_eq!(least(&tails(&[]), "call", &["fastpath"]), None);
        assert_eq!(greatest(&tails(&[]), "call", &["fastpath"]), None);
    }

    #[test]
    fn the_kernel_that_shows_least_decides() {
        let two = tails(&[("fastpath", "", 500, 2000, 8000), ("slowpath", "", 500, 600, 650)]);
        let kernels = ["fastpath", "slowpath"];
        let (far_out, grown) = least(&two, "", &kernels).unwrap();
        assert_eq!((far_out, (grown * 100.0).round()), (1.3, 108.0));
        assert_eq!(greatest(&two, "", &kernels), Some(16.0));
    }

    #[test]
    fn a_line_fits_what_is_straight() {
        let straight = tails(&[("fastpath", "", 500, 3000, 13000)]);
        let fitted = line(&straight, "fastpath", "").unwrap();
        assert!((fitted.slope - 50.0).abs() < 0.1 && fitted.r2 > 0.9999);
        let flat = line(&tails(&[("fastpath", "", 500, 700, 700)]), "fastpath", "").unwrap();
        assert!(flat.slope == 0.0 && flat.r2 == 0.0);
    }
}
