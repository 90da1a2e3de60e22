//! Pulses.

use super::Registers;
use crate::Words;
use abi::device::pwm::{CONTROL, DUTY, ENDED, INTERRUPT, ON, PERIOD, STATUS};

/// Gives a drive or a heater a part of the time.
#[derive(Clone, Copy)]
pub struct Pwm(Registers);

impl Pwm {
    /// The device whose registers are in some memory.
    pub fn new(words: Words) -> Pwm {
        Pwm(Registers::new(words))
    }

    /// Begins with pulses each `period` nanoseconds, 1,000 at least, of length 0.
    pub fn start(&self, period: u64) {
        self.0.write(PERIOD, period);
        self.0.write(DUTY, 0);
        self.0.write(CONTROL, ON);
    }

    /// The same, and interrupts at the end of each period.
    pub fn start_interrupting(&self, period: u64) {
        self.start(period);
        self.0.write(CONTROL, ON | INTERRUPT);
    }

    /// Pulses are so many nanoseconds long from now on; the period at most.
    pub fn set(&self, nanoseconds: u64) {
        self.0.write(DUTY, nanoseconds);
    }

    /// The same, as so many thousandths of the period.
    pub fn set_thousandths(&self, part: u64) {
        self.set(self.0.read(PERIOD) * part.min(1000) / 1000);
    }

    /// Ends it.
    pub fn stop(&self) {
        self.0.write(CONTROL, 0);
    }

    /// Whether a period has ended since this was asked last. To be asked before the interrupt is
    /// acknowledged.
    pub fn has_ended(&self) -> bool {
        let ended = self.0.read(STATUS) & ENDED != 0;
        self.0.write(STATUS, ENDED);
        ended
    }
}
