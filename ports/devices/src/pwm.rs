//! Pulses.

use crate::{Device, Outside};
use abi::device::pwm::{CONTROL, DUTY, ENDED, INTERRUPT, LONGEST, ON, PERIOD, SHORTEST, STATUS};

/// Puts the part of the time for which it is on, 0 to 1, on its wire.
pub struct Pwm {
    period: u64,
    duty: u64,
    control: u64,
    ended: bool,
    /// When a period ends that is not told of yet, or has ended and is; while it interrupts.
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
            PERIOD => self.period = value.clamp(SHORTEST, LONGEST),
            DUTY => self.duty = value,
            CONTROL => self.control = value & (ON | INTERRUPT),
            STATUS if self.ended && value & ENDED != 0 => {
                self.ended = false;
                // The first end that is still to come.
                let next = |ends: u64| {
                    let past = outside.now.saturating_sub(ends) / self.period;
                    ends.checked_add((past + 1).checked_mul(self.period)?)
                };
                self.ends = self.ends.and_then(next);
            }
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
        // Until the program has looked, further ends say nothing.
        self.ends.filter(|_| !self.ended)
    }

    fn wake(&mut self, _: &mut Outside) {
        self.ended = true;
    }
}
