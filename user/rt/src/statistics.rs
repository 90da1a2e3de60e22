//! Statistics of the kernel for the laboratory, in the layout of [`abi::statistics`].

use crate::{Slot, Words, system};
use abi::Error;
use abi::call::Observe;
use abi::statistics::{Counter, LENGTHS, MAGIC, WORD_COUNTERS, WORD_LENGTHS};

/// All counters begin again. A kernel that was built without statistics refuses with
/// [`Error::UnknownCall`].
pub fn reset(system: Slot) -> Result<(), Error> {
    system::observe(system, Observe::Reset, 0)
}

/// Writes all counters and the lengths of the ready queue to memory of at least
/// [`WORDS`](abi::statistics::WORDS) words; nothing if the kernel was built without statistics,
/// which is refused with [`Error::InvalidArgument`]. Reading them blocks no thread and sends
/// nothing, so that the counters stand still unless an interrupt comes.
pub fn leave(system: Slot, words: Words) -> Result<(), Error> {
    for counter in Counter::ALL {
        words.set(WORD_COUNTERS + counter as usize, system::counter(system, counter)?);
    }
    for length in 0..LENGTHS {
        words.set(WORD_LENGTHS + length, system::length(system, length)?);
    }
    words.set(0, MAGIC);
    Ok(())
}
