//! The atomics that locks are made of: the processor's, or those of a model that explores
//! interleavings (`loom`), or those of the simulation in `sim`, which sees every access.

#[cfg(all(not(feature = "loom"), not(test)))]
pub use cells::{AtomicU32, AtomicU64};

#[cfg(all(not(feature = "loom"), test))]
pub use crate::sim::{AtomicU32, AtomicU64};

#[cfg(feature = "loom")]
pub use loom::sync::atomic::{AtomicU32, AtomicU64};

pub use core::sync::atomic::Ordering;
