//! Random numbers that a seed determines, on every host and for ever.

/// A generator: PCG XSL RR 128/64, whose streams are independent of each other.
#[derive(Clone, Debug)]
pub struct Random {
    state: u128,
    increment: u128,
}

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

impl Random {
    /// The generator of a seed.
    pub fn of(seed: u64) -> Random {
        Random::stream(seed, 0)
    }

    /// One of the generators of a seed.
    pub fn stream(seed: u64, stream: u64) -> Random {
        let mut random = Random { state: 0, increment: u128::from(stream) << 1 | 1 };
        random.step();
        random.state = random.state.wrapping_add(seed.into());
        random.step();
        random
    }

    fn step(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    fn next(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// Uniform, at least 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An exponentially distributed time: -mean ln U with U above 0 and at most 1.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }

    /// Uniform, at least 0 and below `most`; 0 if that is 0. Off by less than `most` in 2^64.
    pub fn below(&mut self, most: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(most)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_reference() {
        // What the reference implementation prints for seed 42 and stream 54.
        let mut random = Random::stream(42, 54);
        let expected = [
            0x86b1_da1d_7206_2b68,
            0x1304_aa46_c985_3d39,
            0xa367_0e9e_0dd5_0358,
            0xf909_0e52_9a7d_ae00,
            0xc85b_9fd8_3799_6f2c,
            0x6061_21f8_e391_9196,
        ];
        assert_eq!(expected.map(|_| random.next()), expected);
    }

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

    #[test]
    fn numbers_are_within_their_bounds() {
        let mut random = Random::of(1);
        let mut seen = [0; 5];
        for _ in 0..10_000 {
            seen[random.below(5) as usize] += 1;
            assert!((0.0..1.0).contains(&random.uniform()));
        }
        assert!(seen.iter().all(|count| (1_800..2_200).contains(count)), "{seen:?}");
        assert_eq!(random.below(0), 0);
    }
}
