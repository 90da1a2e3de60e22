//! Random numbers that a seed determines, on every host and for ever.

/// A generator (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn of(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// An exponentially distributed time: -mean ln U with U above 0 and at most 1.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        let uniform = ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        -mean * uniform.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_times_have_their_moments() {
        let mut random = Random::of(1);
        let times: Vec<f64> = (0..200_000).map(|_| random.exponential(358.0)).collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let square = times.iter().map(|time| time * time).sum::<f64>() / times.len() as f64;
        assert!((mean / 358.0 - 1.0).abs() < 0.01, "{mean}");
        assert!((square / (2.0 * 358.0 * 358.0) - 1.0).abs() < 0.03, "{square}");
        assert!(times.iter().all(|time| *time >= 0.0 && time.is_finite()));
    }
}
