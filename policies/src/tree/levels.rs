//! When a CPU has run something of each priority last: so since when all that it runs is above one.

use abi::reservation::LEVELS;

/// Priorities of a part, of which there is one more instant: a question looks at as many as there
/// are in a part, and at as many parts as there are.
const PART: usize = 32;
const PARTS: usize = LEVELS as usize / PART;

/// What a CPU has run, by the priority of that below its root. It has run something of priority 0
/// where it idled, or ran what is in the background or in the class that all CPUs share.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Levels {
    /// When something of each has run last.
    last: [u64; LEVELS as usize],
    /// The latest of each part.
    parts: [u64; PARTS],
}

impl Levels {
    /// It has run nothing so far.
    pub(super) const NEW: Levels = Levels { last: [0; LEVELS as usize], parts: [0; PARTS] };

    /// Something of this priority has run until now.
    #[inline(always)]
    pub(super) fn ran(&mut self, level: u16, now: u64) {
        if let Some(last) = self.last.get_mut(usize::from(level)) {
            (*last, self.parts[usize::from(level) / PART]) = (now, now);
        }
    }

    /// Since when all that has run is above this priority.
    pub(super) fn above_since(&self, level: u16) -> u64 {
        let end = usize::from(level) + 1;
        let (whole, rest) = (end / PART, end / PART * PART);
        let parts = self.parts.iter().take(whole);
        let single = self.last.iter().take(end).skip(rest);
        parts.chain(single).copied().max().unwrap_or(0)
    }
}
