//! Schedulability analysis.
#![forbid(unsafe_code)]

pub mod blocking;
mod budget;
mod curve;
pub mod edf;
mod error;
pub mod fixed_priority;
mod generate;
pub mod global;
mod overheads;
mod random;
mod steps;
mod supply;
mod task;
mod text;
pub mod tree;
mod utilisation;
mod verdict;

pub use budget::minimal_budget;
pub use curve::{Granularity, ServiceCurve};
pub use error::AnalysisError;
pub use generate::{Recipe, generate};
pub use overheads::Overheads;
pub use random::Random;
pub use steps::{Limits, Steps};
pub use supply::{Supply, Window};
pub use task::{Reservation, Stream, Task, Workload};
pub use text::time;
pub use tree::{Tree, analyse};
pub use verdict::{Bound, Excess, Verdict};

/// Instants and durations, in ns.
pub type Time = u64;
