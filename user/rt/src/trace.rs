//! Reading the kernel's trace ([`abi::trace`]) from a memory that the manifest maps.
//!
//! A reader has no state in the kernel: any number of them read the same trace, each from where it
//! is, and one that dies takes nothing away from the others.

use crate::Words;
use abi::trace::{
    HEADER_WORDS, Keep, MAGIC, RECORD_WORDS, Record, WORD_CAPACITY, WORD_EVENTS, WORD_KEEP,
    WORD_MAGIC,
};

/// Reads records in the order of their events.
pub struct Reader {
    words: Words,
    capacity: u64,
    last: bool,
    /// The event that comes next.
    next: u64,
    lost: u64,
}

impl Reader {
    /// Begins at the first event; `None`: the memory holds no trace.
    pub fn new(words: Words) -> Option<Reader> {
        let holds = words.len() > HEADER_WORDS && words.get(WORD_MAGIC) == MAGIC;
        holds.then(|| {
            let room = ((words.len() - HEADER_WORDS) / RECORD_WORDS) as u64;
            let capacity = words.get(WORD_CAPACITY).min(room);
            let last = words.get(WORD_KEEP) == Keep::Last as u64;
            Reader { words, capacity, last, next: 0, lost: 0 }
        })
    }

    /// Events that were lost before this reader came to them, exactly.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The next record, or `None` until there is one.
    pub fn read(&mut self) -> Option<Record> {
        loop {
            let events = self.words.get(WORD_EVENTS);
            self.skip(events);
            if self.next >= events {
                return None;
            }
            let at = HEADER_WORDS + (self.next % self.capacity) as usize * RECORD_WORDS;
            let record = Record::from_words([self.words.get(at), self.words.get(at + 1)]);
            // It may have been overwritten between the two words.
            let overwritten = self.words.get(WORD_EVENTS) - self.next > self.capacity;
            if !(self.last && overwritten) {
                self.next += 1;
                return record;
            }
        }
    }

    /// Leaves out what is lost.
    fn skip(&mut self, events: u64) {
        let (from, to) = match self.last {
            true => (self.next, self.next.max(events.saturating_sub(self.capacity))),
            false => (self.next.max(self.capacity), events.max(self.next)),
        };
        if to > from {
            self.lost += to - from;
            self.next = to;
        }
    }
}
