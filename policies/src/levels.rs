//! The set of priority levels that hold a thread, as a bitmap tree (S0-07): a lower row with a bit
//! for each of 256 levels, and an upper word with a bit for each lower word that is not zero. The
//! highest level is found in two find-highest-set steps.

/// Words of the lower row.
pub const WORDS: usize = 4;
/// Bits of a level's number that say where it is in its word.
const BITS: u32 = 6;

/// The lower word that a level is in.
#[inline(always)]
pub const fn word(level: u8) -> usize {
    (level >> BITS) as usize
}

/// A lower word with a level of it added.
#[inline(always)]
pub const fn with(lower: u64, level: u8) -> u64 {
    lower | bit(level)
}

/// A lower word with a level of it removed.
#[inline(always)]
pub const fn without(lower: u64, level: u8) -> u64 {
    lower & !bit(level)
}

/// A lower word that holds one level alone.
#[inline(always)]
pub const fn bit(level: u8) -> u64 {
    1 << (level & 63)
}

/// The upper word once a level's lower word is not zero.
#[inline(always)]
pub const fn with_word(upper: u64, level: u8) -> u64 {
    upper | 1 << word(level)
}

/// The upper word once a level's lower word is zero.
#[inline(always)]
pub const fn without_word(upper: u64, level: u8) -> u64 {
    upper & !(1 << word(level))
}

/// The highest level: `lower` gives the words of the lower row.
#[inline(always)]
pub fn highest(upper: u64, lower: impl FnOnce(usize) -> u64) -> Option<u8> {
    let word = upper.checked_ilog2()?;
    let bit = lower(word as usize & (WORDS - 1)).checked_ilog2()?;
    Some((word << BITS | bit) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    extern crate std;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_a_set(steps in prop::collection::vec((any::<bool>(), any::<u8>()), 0..600)) {
            let (mut top, mut row) = (0, [0; WORDS]);
            let mut model = BTreeSet::new();
            for (insert, level) in steps {
                let lower = &mut row[word(level)];
                if insert {
                    *lower = with(*lower, level);
                    top = with_word(top, level);
                    model.insert(level);
                } else {
                    *lower = without(*lower, level);
                    if *lower == 0 {
                        top = without_word(top, level);
                    }
                    model.remove(&level);
                }
                prop_assert_eq!(highest(top, |word| row[word]), model.last().copied());
                prop_assert_eq!(top == 0, model.is_empty());
                let only = top == with_word(0, level) && row[word(level)] == bit(level);
                prop_assert_eq!(only, model.len() == 1 && model.contains(&level));
            }
        }
    }
}
