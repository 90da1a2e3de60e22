//! Recordings: raw timestamps for the laboratory, in the layout of [`abi::results`].

use crate::arch::counter_pair;
use crate::{Words, system};
use abi::call::Fact;
use abi::results::{self, HEADER_WORDS, RECORD_WORDS, Tag};

/// Back-to-back counter reads in each recording.
const OVERHEAD_ROUNDS: u16 = 1000;

/// Appends records to a recording.
pub struct Recorder {
    words: Words,
    count: usize,
    capacity: usize,
    dropped: u64,
}

impl Recorder {
    /// Opens a recording under the name of the running kernel and notes what measuring costs.
    pub fn open(words: Words) -> Recorder {
        let kernel = system::fact(Fact::KernelName).unwrap_or((0, 0));
        let hz = system::fact(Fact::CounterHz).unwrap_or((0, 0)).0;
        words.set(results::WORD_KERNEL, kernel.0);
        words.set(results::WORD_KERNEL + 1, kernel.1);
        words.set(results::WORD_COUNT, 0);
        words.set(results::WORD_DONE, 0);
        words.set(results::WORD_HZ, hz);
        words.set(results::WORD_DROPPED, 0);
        words.set(results::WORD_MAGIC, results::MAGIC);
        let capacity = (words.len() - HEADER_WORDS) / RECORD_WORDS;
        let mut recorder = Recorder { words, count: 0, capacity, dropped: 0 };
        recorder.overhead();
        recorder
    }

    fn overhead(&mut self) {
        for round in 0..OVERHEAD_ROUNDS {
            let (before, after) = counter_pair();
            self.pair(Tag { metric: Tag::OVERHEAD, case: 0, round, point: 0 }, before, after);
        }
    }

    /// Appends one record.
    pub fn record(&mut self, tag: Tag, time: u64) {
        if self.count == self.capacity {
            self.dropped += 1;
            self.words.set(results::WORD_DROPPED, self.dropped);
            return;
        }
        let at = HEADER_WORDS + RECORD_WORDS * self.count;
        self.words.set(at, tag.word());
        self.words.set(at + 1, time);
        self.count += 1;
        self.words.set(results::WORD_COUNT, self.count as u64);
    }

    /// Appends the two ends of a span, whatever the tag's point.
    pub fn pair(&mut self, tag: Tag, before: u64, after: u64) {
        self.record(Tag { point: Tag::BEFORE, ..tag }, before);
        self.record(Tag { point: Tag::AFTER, ..tag }, after);
    }

    /// Says that the recording is complete.
    pub fn done(self) {
        self.words.set(results::WORD_DONE, 1);
    }
}
