//! A driver that acknowledges two interrupts without end, and serves no device: each asks again at
//! once. What runs on the CPU to which they come still keeps its deadlines.

use rt::device::{Gpio, Registers};
use rt::prelude::*;
use rt::signal;

/// Interrupts, and the devices that ask for them in a simulation.
const LINES: [&str; 2] = ["first", "second"];

/// Capabilities `first` and `second`, interrupts. Memory `timers`, those of a board, or `first` and
/// `second`, pins that lead back.
pub fn main(env: &Env) {
    match env.find_mem("timers") {
        Some(timers) => expire(Registers::new(timers)),
        None => LINES.into_iter().for_each(|name| rise(Gpio::new(env.mem(name)))),
    }
    let lines = LINES.map(|name| env.cap(name));
    loop {
        for line in lines {
            signal::acknowledge(line).expect("it may be acknowledged");
        }
    }
}

/// An edge that no one looks at.
fn rise(pin: Gpio) {
    pin.drive(1);
    pin.interrupt_at(1, 0);
    pin.set(1);
}

/// The first two event timers (HPET) expire, and ask on lines 16 and 17 from then on.
fn expire(timers: Registers) {
    const ENABLE: usize = 0x10 / 8;
    const TIMER: usize = 0x100 / 8;
    const EACH: usize = 0x20 / 8;
    const LEVEL: u64 = 1 << 1;
    const INTERRUPTS: u64 = 1 << 2;
    for (nth, line) in [(0, 16), (1, 17)] {
        timers.write(TIMER + nth * EACH, LEVEL | INTERRUPTS | line << 9);
        timers.write(TIMER + nth * EACH + 1, 1_000);
    }
    timers.write(ENABLE, 1);
}
