//! What the tasks of a server tell its controller, in a memory of the server's name: words that
//! they add to. The kernel keeps the longest lateness of a reservation alone, no sums.
//!
//! A task that lies can raise its own server's budget as far as more important ones leave it.

use rt::Words;

/// CPU time that jobs used behind their deadlines, in nanoseconds.
const PAST: usize = 0;
/// The tardiness of jobs that began in time, in nanoseconds.
const TARDY: usize = 1;
/// Jobs that ended behind their deadline.
const LATE: usize = 2;

/// Work that all releases asked for, also those that were skipped, in units.
const ASKED: usize = 3;
/// The longest job of each task, in millionths of its period, by its number.
const PEAKS: usize = 8;

/// A server's report.
#[derive(Clone, Copy)]
pub struct Report(pub Words);

/// Sums since the system began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// CPU time behind deadlines.
    pub past: u64,
    /// Tardiness of jobs that began in time.
    pub tardy: u64,
    /// Late jobs.
    pub late: u64,
}

impl Report {
    /// A job has run for so long behind its deadline.
    pub fn ran_behind(self, time: u64) {
        self.0.add(PAST, time);
    }

    /// A job has ended, by so much too late. Whether it began before its deadline.
    pub fn ended_late(self, by: u64, began_in_time: bool) {
        self.0.add(LATE, 1);
        if began_in_time {
            self.0.add(TARDY, by);
        }
    }

    /// A release of this task has asked for so much work, and that is so many millionths of its
    /// period.
    pub fn asked(self, task: usize, work: u64, part: u64) {
        self.0.add(ASKED, work);
        let peak = PEAKS + task;
        self.0.set(peak, self.0.get(peak).max(part));
    }

    /// What was reported by now.
    pub fn sums(self) -> Sums {
        let [past, tardy, late] = [PAST, TARDY, LATE].map(|word| self.0.get(word));
        Sums { past, tardy, late }
    }
}

impl Sums {
    /// What came to earlier sums; nothing where a task has written less than before.
    pub fn since(self, before: Sums) -> Sums {
        Sums {
            past: self.past.saturating_sub(before.past),
            tardy: self.tardy.saturating_sub(before.tardy),
            late: self.late.saturating_sub(before.late),
        }
    }
}
