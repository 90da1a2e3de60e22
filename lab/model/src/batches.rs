//! Batch means: an interval for the mean of a series whose members depend on each other.
//!
//! Long batches hardly depend on each other, so the scatter of their means tells how far the mean
//! of them all may be off.

use crate::Interval;

/// Means of batches.
#[derive(Default)]
pub struct Batches(Vec<f64>);

impl Batches {
    pub fn push(&mut self, mean: f64) {
        self.0.push(mean);
    }

    /// The mean of at least two batches.
    pub fn interval(&self) -> Interval {
        let count = self.0.len() as f64;
        let mean = self.0.iter().sum::<f64>() / count;
        let squares: f64 = self.0.iter().map(|own| (own - mean).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        Interval::of(mean, error, self.0.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_interval() {
        let mut batches = Batches::default();
        [4.0, 6.0, 5.0, 5.0].into_iter().for_each(|mean| batches.push(mean));
        let interval = batches.interval();
        // s = sqrt(2/3), t(3) = 3.182.
        assert_eq!(interval.value, 5.0);
        assert!((interval.reach() - 3.182 * (2.0f64 / 3.0).sqrt() / 2.0).abs() < 1e-3);
    }
}
