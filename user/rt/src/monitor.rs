//! Reports of reservations that run out of time, for a program that watches them.
//!
//! ```no_run
//! use rt::monitor::Watched;
//! use rt::prelude::*;
//! use rt::{Error, ipc, println};
//!
//! /// Says of each late job of `vision` by how much it is late.
//! fn watch(env: &Env) -> Result<(), Error> {
//!     let mut vision = Watched::new(env.cap("vision"))?;
//!     loop {
//!         ipc::receive(env.cap("events"), Wait::NEVER)?;
//!         let report = vision.report()?;
//!         if report.missed > 0 {
//!             println!(env.console(), "job {}: {} ns late", report.job.number, report.job.late);
//!         }
//!     }
//! }
//! ```

use crate::{Error, Slot, reservation};
use abi::reservation::Job;

/// What has happened to a reservation since the report before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Jobs that missed their deadlines, with one that is not over.
    pub missed: u64,
    /// How often the budget was used up.
    pub overran: u32,
    /// The job that is released and has not ended, or else the last one, as it is now. Of a job
    /// that was followed by others before its monitor looked, only `missed` tells.
    pub job: Job,
}

impl Report {
    /// Whether the job is behind its deadline, or was at its end.
    pub fn is_late(&self) -> bool {
        self.job.late > 0
    }
}

/// A reservation that is watched, and what was reported of it. Its notification
/// ([`reservation::set_monitor`], or `monitor` in the manifest) says when to ask for a report.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    slot: Slot,
    missed: u64,
    overruns: u32,
}

impl Watched {
    /// Watches a leaf from now on.
    ///
    /// # Errors
    /// Those of [`reservation::job`].
    pub fn new(slot: Slot) -> Result<Watched, Error> {
        reservation::job(slot)?;
        let usage = reservation::usage(slot)?;
        Ok(Watched { slot, missed: usage.jobs.missed, overruns: usage.overruns })
    }

    /// The reservation's slot.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// What has happened since the last report, or since it is watched.
    ///
    /// # Errors
    /// [`Error::Stale`]: the reservation is gone.
    pub fn report(&mut self) -> Result<Report, Error> {
        let (usage, job) = (reservation::usage(self.slot)?, reservation::job(self.slot)?);
        let missed = usage.jobs.missed.saturating_sub(self.missed);
        let overran = usage.overruns.wrapping_sub(self.overruns);
        (self.missed, self.overruns) = (usage.jobs.missed, usage.overruns);
        Ok(Report { missed, overran, job })
    }
}
