//! A converter to numbers.

use crate::{Device, Outside, Parameters};
use abi::device::adc::{BUSY, CONTROL, DONE, GREATEST, INTERRUPT, RESULT, START, STATUS, TIME};

/// Measures its wire.
pub struct Adc {
    /// What is measured as 0, and as the greatest result.
    range: [f64; 2],
    interrupts: bool,
    done: bool,
    result: u64,
    ends: Option<u64>,
}

impl Adc {
    /// With parameters `low` (what is measured as 0, 0) and `high` (as 4095, 100).
    ///
    /// # Errors
    ///
    /// What is wrong with them, in words.
    pub fn new(parameters: &Parameters) -> Result<Adc, String> {
        parameters.only(&["low", "high"])?;
        let range = [parameters.number("low", 0.0)?, parameters.number("high", 100.0)?];
        if range[0] >= range[1] {
            let [low, high] = range;
            return Err(format!("`low` is {low} and `high` {high}: let it measure more than that"));
        }
        Ok(Adc { range, interrupts: false, done: false, result: 0, ends: None })
    }
}

impl Device for Adc {
    fn read(&mut self, register: usize, _: &mut Outside) -> u64 {
        match register {
            CONTROL => u64::from(self.interrupts) * INTERRUPT,
            STATUS => {
                let done = u64::from(self.done) * DONE;
                let busy = u64::from(self.ends.is_some()) * BUSY;
                done | busy
            }
            RESULT => {
                self.done = false;
                self.result
            }
            _ => 0,
        }
    }

    fn write(&mut self, register: usize, value: u64, outside: &mut Outside) {
        if register == CONTROL {
            self.interrupts = value & INTERRUPT != 0;
            if value & START != 0 && self.ends.is_none() {
                self.ends = outside.now.checked_add(TIME);
            }
        }
    }

    fn asks(&self) -> bool {
        self.done && self.interrupts
    }

    fn next(&self) -> Option<u64> {
        self.ends
    }

    fn wake(&mut self, outside: &mut Outside) {
        let [low, high] = self.range;
        let part = ((outside.get(0) - low) / (high - low)).clamp(0.0, 1.0);
        self.result = (part * GREATEST as f64).round() as u64;
        self.done = true;
        self.ends = None;
    }
}
