//! Numbers from a seed, for tests of what depends on nothing.

/// A generator.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 16 ^ self.0 << 40
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
