//! Pulses.

use crate::{Device, Outside};
use abi::device::pwm::{CONTROL, DUTY, ENDED, INTERRUPT, ON, PERIOD, SHORTEST, STATUS};

/// Puts the part of the time for which it is on, 0 to 1, on its wire.
pub struct Pwm {
    period: u64,
    duty: u64,
    control: u64,
    ended: bool,
    /// When this period ends, while it interrupts then.
    ends: Option<u64>,
}

impl Pwm {
    /// Off.
    pub fn new() -> Pwm {
        Pwm { period: 50_000, duty: 0, control: 0, ended: false, ends: None }
    }

    fn put(&self, outside: &mut Outside) {
        let on = self.control & ON != 0;
        let part = self.duty.min(self.period) as f64 / self.period as f64;
        outside.set(0, if on { part } else { 0.0 });
    }
}

impl Device for Pwm {
    fn read(&mut self, register: usize, _: &mut Outside) -> u64 {
        match register {
            PERIOD => self.period,
            DUTY => self.duty,
            CONTROL => self.control,
            STATUS => u64::from(self.ended) * ENDED,
            _ => 0,
        }
    }

    fn write(&mut self, register: usize, value: u64, outside: &mut Outside) {
        match register {
            PERIOD => self.period = value.max(SHORTEST),
            DUTY => self.duty = value,
            CONTROL => self.control = value & (ON | INTERRUPT),
            STATUS => self.ended &= value & ENDED == 0,
            _ => return,
        }
        if self.control != ON | INTERRUPT {
            self.ends = None;
        } else if self.ends.is_none() {
            self.ends = outside.now.checked_add(self.period);
        }
        if register != STATUS {
            self.put(outside);
        }
    }

    fn asks(&self) -> bool {
        self.ended && self.control & INTERRUPT != 0
    }

    fn next(&self) -> Option<u64> {
        self.ends
    }

    fn wake(&mut self, outside: &mut Outside) {
        self.ended = true;
        self.ends = outside.now.checked_add(self.period);
    }
}
