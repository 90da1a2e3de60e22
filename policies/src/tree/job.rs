//! Jobs of a leaf: released when it becomes ready, due a relative deadline later (S2C-07).
//!
//! A job that is released earlier than the minimum separation behind the one before has the
//! deadline that it would have had if it had come in time. A late job keeps its deadline.
//!
//! A thread that is late for its next release finds that past, or its next request waiting: so it
//! does not block, and says itself that the next job begins. What a thread runs before it first
//! waits is its start-up, and no job: it is as urgent as one, and not counted. What has woken a
//! thread that is to look for it again may be gone then: that it has woken is a job from its
//! wake-up on, if it finds something.

use super::curve::NEVER;
use abi::reservation::{self, Jobs, Timing};

/// The job of a leaf.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Job {
    /// What its jobs are like; none: they have no deadlines.
    pub(super) timing: Option<Timing>,
    release: u64,
    /// The deadline, or [`NEVER`].
    pub(super) deadline: u64,
    /// When the last job was released, or would have been if it had come in time.
    regular: u64,
    /// Before this instant a release is early.
    next: u64,
    /// Whether a job is released and has not ended.
    is_open: bool,
    /// Where that is no job, or none yet: when the one that is found to be there can have been
    /// released at the earliest.
    unsure: Option<u64>,
    /// Whether a miss is to be seen at the deadline, of the job that is open or the next one.
    is_watched: bool,
    /// The same of all jobs.
    watches: bool,
    pub(super) jobs: Jobs,
    /// The last job that has ended: from its release to its end, and from its deadline.
    ended: [u64; 2],
}

impl Job {
    /// No job, and no deadlines.
    pub(super) const NONE: Job = Job {
        timing: None,
        release: 0,
        deadline: NEVER,
        regular: 0,
        next: 0,
        is_open: false,
        unsure: None,
        is_watched: false,
        watches: false,
        jobs: Jobs { ended: 0, missed: 0, worst: 0, latest: 0 },
        ended: [0; 2],
    };

    /// Jobs of this kind from now on; what was counted stays. Separations count from the job that
    /// is open, or else from the next one.
    pub(super) fn set(&mut self, timing: Option<Timing>, now: u64) {
        self.timing = timing;
        self.regular = self.regular.min(now);
        self.next = 0;
        if self.is_open {
            self.set_deadline();
        }
    }

    fn set_deadline(&mut self) {
        self.deadline = NEVER;
        if let Some(Timing { deadline, period }) = self.timing {
            self.deadline = self.regular.saturating_add(deadline);
            self.next = self.regular.saturating_add(period);
        }
    }

    /// The leaf becomes ready: a job is released, unless one goes on.
    #[inline(always)]
    pub(super) fn release(&mut self, now: u64) {
        if core::mem::replace(&mut self.is_open, true) {
            return;
        }
        (self.release, self.regular) = (now, now.max(self.next));
        self.is_watched = self.watches;
        self.set_deadline();
    }

    /// The leaf becomes ready for a thread that may have no job, unless one goes on. A job that it
    /// finds was released at this instant at the earliest: [`NEVER`] for a start-up.
    pub(super) fn start(&mut self, earliest: u64, now: u64) {
        if !self.is_open {
            self.release(now);
            (self.unsure, self.is_watched) = (Some(earliest), false);
        }
    }

    /// The job ends and the next one is there, released at this instant; where that is not known,
    /// as early as it can have been. No release is before that of the job that ends; behind a
    /// start-up, or if none is open, it is now. Whether this one is a miss which was to be seen and
    /// was not.
    pub(super) fn next(&mut self, released: Option<u64>, now: u64) -> bool {
        let separated = self.timing.is_some_and(|timing| timing.period > 0);
        let (before, unsure) = (self.release, self.unsure);
        let before = unsure.unwrap_or(if self.is_open { before } else { now }).min(now);
        let is_seen = self.end(now);
        let earliest = unsure.unwrap_or(if separated { self.next } else { now });
        self.release(released.unwrap_or(earliest).clamp(before, now));
        is_seen
    }

    /// The job ends. Whether that is a miss which was to be seen and was not.
    #[inline(always)]
    pub(super) fn end(&mut self, now: u64) -> bool {
        if !self.is_open {
            return false;
        }
        if self.unsure.take().is_some() {
            // What comes next is not early, but as far apart from the job before as that must be.
            (self.is_open, self.deadline, self.next) = (false, NEVER, self.regular);
            return false;
        }
        let is_seen = self.see(now);
        self.jobs = self.counted(now);
        self.jobs.ended += 1;
        self.ended = self.times(now);
        self.jobs.worst = self.jobs.worst.max(self.ended[0]);
        (self.is_open, self.deadline) = (false, NEVER);
        is_seen
    }

    /// How long ago it was released, and was due.
    #[inline(always)]
    fn times(&self, now: u64) -> [u64; 2] {
        [self.release, self.deadline].map(|from| now.saturating_sub(from))
    }

    /// The job that is open, or else the last one.
    pub(super) fn latest(&self, now: u64) -> reservation::Job {
        let is_over = !self.is_open || self.unsure.is_some();
        let number = self.jobs.ended + u64::from(!is_over);
        let [response, late] = if is_over { self.ended } else { self.times(now) };
        reservation::Job { number, response, late, is_over }
    }

    /// What is counted up to now, with a job that is open and late.
    pub(super) fn counted(&self, now: u64) -> Jobs {
        let mut jobs = self.jobs;
        if self.is_open && self.unsure.is_none() && now > self.deadline {
            jobs.missed += 1;
            jobs.worst = jobs.worst.max(now.saturating_sub(self.release));
            jobs.latest = jobs.latest.max(now - self.deadline);
        }
        jobs
    }

    /// Misses are to be seen from now on, or not any more; not one that is past.
    pub(super) fn watch(&mut self, watches: bool, now: u64) {
        self.watches = watches;
        self.is_watched = watches && now <= self.deadline && self.unsure.is_none();
    }

    /// When a miss is to be seen, if the job has not ended; [`NEVER`]: not at all.
    #[inline(always)]
    pub(super) fn event(&self) -> u64 {
        match self.is_open && self.is_watched {
            true => self.deadline.saturating_add(1),
            false => NEVER,
        }
    }

    /// Whether a miss is to be seen now. Once for each job.
    pub(super) fn see(&mut self, now: u64) -> bool {
        let is_seen = self.event() <= now;
        self.is_watched &= !is_seen;
        is_seen
    }
}
