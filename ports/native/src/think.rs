//! What a thread does between receiving a message and sending the next one: it lets time pass.

use crate::counter;

/// How think times scatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scatter {
    /// Exponentially (S1-E02).
    Exponential,
    /// Not at all.
    Constant,
}

/// Times in a table.
const ROOM: usize = 1 << 12;

/// Think times in the order in which they pass, computed beforehand.
pub struct Think {
    times: Vec<u64>,
    next: usize,
}

impl Think {
    /// No time at all.
    pub const NONE: Think = Think { times: Vec::new(), next: 0 };

    /// Times of this mean in ticks; the seed is of one CPU.
    pub fn new(mean: u64, scatter: Scatter, seed: u64) -> Think {
        if mean == 0 {
            return Think::NONE;
        }
        let mut random = seed;
        let mut time = || match scatter {
            Scatter::Constant => mean,
            Scatter::Exponential => (-(mean as f64) * uniform(&mut random).ln()).round() as u64,
        };
        Think { times: (0..ROOM).map(|_| time()).collect(), next: 0 }
    }

    /// Lets the next time pass.
    #[inline(always)]
    pub fn pass(&mut self) {
        if !self.times.is_empty() {
            let until = counter::now() + self.times[self.next % ROOM];
            self.next += 1;
            while counter::now() < until {}
        }
    }
}

/// A number above 0 and at most 1 (splitmix64).
pub fn uniform(state: &mut u64) -> f64 {
    ((random(state) >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// 64 random bits.
pub fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_times_have_their_mean_and_spread() {
        let think = Think::new(4000, Scatter::Exponential, 1);
        let count = think.times.len() as f64;
        let mean = think.times.iter().sum::<u64>() as f64 / count;
        let squares = think.times.iter().map(|time| (*time as f64 - mean).powi(2));
        let deviation = (squares.sum::<f64>() / count).sqrt();
        // The standard error of the mean of 4,096 times is 1.6 %.
        assert!((mean / 4000.0 - 1.0).abs() < 0.08, "{mean}");
        assert!((deviation / 4000.0 - 1.0).abs() < 0.12, "{deviation}");
    }

    #[test]
    fn constant_times_are_constant_and_none_is_none() {
        let think = Think::new(500, Scatter::Constant, 1);
        assert!(think.times.iter().all(|time| *time == 500));
        assert!(Think::new(0, Scatter::Exponential, 1).times.is_empty());
    }

    #[test]
    fn seeds_differ() {
        let times = |seed| Think::new(1000, Scatter::Exponential, seed).times;
        assert!(times(1) == times(1) && times(1) != times(2));
    }

    #[test]
    fn time_passes() {
        let mut think = Think::new(10_000, Scatter::Constant, 1);
        let begun = counter::settled();
        think.pass();
        assert!(counter::settled() - begun >= 10_000);
    }
}
