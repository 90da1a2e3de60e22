//! Comparing two sets of samples that were taken under the same seeds: exactly where every seed
//! gives the same difference, else by a confidence interval and an effect size.
//!
//! A seed decides the workload, so both sides of a pair did the same work. What differs from seed
//! to seed is the difference itself, and only seeds count as repetitions: the rounds of one run
//! are not independent of each other. The interval is that of Student's t over the seeds.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Effects below this are negligible (Romano and others).
pub const NEGLIGIBLE: f64 = 0.147;
/// How sure the interval is.
const CONFIDENCE: f64 = 0.95;

/// What two kernels gave under one seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// Samples of the first.
    pub a: Vec<u64>,
    /// Samples of the second.
    pub b: Vec<u64>,
}

/// What kind of answer a comparison is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Every sample is the same on both sides.
    Identical,
    /// Every seed gives the same difference.
    Exact,
    /// The seeds differ, but chance alone does not explain it.
    Significant,
    /// It may be chance.
    NotSignificant,
    /// The samples scatter, and one seed does not say how much.
    Unknown,
}

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
    /// What kind of answer this is.
    pub answer: Answer,
    /// The ends of the 95 % confidence interval of the difference, where it varies.
    pub interval: Option<(f64, f64)>,
    /// Cliff's delta over all samples: how much likelier one of the second is above one of the
    /// first than below it, from -1 to 1.
    pub effect: f64,
    /// The standard deviation of single samples, within a side and a seed.
    pub spread: f64,
}

impl Difference {
    /// Compares the pairs of all seeds; `None` without samples.
    pub fn of(pairs: &[Pair]) -> Option<Difference> {
        if pairs.is_empty() || pairs.iter().any(|pair| pair.a.is_empty() || pair.b.is_empty()) {
            return None;
        }
        let side = |side: fn(&Pair) -> &[u64]| {
            mean(&pairs.iter().map(|pair| mean_of(side(pair))).collect::<Vec<_>>())
        };
        let (a, b) = (side(|pair| &pair.a), side(|pair| &pair.b));
        let each: Vec<f64> = pairs.iter().map(|pair| mean_of(&pair.b) - mean_of(&pair.a)).collect();
        let interval = if same_in_each(pairs) { None } else { interval(&each) };
        let more = mean(&each);
        Some(Difference {
            a,
            b,
            more,
            percent: (a != 0.0).then(|| more / a * 100.0),
            answer: answer(pairs, interval),
            interval,
            effect: cliffs_delta(pairs),
            spread: spread(pairs),
        })
    }

    /// Whether there is one at all: exactly, or beyond chance.
    pub fn is_one(&self) -> bool {
        match self.answer {
            Answer::Exact => self.more != 0.0,
            answer => answer == Answer::Significant,
        }
    }

    /// The effect in a word, by the usual thresholds (Romano and others).
    pub fn size(&self) -> &'static str {
        match self.effect.abs() {
            effect if effect < NEGLIGIBLE => "negligible",
            effect if effect < 0.33 => "small",
            effect if effect < 0.474 => "medium",
            _ => "large",
        }
    }
}

/// By how much one kernel takes more than another over many cases.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overall {
    /// By how many percent the second takes more: the geometric mean of all cases.
    pub percent: f64,
    /// Its 95 % confidence interval, where seeds differ.
    pub interval: Option<(f64, f64)>,
}

impl Overall {
    /// From the pairs of all seeds of each case; `None` without cases, or with a mean of zero.
    pub fn of(cases: &[&[Pair]]) -> Option<Overall> {
        let seeds = cases.first()?.len();
        let ratio = |seed: usize| {
            let logs = cases.iter().map(|case| {
                let pair = case.get(seed)?;
                let ratio = mean_of(&pair.b) / mean_of(&pair.a);
                (ratio.is_finite() && ratio > 0.0).then(|| ratio.ln())
            });
            Some(mean(&logs.collect::<Option<Vec<f64>>>()?))
        };
        let logs: Vec<f64> = (0..seeds).map(ratio).collect::<Option<_>>()?;
        let percent = |log: f64| log.exp_m1() * 100.0;
        let exact = cases.iter().all(|case| repeated(case));
        let interval = if exact { None } else { interval(&logs) };
        let interval = interval.map(|(low, high)| (percent(low), percent(high)));
        (seeds > 0).then(|| Overall { percent: percent(mean(&logs)), interval })
    }
}

fn answer(pairs: &[Pair], interval: Option<(f64, f64)>) -> Answer {
    let steady = |samples: &[u64]| samples.iter().all(|sample| *sample == samples[0]);
    let scatters = pairs.iter().any(|pair| !steady(&pair.a) || !steady(&pair.b));
    match interval {
        _ if pairs.iter().all(|pair| pair.a == pair.b) => Answer::Identical,
        None if pairs.len() == 1 && scatters => Answer::Unknown,
        None => Answer::Exact,
        Some((low, high)) if low > 0.0 || high < 0.0 => Answer::Significant,
        Some(_) => Answer::NotSignificant,
    }
}

/// Whether every seed gives the very same samples.
fn repeated(pairs: &[Pair]) -> bool {
    pairs.windows(2).all(|two| two[0] == two[1])
}

/// Whether every seed gives the same difference of means, compared as fractions.
fn same_in_each(pairs: &[Pair]) -> bool {
    let sum = |samples: &[u64]| samples.iter().map(|sample| i128::from(*sample)).sum::<i128>();
    let fraction = |pair: &Pair| {
        let (a, b) = (pair.a.len() as i128, pair.b.len() as i128);
        (sum(&pair.b) * a - sum(&pair.a) * b, a * b)
    };
    let first = fraction(&pairs[0]);
    pairs.iter().map(fraction).all(|(above, below)| above * first.1 == first.0 * below)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn mean_of(samples: &[u64]) -> f64 {
    let sum: u128 = samples.iter().map(|sample| u128::from(*sample)).sum();
    sum as f64 / samples.len() as f64
}

/// The confidence interval of the mean of independent values; `None` for a single one.
fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let freedom = values.len().checked_sub(1).filter(|freedom| *freedom > 0)? as f64;
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (squares / freedom / values.len() as f64).sqrt();
    let distribution = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let half = distribution.inverse_cdf(0.5 + CONFIDENCE / 2.0) * error;
    Some((mean - half, mean + half))
}

/// The standard deviation within a side and a seed, over all of them.
fn spread(pairs: &[Pair]) -> f64 {
    let sides = || pairs.iter().flat_map(|pair| [&pair.a, &pair.b]);
    let squares = sides().map(|samples| {
        let mean = mean_of(samples);
        samples.iter().map(|sample| (*sample as f64 - mean).powi(2)).sum::<f64>()
    });
    let freedom: usize = sides().map(|samples| samples.len() - 1).sum();
    if freedom == 0 { 0.0 } else { (squares.sum::<f64>() / freedom as f64).sqrt() }
}

fn cliffs_delta(pairs: &[Pair]) -> f64 {
    let mut sorted: Vec<u64> = pairs.iter().flat_map(|pair| &pair.a).copied().collect();
    sorted.sort_unstable();
    let balance = |sample: &u64| {
        let below = sorted.partition_point(|other| other < sample);
        let not_above = sorted.partition_point(|other| other <= sample);
        below as f64 - (sorted.len() - not_above) as f64
    };
    let theirs = || pairs.iter().flat_map(|pair| &pair.b);
    theirs().map(balance).sum::<f64>() / (sorted.len() * theirs().count()) as f64
}

#[cfg(test)]
mod tests;
