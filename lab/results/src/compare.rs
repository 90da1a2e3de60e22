//! Comparing two sets of samples: exactly where they do not scatter, else by a confidence interval
//! and an effect size.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// How sure the interval is.
const CONFIDENCE: f64 = 0.95;

/// What separates two sets of samples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Mean of the first.
    pub a: f64,
    /// Mean of the second.
    pub b: f64,
    /// By how much the second is more.
    pub more: f64,
    /// The same in percent of the first; `None` if that is zero.
    pub percent: Option<f64>,
    /// Neither scatters: the difference is exact.
    pub exact: bool,
    /// The ends of the 95 % confidence interval of the difference of the means (Welch).
    pub interval: (f64, f64),
    /// Cliff's delta: how much likelier a sample of the second is above one of the first than
    /// below it, from -1 to 1.
    pub effect: f64,
}

impl Difference {
    /// Compares two sets; `None` if one is empty.
    pub fn of(a: &[f64], b: &[f64]) -> Option<Difference> {
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let (mean_a, error_a) = mean_and_error(a);
        let (mean_b, error_b) = mean_and_error(b);
        let more = mean_b - mean_a;
        let exact = scatterless(a) && scatterless(b);
        let half = if exact { 0.0 } else { half_width((a.len(), error_a), (b.len(), error_b)) };
        Some(Difference {
            a: mean_a,
            b: mean_b,
            more,
            percent: (mean_a != 0.0).then(|| more / mean_a * 100.0),
            exact,
            interval: (more - half, more + half),
            effect: cliffs_delta(a, b),
        })
    }

    /// Whether there is one at all: exactly, or beyond chance.
    pub fn is_significant(&self) -> bool {
        if self.exact { self.more != 0.0 } else { self.interval.0 > 0.0 || self.interval.1 < 0.0 }
    }

    /// The effect in a word, by the usual thresholds.
    pub fn size(&self) -> &'static str {
        match self.effect.abs() {
            effect if effect < 0.147 => "negligible",
            effect if effect < 0.33 => "small",
            effect if effect < 0.474 => "medium",
            _ => "large",
        }
    }
}

fn scatterless(samples: &[f64]) -> bool {
    samples.iter().all(|sample| *sample == samples[0])
}

/// The mean, and its squared standard error.
fn mean_and_error(samples: &[f64]) -> (f64, f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    (mean, if n > 1.0 { squares / (n - 1.0) / n } else { 0.0 })
}

/// Half the confidence interval, with the degrees of freedom of Welch and Satterthwaite.
fn half_width((n_a, a): (usize, f64), (n_b, b): (usize, f64)) -> f64 {
    let share = |n: usize, error: f64| if n > 1 { error * error / (n - 1) as f64 } else { 0.0 };
    let freedom = (a + b).powi(2) / (share(n_a, a) + share(n_b, b));
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(distribution) => distribution.inverse_cdf(0.5 + CONFIDENCE / 2.0) * (a + b).sqrt(),
        // A single sample of what scatters says nothing about how much.
        Err(_) => f64::INFINITY,
    }
}

fn cliffs_delta(a: &[f64], b: &[f64]) -> f64 {
    let mut sorted = a.to_vec();
    sorted.sort_by(f64::total_cmp);
    let balance: f64 = b
        .iter()
        .map(|sample| {
            let below = sorted.partition_point(|other| other < sample);
            let not_above = sorted.partition_point(|other| other <= sample);
            below as f64 - (sorted.len() - not_above) as f64
        })
        .sum();
    balance / (a.len() * b.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_scatter_is_compared_exactly() {
        let difference = Difference::of(&[200.0; 5], &[250.0; 3]).unwrap();
        assert!(difference.exact && difference.is_significant());
        assert_eq!((difference.more, difference.percent), (50.0, Some(25.0)));
        assert_eq!((difference.interval, difference.effect), ((50.0, 50.0), 1.0));
        let same = Difference::of(&[7.0], &[7.0, 7.0]).unwrap();
        assert!(same.exact && !same.is_significant());
        assert_eq!((same.effect, same.size()), (0.0, "negligible"));
    }

    #[test]
    fn the_interval_is_welchs() {
        // The same by an independent computation (SciPy).
        let a = [
            27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7,
            21.4,
        ];
        let b = [
            27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.7,
            24.2,
        ];
        let difference = Difference::of(&a, &b).unwrap();
        assert!((difference.more - 2.8333).abs() < 1e-3, "{difference:?}");
        assert!((difference.interval.0 - 0.786_438).abs() < 1e-5, "{difference:?}");
        assert!((difference.interval.1 - 4.880_228).abs() < 1e-5, "{difference:?}");
        assert!(difference.is_significant());
    }

    #[test]
    fn chance_is_no_difference() {
        let difference = Difference::of(&[1.0, 2.0, 3.0, 4.0], &[1.5, 2.5, 2.5, 3.7]).unwrap();
        assert!(!difference.exact && !difference.is_significant());
        assert!(Difference::of(&[], &[1.0]).is_none());
        assert_eq!(Difference::of(&[1.0], &[2.0, 3.0]).unwrap().size(), "large");
    }
}
