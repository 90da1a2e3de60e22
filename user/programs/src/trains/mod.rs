//! Services that are entered by trains, beside the same in other forms (S4-10, X-08).

pub mod chain;
pub mod cost;
pub mod display;
pub mod ends;
pub mod names;
pub mod queued;
pub mod show;
pub mod sums;
