//! Tails of latencies, as claims see them: the worst wake-ups by the number of threads.

use super::{FEWEST, MOST, SWEEP};
use crate::experiment::claim::{self, Line, median};
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
    median(report, kernel, WAKE_UP, &case(form, MOST))
}

/// By how many medians the worst wake-up with the most threads is one.
fn times_median(report: &Report, kernel: &str, form: &str) -> Option<f64> {
    Some(worst(report, kernel, form, MOST)? / usual(report, kernel, form)?)
}

/// Where a tail lies that some kernels must show: far out, ...
pub const FAR_OUT: Bound = Bound::Above(3.0);
/// ... and longer with more threads.
pub const GROWS: Bound = Bound::Above(2.0);
/// Where the worst wake-ups of kernels lie that must not show one.
pub const NEAR: Bound = Bound::AtMost(3.0);

/// Of kernels that must show a tail, the least worst wake-up in medians.
pub fn least(report: &Report, form: &str, kernels: &[&str]) -> Option<f64> {
    claim::least(kernels.iter().map(|kernel| times_median(report, kernel, form)))
}

/// Their least growth from the fewest threads to the most.
pub fn least_growth(report: &Report, form: &str, kernels: &[&str]) -> Option<f64> {
    claim::least(kernels.iter().map(|kernel| {
        Some(worst(report, kernel, form, MOST)? / worst(report, kernel, form, FEWEST)?)
    }))
}

/// Of kernels that must show none, the greatest worst wake-up in medians.
pub fn greatest(report: &Report, form: &str, kernels: &[&str]) -> Option<f64> {
    claim::most(kernels.iter().map(|kernel| times_median(report, kernel, form)))
}

/// The worst wake-ups of kernels, in words.
pub fn spelt(report: &Report, form: &str, kernels: &[&str]) -> Option<String> {
    let figure = |kernel: &&str| {
        let (worst, usual) = (worst(report, kernel, form, MOST)?, usual(report, kernel, form)?);
        Some(format!("{kernel} {worst} (median {usual})"))
    };
    let figures: Option<Vec<String>> = kernels.iter().map(figure).collect();
    Some(format!("worst with {MOST} threads: {}", figures?.join(", ")))
}

/// The straight line through the worst wake-ups over the whole sweep.
pub fn line(report: &Report, kernel: &str, form: &str) -> Option<Line> {
    let points = SWEEP.iter().map(|n| Some((*n as f64, worst(report, kernel, form, *n)?)));
    Some(Line::through(&points.collect::<Option<Vec<_>>>()?))
}

#[cfg(test)]
pub mod testing {
    //! Made-up tails.

    use super::*;
    use crate::experiment::testing::report;

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
                let worst = few + (many - few) * (threads - FEWEST) / (MOST - FEWEST);
                rows.push((kernel, WAKE_UP, case(form, threads), *usual));
                rows.push((kernel, WAKE_UP_WORST, case(form, threads), worst));
            }
        }
        let rows: Vec<_> = rows.iter().map(|(k, m, c, v)| (*k, *m, c.as_str(), *v)).collect();
        report("qemu-x86_64", &rows)
    }

    #[test]
    fn the_kernel_that_shows_least_decides() {
        let two = tails(&[("fastpath", "", 500, 2000, 8000), ("slowpath", "", 500, 600, 650)]);
        let kernels = ["fastpath", "slowpath"];
        assert_eq!(least(&two, "", &kernels), Some(1.3));
        assert_eq!(least_growth(&two, "", &kernels), Some(650.0 / 600.0));
        assert_eq!(greatest(&two, "", &kernels), Some(16.0));
        assert_eq!(least(&two, "", &["ipc-heap"]), None);
        assert_eq!(greatest(&two, "", &["fastpath", "ipc-heap"]), None);
    }
}
