//! Shared words as bytes, in the order of the machine's least significant byte first.
//!
//! A copy is not atomic as a whole, only each of its words is: writers and readers agree by other
//! means when it is complete. A byte that is not copied is never changed.

use crate::shared::Words;
use core::sync::atomic::Ordering;

/// Bytes in a word.
const WORD: usize = 8;

impl Words {
    /// Copies bytes out, from the one at `offset` on.
    ///
    /// # Panics
    ///
    /// If they are not all there.
    #[track_caller]
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        self.check(offset, into.len());
        let mut into = into;
        for (at, skip, count) in parts(offset, into.len()) {
            let (part, rest) = into.split_at_mut(count);
            part.copy_from_slice(&self.get(at).to_le_bytes()[skip..skip + count]);
            into = rest;
        }
    }

    /// Copies bytes in, from the one at `offset` on. In a word of which only a part is written,
    /// another thread may see that part as zeros for a moment.
    ///
    /// # Panics
    ///
    /// If there is no room.
    #[track_caller]
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        self.check(offset, bytes.len());
        let mut bytes = bytes;
        for (at, skip, count) in parts(offset, bytes.len()) {
            let (part, rest) = bytes.split_at(count);
            let (mut value, mut mask) = ([0; WORD], [0; WORD]);
            value[skip..skip + count].copy_from_slice(part);
            mask[skip..skip + count].fill(0xff);
            let (value, mask) = (u64::from_le_bytes(value), u64::from_le_bytes(mask));
            if count == WORD {
                self.set(at, value);
            } else {
                // Two steps: a loop that compares could be kept from ending by another writer.
                self.word(at).fetch_and(!mask, Ordering::Relaxed);
                self.word(at).fetch_or(value, Ordering::Relaxed);
            }
            bytes = rest;
        }
    }

    #[track_caller]
    fn check(&self, offset: usize, count: usize) {
        let all = WORD * self.len();
        let fits = offset.checked_add(count).is_some_and(|end| end <= all);
        assert!(fits, "{count} bytes from byte {offset} of {all}");
    }
}

/// The words that some bytes lie in: index, bytes before them, how many.
fn parts(offset: usize, count: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let end = offset + count;
    (offset / WORD..end.div_ceil(WORD)).filter_map(move |at| {
        let (low, high) = (offset.max(WORD * at), end.min(WORD * (at + 1)));
        (low < high).then(|| (at, low - WORD * at, high - low))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{self, BASE};
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(any::<u8>(), 0..30)
    }

    proptest! {
        #[test]
        fn bytes_come_back_and_their_neighbours_stay(
            copies in prop::collection::vec((0usize..=64, bytes()), 1..20),
        ) {
            let _machine = machine::install(1);
            let (words, mut model) = (Words::at(BASE, 96), [0u8; 96]);
            for (offset, bytes) in copies {
                words.write(offset, &bytes);
                model[offset..offset + bytes.len()].copy_from_slice(&bytes);
                let mut back = vec![0; bytes.len()];
                words.read(offset, &mut back);
                prop_assert_eq!(back, bytes);
                let all: Vec<u8> = (0..12).flat_map(|at| words.get(at).to_le_bytes()).collect();
                prop_assert_eq!(&all[..], &model[..]);
            }
        }
    }

    #[test]
    #[should_panic(expected = "2 bytes from byte 15 of 16")]
    fn the_end_is_guarded() {
        let _machine = machine::install(1);
        Words::at(BASE, 16).write(15, &[0; 2]);
    }

    #[test]
    #[should_panic(expected = "1 bytes from byte 18446744073709551615 of 16")]
    fn no_offset_wraps_around() {
        let _machine = machine::install(1);
        Words::at(BASE, 16).read(usize::MAX, &mut [0]);
    }
}
