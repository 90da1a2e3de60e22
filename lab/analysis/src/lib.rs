//! Schedulability analysis.
#![forbid(unsafe_code)]

pub mod edf;
mod error;
pub mod fixed_priority;
mod steps;
mod supply;
mod task;
mod text;
mod utilisation;
mod verdict;

pub use error::AnalysisError;
pub use steps::{Limits, Steps};
pub use supply::{Supply, Window};
pub use task::{Reservation, Stream, Task, Workload};
pub use verdict::{Bound, Excess, Verdict};

/// Instants and durations, in ns.
pub type Time = u64;
