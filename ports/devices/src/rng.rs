//! Random numbers by seed.

use std::cell::Cell;

/// A generator (SplitMix64).
pub struct Rng(Cell<u64>);

impl Rng {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Rng {
        Rng(Cell::new(seed))
    }

    /// The next number.
    pub fn next(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// True once in `n` times; never for 0.
    pub fn once_in(&self, n: u64) -> bool {
        n > 0 && self.next().is_multiple_of(n)
    }
}
