//! Jobs of a leaf: released when it becomes ready, due a relative deadline later (S2C-07).
//!
//! A job that is released earlier than the minimum separation behind the one before has the
//! deadline that it would have had if it had come in time. A late job keeps its deadline.

use super::curve::NEVER;

/// Relative deadline and minimum separation of a leaf's jobs, in nanoseconds, both above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From the release of a job to its deadline.
    pub deadline: u64,
    /// Between two releases.
    pub period: u64,
}

/// What is counted of a leaf's jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jobs {
    /// Jobs that have ended.
    pub ended: u64,
    /// Jobs that ended behind their deadline.
    pub missed: u64,
    /// The longest time from release to end, in nanoseconds.
    pub worst: u64,
    /// The longest time from deadline to end, in nanoseconds.
    pub latest: u64,
}

/// The job of a leaf.
#[derive(Clone, Debug)]
pub(super) struct Job {
    /// What its jobs are like; none: they have no deadlines.
    pub(super) timing: Option<Timing>,
    release: u64,
    /// The deadline, or [`NEVER`].
    pub(super) deadline: u64,
    /// Before this instant a release is early.
    next: u64,
    /// Whether a job is released and has not ended.
    is_open: bool,
    pub(super) jobs: Jobs,
}

impl Job {
    /// No job, and no deadlines.
    pub(super) const NONE: Job = Job {
        timing: None,
        release: 0,
        deadline: NEVER,
        next: 0,
        is_open: false,
        jobs: Jobs { ended: 0, missed: 0, worst: 0, latest: 0 },
    };

    /// Jobs of this kind from now on; what was counted stays.
    pub(super) fn set(&mut self, timing: Option<Timing>) {
        self.timing = timing;
        let deadline = timing.map_or(NEVER, |timing| self.release.saturating_add(timing.deadline));
        self.deadline = if self.is_open { deadline } else { NEVER };
    }

    /// The leaf becomes ready: a job is released, unless one goes on.
    #[inline(always)]
    pub(super) fn release(&mut self, now: u64) {
        if core::mem::replace(&mut self.is_open, true) {
            return;
        }
        self.release = now;
        if let Some(Timing { deadline, period }) = self.timing {
            let regular = now.max(self.next);
            self.deadline = regular.saturating_add(deadline);
            self.next = regular.saturating_add(period);
        }
    }

    /// The job ends.
    #[inline(always)]
    pub(super) fn end(&mut self, now: u64) {
        if !core::mem::replace(&mut self.is_open, false) {
            return;
        }
        let jobs = &mut self.jobs;
        jobs.ended += 1;
        jobs.worst = jobs.worst.max(now.saturating_sub(self.release));
        if now > self.deadline {
            jobs.missed += 1;
            jobs.latest = jobs.latest.max(now - self.deadline);
        }
        self.deadline = NEVER;
    }
}
