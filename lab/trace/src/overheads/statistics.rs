//! Statistics of samples of one overhead.

use results::{Figure, Summary};

/// What samples come down to. All but the mean are samples or midpoints of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// How many samples.
    pub n: u64,
    /// The least.
    pub min: u64,
    /// The lower hinge.
    pub q1: Figure,
    /// The median.
    pub median: Figure,
    /// The arithmetic mean.
    pub mean: f64,
    /// The upper hinge.
    pub q3: Figure,
    /// The least sample that at least 99 of 100 do not exceed.
    pub p99: u64,
    /// The greatest.
    pub max: u64,
}

impl Statistics {
    /// The statistics of at least one sample, in any order.
    pub fn of(samples: &[u64]) -> Option<Statistics> {
        let Summary { min, q1, median, mean, q3, max, n, .. } = Summary::of(samples)?;
        let mut sorted = samples.to_vec();
        let rank = (sorted.len() * 99).div_ceil(100);
        let (_, &mut p99, _) = sorted.select_nth_unstable(rank - 1);
        Some(Statistics { n, min, q1, median, mean, q3, p99, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_99th_percentile_is_a_sample() {
        let p99 = |count: u64| Statistics::of(&(1..=count).rev().collect::<Vec<_>>()).unwrap().p99;
        assert_eq!([1, 2, 99, 100, 101, 200, 1000].map(p99), [1, 2, 99, 99, 100, 198, 990]);
        assert_eq!(Statistics::of(&[]), None);
    }
}
