//! The note of the call that failed last, where a program has its address space to itself.

use crate::Env;
use crate::noted::WORDS;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

static NOTE: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];

/// Writes it.
pub(crate) fn write(words: [u64; WORDS]) {
    NOTE.iter().zip(words).for_each(|(to, word)| to.store(word, Relaxed));
}

/// What it says; zeros if no call has failed.
pub(crate) fn read() -> [u64; WORDS] {
    core::array::from_fn(|index| NOTE[index].load(Relaxed))
}

/// Whether an address, at which a thread has stood, is in the stack of the one that calls.
pub(crate) fn is_own(env: &Env, stack: u64) -> bool {
    let own = crate::noted::stack();
    // Of a stack that the manifest does not lay out it is not known where it ends.
    env.stack_of(own).is_some_and(|now| env.stack_of(stack) == Some(now))
}
