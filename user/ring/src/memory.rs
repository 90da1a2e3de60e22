//! The memory that two ends share.

use crate::{Layout, Receiver, Sender};
use core::sync::atomic::{Ordering, fence};
use rt::Words;

/// Memory that the peer may change at any time.
pub trait Memory {
    /// Its length in words.
    fn words(&self) -> usize;
    /// A word; what its writer wrote before is seen after it (acquire).
    fn load(&self, word: usize) -> u64;
    /// Changes a word, after everything that was written before it (release).
    fn store(&self, word: usize, value: u64);
    /// Orders the stores before it and the loads behind it (sequentially consistent).
    fn fence(&self);
    /// Copies bytes out, from the one at `from` on.
    fn read(&self, from: usize, into: &mut [u8]);
    /// Copies bytes in, from the one at `from` on. It may write zeros up to the end of the last
    /// word.
    fn write(&self, from: usize, bytes: &[u8]);
}

impl Memory for Words {
    fn words(&self) -> usize {
        self.len()
    }

    #[inline]
    fn load(&self, word: usize) -> u64 {
        self.word(word).load(Ordering::Acquire)
    }

    #[inline]
    fn store(&self, word: usize, value: u64) {
        self.word(word).store(value, Ordering::Release);
    }

    #[inline]
    fn fence(&self) {
        fence(Ordering::SeqCst);
    }

    fn read(&self, from: usize, into: &mut [u8]) {
        Words::read(self, from, into);
    }

    fn write(&self, from: usize, bytes: &[u8]) {
        Words::write(self, from, bytes);
    }
}

/// One of the two sides of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It sends in the first channel.
    First,
    /// It sends in the second channel.
    Second,
}

/// The ends of a link, two channels of the same layout one after the other.
///
/// # Panics
///
/// If the memory is too short.
#[track_caller]
pub fn link(memory: Words, layout: Layout, side: Side) -> (Sender<Words>, Receiver<Words>) {
    let words = layout.words();
    let (first, second) = (memory.part(0, words), memory.part(words, words));
    let (out, back) = match side {
        Side::First => (first, second),
        Side::Second => (second, first),
    };
    (Sender::new(out, layout), Receiver::new(back, layout))
}
