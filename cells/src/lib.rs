//! What kernel state is made of: the language's cells and atomics, or, where a simulation wants to
//! know which lines of memory a path touches, the same with a [`Watcher`] behind each access.
#![cfg_attr(not(feature = "watched"), no_std)]
#![forbid(unsafe_code)]

mod shared;
pub use shared::{SHARED, Shared, SharedPtr, Word};

#[cfg(not(feature = "watched"))]
pub use core::cell::Cell;
#[cfg(not(feature = "watched"))]
pub use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

#[cfg(feature = "watched")]
mod watched;
#[cfg(feature = "watched")]
pub use watched::{Access, AtomicPtr, AtomicU32, AtomicU64, Cell, Kind, Watcher, watch};
