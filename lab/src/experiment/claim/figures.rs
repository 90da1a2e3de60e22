//! Figures of reports, as claims put them together.

use results::{Origin, Report};

/// The median of a case.
pub fn median(report: &Report, kernel: &str, metric: &str, case: &str) -> Option<f64> {
    report.median(kernel, metric, case).map(|figure| figure.as_f64())
}

/// The value of a fact.
pub fn fact(report: &Report, name: &str) -> Option<f64> {
    report.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value as f64)
}

/// The kernels that a report has rows of.
pub fn kernels(report: &Report) -> Vec<&str> {
    let mut kernels: Vec<&str> = report.rows.iter().map(|row| row.kernel.as_str()).collect();
    kernels.dedup();
    kernels
}

/// By how many percent `a` is above `b`.
pub fn percent_above(a: f64, b: f64) -> f64 {
    (a / b - 1.0) * 100.0
}

/// The least of some figures; none if one is missing.
pub fn least(figures: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    reduce(figures, f64::min)
}

/// The greatest of some figures; none if one is missing.
pub fn most(figures: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    reduce(figures, f64::max)
}

/// Their mean; none if one is missing.
pub fn mean(figures: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    let figures = figures.into_iter().collect::<Option<Vec<f64>>>()?;
    Some(figures.iter().sum::<f64>() / figures.len() as f64)
}

fn reduce(
    figures: impl IntoIterator<Item = Option<f64>>,
    choose: fn(f64, f64) -> f64,
) -> Option<f64> {
    figures.into_iter().collect::<Option<Vec<f64>>>()?.into_iter().reduce(choose)
}

/// Why prices of cold memory cannot be told, where there are no caches.
pub fn cold(report: &Report) -> Option<String> {
    let why = "it rests on the price of cold memory, and there are no caches here: see `native`";
    (report.origin != Origin::HARDWARE).then(|| why.to_string())
}

/// A straight line of least squares.
pub struct Line {
    /// What a step to the right adds.
    pub slope: f64,
    /// How much of the scatter the line explains, at most 1.
    pub r2: f64,
    /// A point of it.
    middle: (f64, f64),
}

impl Line {
    /// The line through points.
    pub fn through(points: &[(f64, f64)]) -> Line {
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| {
            points.iter().map(of).sum::<f64>() / points.len() as f64
        };
        let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
        let xx = mean(&|p| (p.0 - x).powi(2));
        let yy = mean(&|p| (p.1 - y).powi(2));
        let xy = mean(&|p| (p.0 - x) * (p.1 - y));
        // Points that are all alike are on a line, but not on one that grows.
        let r2 = if yy > 0.0 { xy * xy / (xx * yy) } else { 0.0 };
        Line { slope: xy / xx, r2, middle: (x, y) }
    }

    /// Its height at this place.
    pub fn at(&self, x: f64) -> f64 {
        self.middle.1 + self.slope * (x - self.middle.0)
    }
}
