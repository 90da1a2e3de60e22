//! Acceptance ratios: random task sets under each policy that `analysis` can decide, and the same
//! sets played on the scheduling tree of `policies`, the code that the kernel runs.
//!
//! ```text
//! Parameters + seed -> Point -> shards of sets, each set -> arrangement of a policy
//!                                 analysis: accepted?   player: missed?   -> Counts
//! ```
//!
//! What the analysis accepts must never miss a deadline when it is played; what it rejects though
//! nothing is missed is its pessimism. All times are in nanoseconds.
#![forbid(unsafe_code)]

mod arrange;
mod arrivals;
mod global;
mod lending;
mod planted;
mod player;
mod policy;
mod shard;

pub use arrange::{Arranged, arrange};
pub use arrivals::{Arrivals, Miss};
pub use global::play as play_globally;
pub use lending::{Sharer, play_sharing};
pub use planted::{Planted, plant};
pub use player::{PlayError, play};
pub use policy::Policy;
pub use shard::{Counter, Counts, Parameters, Point, SHARD, ShardError, Tally, judge, run};

/// Instants and durations, in ns.
pub type Time = u64;

/// What a node of a class of service curves runs at least, in ns: the kernel's quantum.
pub const QUANTUM: Time = 1_000_000;
