//! I/O ports: what some devices have in place of registers in memory.
//!
//! A `[[memory]]` of the manifest with `port` is a range of I/O ports. A program that has a
//! capability to it reaches them by calls; the right to read is for reading, the one to write for
//! writing. A machine without I/O ports has no such memory.
//!
//! ```
//! use rt::ports::Ports;
//!
//! /// The seconds of the real-time clock, as it shows them.
//! fn seconds(env: &rt::Env) -> Result<u8, rt::Error> {
//!     let clock = Ports::new(env.cap("clock"));
//!     clock.write_8(0, 0)?;
//!     clock.read_8(1)
//! }
//! # let _ = seconds;
//! ```

use crate::Slot;
use crate::system::{done, results};
use abi::Error;
use abi::call::Call;

/// A range of I/O ports, each named by its offset from the first one.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    slot: Slot,
}

impl Ports {
    /// The ports to which the capability in a slot leads.
    pub fn new(slot: Slot) -> Ports {
        Ports { slot }
    }

    /// Reads a byte.
    pub fn read_8(&self, offset: u16) -> Result<u8, Error> {
        self.read(offset, 1).map(|value| value as u8)
    }

    /// Reads 16 bits, of two ports.
    pub fn read_16(&self, offset: u16) -> Result<u16, Error> {
        self.read(offset, 2).map(|value| value as u16)
    }

    /// Reads 32 bits, of four ports.
    pub fn read_32(&self, offset: u16) -> Result<u32, Error> {
        self.read(offset, 4).map(|value| value as u32)
    }

    /// Writes a byte.
    pub fn write_8(&self, offset: u16, value: u8) -> Result<(), Error> {
        self.write(offset, 1, value.into())
    }

    /// Writes 16 bits, to two ports.
    pub fn write_16(&self, offset: u16, value: u16) -> Result<(), Error> {
        self.write(offset, 2, value.into())
    }

    /// Writes 32 bits, to four ports.
    pub fn write_32(&self, offset: u16, value: u32) -> Result<(), Error> {
        self.write(offset, 4, value)
    }

    fn read(&self, offset: u16, bytes: u64) -> Result<u64, Error> {
        let outcome = results(Call::PortRead, [self.slot.word(), offset.into(), bytes])?;
        Ok(outcome.badge)
    }

    fn write(&self, offset: u16, bytes: u64, value: u32) -> Result<(), Error> {
        done(Call::PortWrite, [self.slot.word(), offset.into(), bytes, value.into()])
    }
}
