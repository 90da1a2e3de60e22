//! The real-time clock of a PC (MC146818), and what clients of its driver are written against.
//!
//! The clock counts seconds also while the machine is off. It has registers behind two I/O ports,
//! one for the number of a register and one for what that has. What it is set to is taken for UTC.
#![no_std]
#![forbid(unsafe_code)]

mod calendar;
mod registers;
#[cfg(test)]
mod tests;

pub use registers::{Registers, read};

use service::{Wire, service};

/// Why there is no time.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTime {
    /// The clock never stood still for as long as it takes to read it.
    Changing,
    /// What it has is no date or time: it was never set, or there is none.
    Unset,
}

/// The time of day.
#[service]
pub trait Clock {
    /// Seconds since the beginning of 1970, UTC.
    fn now(&mut self) -> Result<u64, NoTime>;
}
