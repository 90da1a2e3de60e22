//! Fixed priorities: the set of non-empty priority levels as a bitmap tree (S0-07).
//!
//! The lower level has one bit for each of 256 priorities, the upper one a bit for each lower
//! word, so that the highest level is found in two find-highest-set steps.

use cells::Cell;

const WORDS: usize = 4;

/// The set of priority levels that hold a thread.
#[derive(Debug, Default)]
pub struct Levels {
    upper: Cell<u64>,
    lower: [Cell<u64>; WORDS],
}

impl Levels {
    /// The empty set.
    pub const fn new() -> Levels {
        Levels { upper: Cell::new(0), lower: [const { Cell::new(0) }; WORDS] }
    }

    /// Adds a level. O(1).
    #[inline]
    pub fn insert(&self, level: u8) {
        let word = (level >> 6) as usize;
        let lower = &self.lower[word];
        lower.set(lower.get() | 1 << (level & 63));
        self.upper.set(self.upper.get() | 1 << word);
    }

    /// Removes a level. O(1).
    #[inline]
    pub fn remove(&self, level: u8) {
        let word = (level >> 6) as usize;
        let lower = &self.lower[word];
        lower.set(lower.get() & !(1 << (level & 63)));
        if lower.get() == 0 {
            self.upper.set(self.upper.get() & !(1 << word));
        }
    }

    /// The highest level in the set, in two steps.
    #[inline]
    pub fn highest(&self) -> Option<u8> {
        let word = self.upper.get().checked_ilog2()?;
        let bit = self.lower[word as usize & (WORDS - 1)].get().checked_ilog2()?;
        Some((word << 6 | bit) as u8)
    }

    /// Whether the set holds this level and no other.
    pub fn is_only(&self, level: u8) -> bool {
        let word = (level >> 6) as usize;
        self.upper.get() == 1 << word && self.lower[word].get() == 1 << (level & 63)
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.upper.get() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Levels;
    use proptest::prelude::*;
    extern crate std;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_a_set(steps in prop::collection::vec((any::<bool>(), any::<u8>()), 0..600)) {
            let levels = Levels::new();
            let mut model = BTreeSet::new();
            for (insert, level) in steps {
                if insert {
                    levels.insert(level);
                    model.insert(level);
                } else {
                    levels.remove(level);
                    model.remove(&level);
                }
                prop_assert_eq!(levels.highest(), model.last().copied());
                prop_assert_eq!(levels.is_empty(), model.is_empty());
                prop_assert_eq!(levels.is_only(level), model.len() == 1 && model.contains(&level));
            }
        }
    }
}
