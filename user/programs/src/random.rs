//! Random numbers by seed, for workloads.

/// The natural logarithm of 2, in units of 2^-40.
const LN_2: u64 = 762_123_384_786;

/// -log2(bits / 2^64) in units of 2^-20, for bits above 0.
fn minus_log2(bits: u64) -> u64 {
    let zeros = bits.leading_zeros();
    // From 1 to 2, in units of 2^-63: each squaring tells a binary digit of its logarithm.
    let mut mantissa = bits << zeros;
    let mut digits = 0;
    for _ in 0..20 {
        let square = (u128::from(mantissa) * u128::from(mantissa)) >> 63;
        let carry = square >> 64;
        mantissa = (square >> carry) as u64;
        digits = digits << 1 | carry as u64;
    }
    (u64::from(zeros + 1) << 20) - digits
}

/// A generator (xorshift64*).
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        (self.bits() >> 33) % n
    }

    /// A number from an exponential distribution with this mean, which is below 2^32.
    pub fn exponential(&mut self, mean: u64) -> u64 {
        // -ln U for a U of 0 to 1.
        let logarithm = minus_log2(self.bits() | 1) as u128 * LN_2 as u128;
        ((mean as u128 * logarithm + (1 << 59)) >> 60) as u64
    }

    /// Brings a slice into random order.
    pub fn shuffle<T>(&mut self, slice: &mut [T]) {
        for last in (1..slice.len()).rev() {
            slice.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}
