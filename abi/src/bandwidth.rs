//! Bandwidths: what budgets take of a CPU, and what classes have, in parts that are finer than any
//! clock.
//!
//! What is taken is rounded down and what there is up, so that budgets that fill their class
//! exactly fit, whatever their periods. Each budget then exceeds the class by less than a part:
//! less than half a microsecond a year.

use crate::reservation::WHOLE;

/// The parts of a whole CPU.
pub const CPU: u64 = 1 << BITS;
const BITS: u32 = 56;

/// What a budget within a time takes, in parts of [`CPU`], rounded down.
pub fn taken(budget: u64, within: u64) -> u64 {
    clamped((u128::from(budget) << BITS) / u128::from(within.max(1)))
}

/// What a budget in each period brings, in parts of [`CPU`], rounded up to the next one.
pub fn brought(budget: u64, period: u64) -> u64 {
    taken(budget, period).saturating_add(1)
}

/// Millionths of a CPU, of 256 CPUs at most, in parts of [`CPU`], rounded up.
pub fn from_millionths(millionths: u32) -> u64 {
    // In two steps, as they do not fit into 64 bits in one.
    const LOW: u32 = 20;
    let (whole, high) = (u64::from(WHOLE), u64::from(millionths) << (BITS - LOW));
    ((high / whole) << LOW) + ((high % whole) << LOW).div_ceil(whole)
}

/// Parts of [`CPU`] in millionths of a CPU, rounded down.
pub fn to_millionths(parts: u64) -> u64 {
    clamped((u128::from(parts) * u128::from(WHOLE)) >> BITS)
}

/// What parts of [`CPU`] bring within a time, in millionths of nanoseconds, above by less than one.
pub fn service(parts: u64, time: u64) -> u128 {
    const LOW: u32 = 20;
    let high = BITS - LOW;
    let product = u128::from(parts) * u128::from(time);
    (((product + ((1 << high) - 1)) >> high) * u128::from(WHOLE)) >> LOW
}

fn clamped(wide: u128) -> u64 {
    u64::try_from(wide).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirds_fill_a_whole() {
        assert!(3 * taken(1, 3) <= CPU && 3 * taken(1, 3) + 3 > CPU);
        assert_eq!([taken(7, 7), brought(7, 7), taken(2, 4)], [CPU, CPU + 1, CPU / 2]);
        assert_eq!(taken(1_000, crate::reservation::LONGEST), 15, "it is not nothing");
        assert_eq!([taken(u64::MAX, 0), brought(u64::MAX, 0)], [u64::MAX; 2]);
    }

    #[test]
    fn millionths_come_back() {
        for millionths in [0, 1, 3, 333_333, 999_999, WHOLE, 64 * WHOLE] {
            let parts = from_millionths(millionths);
            let exact = u128::from(millionths) * u128::from(CPU);
            assert_eq!(u128::from(parts), exact.div_ceil(u128::from(WHOLE)));
            assert_eq!(to_millionths(parts), u64::from(millionths));
            for time in [0, 1, 999, 1 << 34] {
                assert_eq!(service(parts, time), u128::from(time) * u128::from(millionths));
            }
        }
        assert_eq!(service(brought(1, 3), 3), u128::from(WHOLE));
    }
}
