//! Shared words as bytes, in the order of the machine's least significant byte first.
//!
//! A copy is not atomic as a whole, only each of its words is: writers and readers agree by other
//! means when it is complete. A byte that is not copied is never changed.

use crate::arch::address::word;
use crate::shared::Words;
use abi::Rights;
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
        let (first, skip, head) = head(offset, into.len());
        let (head, into) = into.split_at_mut(head);
        let (whole, tail) = into.as_chunks_mut::<WORD>();
        if !head.is_empty() {
            self.read_part(first - 1, skip, head);
        }
        let begin = self.part(first, whole.len()).address();
        for (at, bytes) in (begin..).step_by(WORD).zip(&mut *whole) {
            *bytes = word(at, Rights::READ).load(Ordering::Relaxed).to_le_bytes();
        }
        if !tail.is_empty() {
            self.read_part(first + whole.len(), 0, tail);
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
        let (first, skip, head) = head(offset, bytes.len());
        let (head, bytes) = bytes.split_at(head);
        let (whole, tail) = bytes.as_chunks::<WORD>();
        if !head.is_empty() {
            self.write_part(first - 1, skip, head);
        }
        let begin = self.part(first, whole.len()).address();
        for (at, bytes) in (begin..).step_by(WORD).zip(whole) {
            word(at, Rights::WRITE).store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
        }
        if !tail.is_empty() {
            self.write_part(first + whole.len(), 0, tail);
        }
    }

    /// Copies some bytes of a word out.
    fn read_part(&self, at: usize, skip: usize, into: &mut [u8]) {
        into.copy_from_slice(&self.get(at).to_le_bytes()[skip..skip + into.len()]);
    }

    /// Copies some bytes of a word in.
    fn write_part(&self, at: usize, skip: usize, bytes: &[u8]) {
        let (mut value, mut mask) = ([0; WORD], [0; WORD]);
        value[skip..skip + bytes.len()].copy_from_slice(bytes);
        mask[skip..skip + bytes.len()].fill(0xff);
        let (value, mask) = (u64::from_le_bytes(value), u64::from_le_bytes(mask));
        // Two steps: a loop that compares could be kept from ending by another writer.
        self.word(at).fetch_and(!mask, Ordering::Relaxed);
        self.word(at).fetch_or(value, Ordering::Relaxed);
    }

    #[track_caller]
    fn check(&self, offset: usize, count: usize) {
        let all = WORD * self.len();
        let fits = offset.checked_add(count).is_some_and(|end| end <= all);
        assert!(fits, "{count} bytes from byte {offset} of {all}");
    }
}

/// Where bytes begin: the first word that begins with one of them, how many bytes of the word
/// before it are not among them, and how many are.
fn head(offset: usize, count: usize) -> (usize, usize, usize) {
    let (first, skip) = (offset.div_ceil(WORD), offset % WORD);
    (first, skip, (first * WORD - offset).min(count))
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
