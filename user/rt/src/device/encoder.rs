//! A counter of how far something has moved.

use super::Registers;
use crate::Words;
use abi::device::encoder::{CONTROL, COUNT, EVERY, INTERRUPT, MOVED, STATUS};

/// Says how far something has moved.
#[derive(Clone, Copy)]
pub struct Encoder(Registers);

impl Encoder {
    /// The device whose registers are in some memory.
    pub fn new(words: Words) -> Encoder {
        Encoder(Registers::new(words))
    }

    /// Counts since the machine's start; fewer if it moved backwards.
    pub fn count(&self) -> i64 {
        self.0.read(COUNT) as i64
    }

    /// It interrupts each time that it has moved by so many counts, 1 at least.
    pub fn interrupt_every(&self, counts: u64) {
        self.0.write(EVERY, counts);
        self.has_moved();
        self.0.write(CONTROL, INTERRUPT);
    }

    /// It does not interrupt.
    pub fn interrupt_no_more(&self) {
        self.0.write(CONTROL, 0);
    }

    /// Whether it has moved so far since this was asked last. To be asked before the interrupt is
    /// acknowledged.
    pub fn has_moved(&self) -> bool {
        let moved = self.0.read(STATUS) & MOVED != 0;
        self.0.write(STATUS, MOVED);
        moved
    }
}
