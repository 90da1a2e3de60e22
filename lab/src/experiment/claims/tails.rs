//! Tails of latencies, as claims see them: the worst wake-ups by the number of threads.

use super::median;
use crate::experiment::latency::SWEEP;
use results::{Report, WAKE_UP, WAKE_UP_WORST};

/// A worst wake-up this many times the median is a tail, if it grows with the threads.
const FAR_OUT: f64 = 3.0;
/// By how much it grows from the fewest threads to five times as many, at least.
const GROWS: f64 = 2.0;

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

/// Whether a kernel shows a tail that grows with the number of threads.
pub fn has_tail(report: &Report, kernel: &str, form: &str) -> Option<bool> {
    let (few, many) = (worst(report, kernel, form, FEWEST)?, worst(report, kernel, form, most())?);
    Some(many > FAR_OUT * usual(report, kernel, form)? && many > GROWS * few)
}

/// Whether exactly `wanted` of the kernels `of` show a tail, with the figures that say so.
pub fn shown_by(
    report: &Report,
    form: &str,
    of: &[&str],
    wanted: &[&str],
) -> Option<(bool, String)> {
    let mut held = true;
    let mut figures = Vec::new();
    for kernel in of {
        held &= has_tail(report, kernel, form)? == wanted.contains(kernel);
        let (worst, usual) = (worst(report, kernel, form, most())?, usual(report, kernel, form)?);
        figures.push(format!("{kernel} {worst} (median {usual})"));
    }
    Some((held, format!("worst with {} threads: {}", most(), figures.join(", "))))
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
        let has = |usual, few, many| {
            has_tail(&tails(&[("fastpath", "call", usual, few, many)]), "fastpath", "call")
        };
        assert_eq!(has(500, 3000, 12000), Some(true));
        assert_eq!(has(500, 700, 1400), Some(false));
        assert_eq!(has(500, 11000, 12000), Some(false));
        assert_eq!(has_tail(&tails(&[]), "fastpath", "call"), None);
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
