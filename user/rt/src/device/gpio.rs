//! Pins.

use super::Registers;
use crate::Words;
use abi::device::gpio::{DRIVEN, EDGES, FALLS, IN, OUT, RISES};

/// Pins, a bit each: the first wire of the manifest is bit 0.
#[derive(Clone, Copy)]
pub struct Gpio(Registers);

impl Gpio {
    /// The device whose registers are in some memory.
    pub fn new(words: Words) -> Gpio {
        Gpio(Registers::new(words))
    }

    /// What all pins have.
    pub fn pins(&self) -> u64 {
        self.0.read(IN)
    }

    /// These pins are driven from now on, and the others are not.
    pub fn drive(&self, pins: u64) {
        self.0.write(DRIVEN, pins);
    }

    /// What the driven ones have from now on.
    pub fn set(&self, pins: u64) {
        self.0.write(OUT, pins);
    }

    /// Pins that interrupt when they go from 0 to 1, and those that do when they go from 1 to 0.
    pub fn interrupt_at(&self, rises: u64, falls: u64) {
        self.0.write(RISES, rises);
        self.0.write(FALLS, falls);
    }

    /// Those that have done so since this was asked last. To be asked before the interrupt is
    /// acknowledged.
    pub fn edges(&self) -> u64 {
        let edges = self.0.read(EDGES);
        self.0.write(EDGES, edges);
        edges
    }
}
