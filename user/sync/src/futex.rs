//! A pair of words, which is one shared word of 64 bits: the first in its low half.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use rt::Words;
use rt::futex::Scope;

/// Bits of the first word.
const FIRST: u64 = u32::MAX as u64;

/// A pair of words.
#[derive(Clone, Copy)]
pub(crate) struct Futex {
    pair: &'static AtomicU64,
    pub address: u64,
    pub scope: Scope,
}

impl Futex {
    /// The pair in a word of these.
    pub fn new(words: Words, index: usize, scope: Scope) -> Futex {
        let address = words.address() + 8 * index as u64;
        Futex { pair: words.word(index), address, scope }
    }

    /// Sets the first word from one value to another, while the second one is 0.
    #[inline(always)]
    pub fn swap(&self, from: u32, to: u32) -> bool {
        self.pair.compare_exchange(from.into(), to.into(), AcqRel, Relaxed).is_ok()
    }

    /// Both words.
    pub fn load(&self) -> u64 {
        self.pair.load(Acquire)
    }

    /// Sets the first word, if both are what was `seen`.
    pub fn replace(&self, seen: u64, first: u32) -> bool {
        let new = seen & !FIRST | u64::from(first);
        self.pair.compare_exchange(seen, new, AcqRel, Relaxed).is_ok()
    }

    /// Counts the first word up by one, whatever the kernel does with the second one meanwhile,
    /// when a thread begins to wait. No other thread counts.
    pub fn count(&self) {
        loop {
            let seen = self.load();
            if self.replace(seen, first(seen).wrapping_add(1)) {
                break;
            }
        }
    }
}

/// The first of two words.
pub(crate) fn first(pair: u64) -> u32 {
    (pair & FIRST) as u32
}
