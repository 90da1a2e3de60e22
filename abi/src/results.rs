//! The layout of recorded results: how a program hands raw timestamps to the host.
//!
//! A recording is a shared memory object of 64-bit words: a header of [`HEADER_WORDS`], then
//! records of [`RECORD_WORDS`]. The program appends records and updates the count; it computes
//! nothing.

/// First word of a recording that a program has opened.
pub const MAGIC: u64 = u64::from_le_bytes(*b"GIUSTOR1");

/// Words in the header.
pub const HEADER_WORDS: usize = 8;
/// Words in a record: tag, counter value.
pub const RECORD_WORDS: usize = 2;

/// Header word with [`MAGIC`].
pub const WORD_MAGIC: usize = 0;
/// Header words with the kernel's name, as [`Fact::KernelName`](crate::call::Fact) returns it.
pub const WORD_KERNEL: usize = 1;
/// Header word with the number of records written.
pub const WORD_COUNT: usize = 3;
/// Header word that is 1 once the program has finished.
pub const WORD_DONE: usize = 4;
/// Header word with the counter frequency in Hz.
pub const WORD_HZ: usize = 5;
/// Header word with the number of records that did not fit.
pub const WORD_DROPPED: usize = 6;

/// A record's tag: which measurement, which case, which round, and which point in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Which measurement of the experiment.
    pub metric: u16,
    /// Which of its cases.
    pub case: u16,
    /// The round, from 0; warm-up rounds are not recorded.
    pub round: u16,
    /// Which point of the round: [`Tag::BEFORE`] or [`Tag::AFTER`].
    pub point: u16,
}

impl Tag {
    /// The counter was read just before the operation.
    pub const BEFORE: u16 = 0;
    /// The counter was read just after the operation.
    pub const AFTER: u16 = 1;
    /// The metric of back-to-back counter reads, whose least difference is the overhead of
    /// measuring.
    pub const OVERHEAD: u16 = 0xffff;

    /// The tag as a word.
    pub const fn word(self) -> u64 {
        (self.metric as u64) << 48
            | (self.case as u64) << 32
            | (self.round as u64) << 16
            | self.point as u64
    }

    /// The tag in a word.
    pub const fn from_word(word: u64) -> Tag {
        Tag {
            metric: (word >> 48) as u16,
            case: (word >> 32) as u16,
            round: (word >> 16) as u16,
            point: word as u16,
        }
    }
}
