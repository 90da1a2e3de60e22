//! Devices to control: what a program says to their registers ([`abi::device`]).
//!
//! A `[[device]]` of the manifest is memory of a page, whose words are registers. A program that
//! maps it makes a driver of it:
//!
//! ```
//! use rt::device::{Encoder, Pwm};
//!
//! fn main(env: &rt::Env) {
//!     let (drive, shaft) = (Pwm::new(env.mem("drive")), Encoder::new(env.mem("shaft")));
//!     drive.start(50_000);
//!     drive.set(25_000);
//!     let turned = shaft.count();
//! # let _ = turned;
//! }
//! # let _ = main;
//! ```
//!
//! A driver has no state of its own: what the device has is in its registers, also behind a
//! restart of the program.

mod adc;
mod can;
mod encoder;
mod gpio;
mod pwm;

pub use adc::Adc;
pub use can::{Can, Frame};
pub use encoder::Encoder;
pub use gpio::Gpio;
pub use pwm::Pwm;

use crate::Words;
use crate::arch::address;

/// The registers of a device. Each access reaches the device, in the order of the program.
#[derive(Clone, Copy)]
pub struct Registers {
    words: Words,
}

impl Registers {
    /// The registers in some memory.
    pub fn new(words: Words) -> Registers {
        Registers { words }
    }

    /// What a register has.
    #[track_caller]
    pub fn read(&self, register: usize) -> u64 {
        address::read_register(self.address(register))
    }

    /// Writes to a register.
    #[track_caller]
    pub fn write(&self, register: usize, value: u64) {
        address::write_register(self.address(register), value);
    }

    /// What a register of 32 bits has, so many bytes from the first one.
    #[track_caller]
    pub fn read_32(&self, offset: usize) -> u32 {
        address::read_register_32(self.address_32(offset))
    }

    /// Writes to a register of 32 bits, so many bytes from the first one.
    #[track_caller]
    pub fn write_32(&self, offset: usize, value: u32) {
        address::write_register_32(self.address_32(offset), value);
    }

    #[track_caller]
    fn address(&self, register: usize) -> u64 {
        let registers = self.words.len();
        assert!(register < registers, "register {register} of {registers}");
        self.words.address() + 8 * register as u64
    }

    #[track_caller]
    fn address_32(&self, offset: usize) -> u64 {
        assert!(offset.is_multiple_of(4), "a register at {offset}, which is misaligned");
        self.address(offset / 8) + (offset % 8) as u64
    }
}
