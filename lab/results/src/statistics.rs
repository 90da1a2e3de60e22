//! Summaries of samples.
//!
//! Quartiles are Tukey's hinges: the medians of the lower and of the upper half of the sorted
//! samples, the median belonging to both halves when n is odd. They are samples or midpoints of
//! two samples, so counts give integers or halves, never an interpolated fraction. The standard
//! deviation is that of a sample (n - 1). The mean is rounded to the first digit of its standard
//! error, the standard deviation to three significant digits: further digits would say nothing.

use crate::Figure;
use serde::{Deserialize, Serialize, Serializer};

/// What a series of samples comes down to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The least sample.
    pub min: u64,
    /// The lower hinge.
    pub q1: Figure,
    /// The median.
    pub median: Figure,
    /// The arithmetic mean.
    #[serde(serialize_with = "shortest")]
    pub mean: f64,
    /// The upper hinge.
    pub q3: Figure,
    /// The greatest sample.
    pub max: u64,
    /// The standard deviation of the sample.
    #[serde(serialize_with = "shortest")]
    pub stddev: f64,
    /// How many samples.
    pub n: u64,
}

impl Summary {
    /// The summary of at least one sample, in any order.
    pub fn of(samples: &[u64]) -> Option<Summary> {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable();
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let half = sorted.len().div_ceil(2);
        let (mean, stddev) = moments(&sorted);
        let decimals = decimals_of(stddev / (sorted.len() as f64).sqrt(), 1);
        Some(Summary {
            min,
            q1: middle(&sorted[..half]),
            median: middle(&sorted),
            mean: rounded(mean, decimals),
            q3: middle(&sorted[sorted.len() - half..]),
            max,
            stddev: rounded(stddev, decimals_of(stddev, 3)),
            n: sorted.len() as u64,
        })
    }
}

/// The least sample that at least 99 of 100 do not exceed, of samples in any order.
pub fn p99(samples: &[u64]) -> Option<u64> {
    percentile(samples, 99)
}

/// The least sample that at least that many percent do not exceed, of samples in any order.
pub(crate) fn percentile(samples: &[u64], percent: usize) -> Option<u64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted.get((sorted.len() * percent).div_ceil(100).checked_sub(1)?).copied()
}

