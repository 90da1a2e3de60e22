//! Estimates with their uncertainty.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// How sure intervals are.
const CONFIDENCE: f64 = 0.95;

/// An estimate with the 95 % confidence interval of its mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// An estimate with its standard error, which so many degrees of freedom are behind.
    pub fn of(value: f64, error: f64, freedom: usize) -> Interval {
        let reach = quantile(freedom) * error;
        Interval { value, low: value - reach, high: value + reach }
    }

    /// Whether a value lies within.
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Half of the width.
    pub fn reach(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// How many standard errors the interval reaches (Student's t).
fn quantile(freedom: usize) -> f64 {
    let student = StudentsT::new(0.0, 1.0, freedom.max(1) as f64);
    student.map_or(f64::INFINITY, |student| student.inverse_cdf((1.0 + CONFIDENCE) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reach_is_students() {
        for (freedom, printed) in [(1, 12.706), (9, 2.262), (31, 2.040)] {
            let interval = Interval::of(5.0, 1.0, freedom);
            assert!((interval.reach() - printed).abs() < 0.0006, "{interval:?}");
            assert!(interval.holds(5.0 + printed - 0.01) && !interval.holds(5.0 - printed - 0.01));
        }
    }
}
