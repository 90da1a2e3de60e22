//! What the kernel's trace shows: from the bytes that it left behind to values, text and files.
//!
//! ```text
//! bytes -> Traces, of each CPU and of all
//!          Trace -> Sections, Lives -> timeline      text for a terminal
//!                                   -> perfetto      a file for ui.perfetto.dev
//!                                   -> overheads     samples and statistics per overhead
//!                                   -> kernel_times  non-preemptible sections per entry
//!                                   -> unpolled      the same for each run of the kernel
//!                                   -> blame         why one sample was late
//!                                   -> accuracy      who ran beside a more urgent thread
//!                                   -> windows       how much a reservation had in a time
//!          Traces -> locks, cpus                       what CPUs do to each other
//!                 -> wakeups, first_late               how late threads ran, and why
//!                 -> activities                   jobs, and when each thread ran
//!                 -> highest                           how late those above all others ran
//! ```
//!
//! Everything is pure: bytes in, values out. The record format is [`abi::trace`].
#![forbid(unsafe_code)]

mod accuracy;
mod blame;
mod cpus;
mod decode;
mod entry;
mod highest;
mod jobs;
mod lives;
mod locks;
mod made;
mod names;
mod overheads;
mod perfetto;
mod reservations;
mod sections;
#[cfg(test)]
mod testing;
mod timeline;
mod waits;
mod wakeups;
mod windows;

pub use accuracy::{Accuracy, OutOfOrder, accuracy};
pub use blame::{Blame, Cause, Named, Piece, Sample, blame};
pub use cpus::{CpuUse, cpus, cpus_table};
pub use decode::{Moment, Trace, Traces};
pub use entry::Entry;
pub use highest::{Undisturbed, highest};
pub use jobs::{Activity, Job, Timing, activities};
pub use lives::{Life, Lives, State, Stretch};
pub use locks::{LockUse, locks, locks_table};
pub use names::{Introduction, Names, Place};
pub use overheads::{
    KernelTime, Kind, Overhead, Overheads, Statistics, Unpolled, kernel_times, kernel_times_table,
    overheads, unpolled, unpolled_parts,
};
pub use perfetto::perfetto;
pub use reservations::Reservation;
pub use sections::{Section, Sections};
pub use timeline::{View, timeline};
pub use waits::{LongestWait, Wait, Waits, What, longest_waits};
pub use wakeups::{WakeUp, explained, first_late, wakeups};
pub use windows::{Window, windows};