/// The median of sorted, non-empty samples.
fn middle(sorted: &[u64]) -> Figure {
    Figure::between(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}

/// Mean and standard deviation of sorted, non-empty samples.
fn moments(sorted: &[u64]) -> (f64, f64) {
    let count = sorted.len() as u128;
    let sum: u128 = sorted.iter().map(|&sample| u128::from(sample)).sum();
    let mean = (sum / count) as f64 + (sum % count) as f64 / count as f64;
    if sorted.len() == 1 {
        return (mean, 0.0);
    }
    // Distances from the least sample keep their digits where large samples would lose them.
    let least = sorted[0];
    let distances = sorted.iter().map(|&sample| (sample - least) as f64);
    let centre = distances.clone().sum::<f64>() / count as f64;
    let squares: f64 = distances.map(|distance| (distance - centre).powi(2)).sum();
    (mean, (squares / (count - 1) as f64).sqrt())
}

/// Decimals that show `digits` significant digits of a value, or none for zero.
fn decimals_of(value: f64, digits: i32) -> usize {
    if value == 0.0 {
        return 0;
    }
    let leading = value.log10().floor();
    (f64::from(digits - 1) - leading).clamp(0.0, 6.0) as usize
}

fn rounded(value: f64, decimals: usize) -> f64 {
    format!("{value:.decimals$}").parse().unwrap_or(value)
}

/// Writes a whole float as an integer.
fn shortest<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    // Powers of two are exact as floats, so the conversion below is exact too.
    if value.fract() == 0.0 && (0.0..2f64.powi(64)).contains(value) {
        serializer.serialize_u64(*value as u64)
    } else {
        serializer.serialize_f64(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Doubled value at the middle of an ordered set, by repeatedly dropping both ends.
    fn naive_middle(mut sorted: Vec<u64>) -> u128 {
        while sorted.len() > 2 {
            sorted.remove(0);
            sorted.pop();
        }
        sorted.iter().map(|&sample| u128::from(sample)).sum::<u128>() * 2 / sorted.len() as u128
    }

    fn doubled(figure: Figure) -> u128 {
        let text = figure.to_string();
        let whole: u128 = text.trim_end_matches(".5").parse().unwrap();
        whole * 2 + u128::from(text.ends_with(".5"))
    }

    fn check_order_statistics(samples: &[u64]) {
        let summary = Summary::of(samples).unwrap();
        let mut sorted = samples.to_vec();
        sorted.sort();
        let half = sorted.len() - sorted.len() / 2;
        assert_eq!(summary.min, sorted[0]);
        assert_eq!(summary.max, sorted[sorted.len() - 1]);
        assert_eq!(summary.n, sorted.len() as u64);
        assert_eq!(doubled(summary.q1), naive_middle(sorted[..half].to_vec()));
        assert_eq!(doubled(summary.median), naive_middle(sorted.clone()));
        assert_eq!(doubled(summary.q3), naive_middle(sorted[sorted.len() - half..].to_vec()));
    }

    proptest! {
        #[test]
        fn order_statistics_match_the_naive_model(
            samples in prop::collection::vec(any::<u64>(), 1..60)
        ) {
            check_order_statistics(&samples);
        }

        #[test]
        fn moments_match_the_naive_model(samples in prop::collection::vec(0..100_000u64, 1..60)) {
            let summary = Summary::of(&samples).unwrap();
            let n = samples.len() as f64;
            let mean = samples.iter().sum::<u64>() as f64 / n;
            let squares: f64 = samples.iter().map(|&s| (s as f64 - mean).powi(2)).sum();
            let stddev = if samples.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 };
            prop_assert!((summary.mean - mean).abs() <= (stddev / n.sqrt()).max(1e-6));
            prop_assert!((summary.stddev - stddev).abs() <= stddev / 100.0 + 1e-6);
        }

        #[test]
        fn a_large_offset_changes_no_spread(
            samples in prop::collection::vec(0..1000u64, 2..60)
        ) {
            let far: Vec<u64> = samples.iter().map(|s| u64::MAX - 1000 + s).collect();
            let (near, far) = (Summary::of(&samples).unwrap(), Summary::of(&far).unwrap());
            prop_assert_eq!(near.stddev, far.stddev);
            prop_assert!(far.mean >= (u64::MAX - 2048) as f64);
        }
    }

    #[test]
    fn hinges_of_known_samples() {
        let summary = Summary::of(&[1, 2, 3, 4, 5]).unwrap();
        assert_eq!(
            serde_json::to_string(&summary).unwrap(),
            r#"{"min":1,"q1":2,"median":3,"mean":3,"q3":4,"max":5,"stddev":1.58,"n":5}"#
        );
        let summary = Summary::of(&[7, 1, 3, 4]).unwrap();
        assert_eq!(
            serde_json::to_string(&summary).unwrap(),
            r#"{"min":1,"q1":2,"median":3.5,"mean":4,"q3":5.5,"max":7,"stddev":2.5,"n":4}"#
        );
    }

    #[test]
    fn the_99th_percentile_is_a_sample() {
        let p99 = |count: u64| p99(&(1..=count).rev().collect::<Vec<_>>());
        let some = [1, 2, 99, 100, 101, 200, 1000].map(|count| p99(count).unwrap());
        assert_eq!((p99(0), some), (None, [1, 2, 99, 99, 100, 198, 990]));
    }

    #[test]
    fn no_spurious_digits() {
        let mut samples = vec![184; 999];
        samples.push(185);
        let summary = Summary::of(&samples).unwrap();
        assert_eq!((summary.mean, summary.stddev), (184.001, 0.0316));
        assert_eq!(Summary::of(&[9]).unwrap().stddev, 0.0);
        assert_eq!(Summary::of(&[]), None);
    }
}
