//! A counter of how far something has moved.

use crate::{Device, Outside, Parameters};
use abi::device::encoder::{CONTROL, COUNT, EVERY, INTERRUPT, MOVED, STATUS};

/// Counts what its wire measures.
pub struct Encoder {
    /// Counts for a unit of the wire.
    counts: f64,
    interrupts: bool,
    moved: bool,
    every: u64,
    /// The count at which it had moved last.
    last: i64,
}

impl Encoder {
    /// With parameter `counts`, of a unit of the wire (1024).
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words.
    pub fn new(parameters: &Parameters) -> Result<Encoder, String> {
        parameters.only(&["counts"])?;
        let counts = parameters.number("counts", 1024.0)?;
        Ok(Encoder { counts, interrupts: false, moved: false, every: 1, last: 0 })
    }

    fn count(&self, outside: &Outside) -> i64 {
        (outside.get(0) * self.counts).floor() as i64
    }
}

impl Device for Encoder {
    fn read(&mut self, register: usize, outside: &mut Outside) -> u64 {
        match register {
            CONTROL => u64::from(self.interrupts) * INTERRUPT,
            STATUS => u64::from(self.moved) * MOVED,
            COUNT => self.count(outside) as u64,
            EVERY => self.every,
            _ => 0,
        }
    }

    fn write(&mut self, register: usize, value: u64, _: &mut Outside) {
        match register {
            CONTROL => self.interrupts = value & INTERRUPT != 0,
            STATUS => self.moved &= value & MOVED == 0,
            EVERY => self.every = value.max(1),
            _ => {}
        }
    }

    fn asks(&self) -> bool {
        self.moved && self.interrupts
    }

    fn step(&mut self, outside: &mut Outside) {
        let count = self.count(outside);
        if count.abs_diff(self.last) >= self.every {
            self.last = count;
            self.moved = true;
        }
    }

    fn watches(&self) -> bool {
        self.interrupts
    }
}
