//! Where an archive lies.

use rt::Words;

/// Bytes in a word.
const WORD: usize = 8;

/// Bytes that can be copied out. Their number never changes.
pub trait Bytes {
    /// How many there are.
    fn count(&self) -> usize;

    /// Copies those from `offset` on; the caller asks for none that are not there.
    fn copy(&self, offset: usize, into: &mut [u8]);
}

impl Bytes for Words {
    fn count(&self) -> usize {
        8 * self.len()
    }

    /// Whole words, each put together of two where the bytes do not begin at a word.
    fn copy(&self, offset: usize, into: &mut [u8]) {
        let (first, skip) = (offset / WORD, 8 * (offset % WORD) as u32);
        let (words, rest) = into.as_chunks_mut::<WORD>();
        let end = offset + WORD * words.len();
        if skip == 0 {
            let from = (first..).map(|at| self.get(at).to_le_bytes());
            words.iter_mut().zip(from).for_each(|(word, value)| *word = value);
        } else if !words.is_empty() {
            let mut low = self.get(first) >> skip;
            for (word, at) in words.iter_mut().zip(first + 1..) {
                let high = self.get(at);
                *word = (low | high << (u64::BITS - skip)).to_le_bytes();
                low = high >> skip;
            }
        }
        self.read(end, rest);
    }
}

impl Bytes for [u8] {
    fn count(&self) -> usize {
        self.len()
    }

    fn copy(&self, offset: usize, into: &mut [u8]) {
        into.copy_from_slice(&self[offset..offset + into.len()]);
    }
}

impl<B: Bytes + ?Sized> Bytes for &B {
    fn count(&self) -> usize {
        (**self).count()
    }

    fn copy(&self, offset: usize, into: &mut [u8]) {
        (**self).copy(offset, into);
    }
}
