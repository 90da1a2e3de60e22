//! The log of all decisions, for plots: memory that the host reads. The first word counts records,
//! also those for which there is no room; each has [`RECORD`] words.

use rt::{Env, Words};

/// Words of a record.
const RECORD: usize = 8;

/// A budget that was set, and what was seen of the server in the last decision about it. Times are
/// in nanoseconds.
#[derive(Clone, Copy, Default)]
pub struct Entry {
    /// Since boot.
    pub at: u64,
    /// The number of the server, in the order of the controller's capabilities.
    pub server: usize,
    /// What its own tasks wanted.
    pub wanted: u64,
    /// Its new budget.
    pub budget: u64,
    /// CPU time that its own tasks had in each of its periods.
    pub consumed: u64,
    /// What they needed in the mean.
    pub mean: u64,
    /// What they lacked in each of its periods.
    pub extra: u64,
    /// Late jobs since the decision before that.
    pub late: u64,
}

/// The log, if the program has a memory `decisions`.
pub struct Log {
    words: Option<Words>,
    count: usize,
}

impl Log {
    /// An empty log.
    pub fn of(env: &Env) -> Log {
        Log { words: env.find_mem("decisions"), count: 0 }
    }

    /// Writes a record behind the others.
    pub fn write(&mut self, entry: &Entry) {
        let Some(words) = self.words else { return };
        let Entry { at, server, wanted, budget, consumed, mean, extra, late } = *entry;
        let record = [at, server as u64, wanted, budget, consumed, mean, extra, late];
        let begin = 1 + RECORD * self.count;
        if begin + RECORD <= words.len() {
            (begin..).zip(record).for_each(|(word, value)| words.set(word, value));
        }
        self.count += 1;
        words.set(0, self.count as u64);
    }
}
