//! A converter to numbers.

use super::Registers;
use crate::Words;
use abi::device::adc::{CONTROL, DONE, INTERRUPT, RESULT, START, STATUS};

/// Measures a value as a number from 0 to [`Adc::GREATEST`].
#[derive(Clone, Copy)]
pub struct Adc(Registers);

impl Adc {
    /// The greatest result.
    pub const GREATEST: u64 = abi::device::adc::GREATEST;

    /// The device whose registers are in some memory.
    pub fn new(words: Words) -> Adc {
        Adc(Registers::new(words))
    }

    /// Measures, which takes 10 us, and looks for the result until then.
    pub fn measure(&self) -> u64 {
        self.0.write(CONTROL, START);
        loop {
            if let Some(result) = self.result() {
                return result;
            }
        }
    }

    /// Begins to measure; it interrupts when it has a result.
    pub fn start(&self) {
        self.0.write(CONTROL, START | INTERRUPT);
    }

    /// What was measured, once: `None` until there is a result. To be asked before the interrupt is
    /// acknowledged.
    pub fn result(&self) -> Option<u64> {
        (self.0.read(STATUS) & DONE != 0).then(|| self.0.read(RESULT))
    }
}
