//! A machine of plain Rust for the core to run on, and programs for it.

pub mod archive;
pub mod board;
pub mod context;
pub mod effort;
pub mod heap;
pub mod host;
pub mod pages;
pub mod programs;
pub mod reservations;
pub mod rng;
pub mod scene;
pub mod seed;
pub mod space;
pub mod state;
pub mod town;
