//! Pins.

use crate::{Device, Outside};
use abi::device::gpio::{DRIVEN, EDGES, FALLS, IN, OUT, RISES};

/// From here on, a wire is 1.
const HALF: f64 = 0.5;

/// A pin for each of its wires.
#[derive(Default)]
pub struct Gpio {
    out: u64,
    driven: u64,
    rises: u64,
    falls: u64,
    edges: u64,
    /// What the pins had at the last step.
    last: u64,
}

impl Gpio {
    fn pins(outside: &Outside) -> u64 {
        (0..outside.wires()).fold(0, |pins, at| pins | u64::from(outside.get(at) >= HALF) << at)
    }
}

impl Device for Gpio {
    fn read(&mut self, register: usize, outside: &mut Outside) -> u64 {
        match register {
            OUT => self.out,
            IN => Gpio::pins(outside),
            DRIVEN => self.driven,
            RISES => self.rises,
            FALLS => self.falls,
            EDGES => self.edges,
            _ => 0,
        }
    }

    fn write(&mut self, register: usize, value: u64, outside: &mut Outside) {
        match register {
            OUT => self.out = value,
            DRIVEN => self.driven = value,
            RISES => self.rises = value,
            FALLS => self.falls = value,
            EDGES => self.edges &= !value,
            _ => {}
        }
        if matches!(register, OUT | DRIVEN) {
            for at in (0..outside.wires()).filter(|at| self.driven >> at & 1 != 0) {
                outside.set(at, (self.out >> at & 1) as f64);
            }
        }
    }

    fn asks(&self) -> bool {
        self.edges != 0
    }

    fn step(&mut self, outside: &mut Outside) {
        let pins = Gpio::pins(outside);
        let before = std::mem::replace(&mut self.last, pins);
        self.edges |= pins & !before & self.rises | before & !pins & self.falls;
    }

    fn watches(&self) -> bool {
        self.rises | self.falls != 0
    }
}
