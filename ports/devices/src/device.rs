//! What a device is.

use crate::wire::Wire;
use crate::{Frame, Plant};

/// What a device reaches.
pub struct Outside<'a> {
    /// Nanoseconds since the machine's start.
    pub now: u64,
    pub(crate) plant: &'a mut dyn Plant,
    pub(crate) wires: &'a mut [Wire],
    pub(crate) sent: &'a mut Vec<Frame>,
    pub(crate) free_at: &'a mut u64,
}

impl Outside<'_> {
    /// What a wire has, by its place among those of the device.
    pub fn get(&self, wire: usize) -> f64 {
        self.wires.get(wire).map_or(0.0, Wire::get)
    }

    /// Puts something on a wire.
    pub fn set(&mut self, wire: usize, value: f64) {
        if let Some(wire) = self.wires.get_mut(wire) {
            wire.set(self.now, value, self.plant);
        }
    }

    /// How many wires it has.
    pub fn wires(&self) -> usize {
        self.wires.len()
    }

    /// The instant at which the bus has carried something of this length, from now on or behind
    /// what it carries.
    pub fn occupy(&mut self, time: u64) -> u64 {
        *self.free_at = self.now.max(*self.free_at) + time;
        *self.free_at
    }

    /// A frame has arrived at all others on the bus.
    pub fn send(&mut self, frame: Frame) {
        self.sent.push(frame);
    }
}

/// A device: registers, wires, an interrupt.
pub trait Device {
    /// What a program reads from a register.
    fn read(&mut self, register: usize, outside: &mut Outside) -> u64;

    /// A program writes to a register.
    fn write(&mut self, register: usize, value: u64, outside: &mut Outside);

    /// Whether it asks for its interrupt now.
    fn asks(&self) -> bool;

    /// The instant at which it does something by itself.
    fn next(&self) -> Option<u64> {
        None
    }

    /// That instant has come.
    fn wake(&mut self, _outside: &mut Outside) {}

    /// The plant has taken a step.
    fn step(&mut self, _outside: &mut Outside) {}

    /// Whether a step may let it ask for its interrupt.
    fn watches(&self) -> bool {
        false
    }

    /// A frame has come over the bus.
    fn receive(&mut self, _frame: Frame) {}
}
