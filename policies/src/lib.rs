//! Scheduling policies as pure code: values in, a decision out; no cell, no clock, no lock, no
//! hardware. The kernel keeps the state, asks, and does what was decided.
#![no_std]
#![forbid(unsafe_code)]

pub mod adaptive;
pub mod levels;
pub mod slice;
pub mod switching;
pub mod tree;
