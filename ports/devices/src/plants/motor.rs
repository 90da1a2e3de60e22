//! A shaft that is turned.

use crate::{Parameters, Plant};

/// A motor: its speed follows what drives it, as a first-order lag, and a load slows it down.
///
/// | wire | | unit |
/// |---|---|---|
/// | `drive` | acted on | part of full voltage, 0 to 1 |
/// | `reverse` | acted on | 1: the drive turns it the other way |
/// | `angle` | measured | revolutions since the start |
/// | `speed` | measured | revolutions a second |
/// | `at_stop` | measured | 1 while it is turned beyond `stop` |
pub struct Motor {
    fastest: f64,
    lag: f64,
    load: f64,
    stop: f64,
    drive: f64,
    reverse: bool,
    angle: f64,
    speed: f64,
}

impl Motor {
    /// With parameters `fastest` (revolutions a second at full voltage, 50), `lag` (seconds until
    /// it has 63 % of a new speed, 0.02), `load` (revolutions a second that it is slowed down by,
    /// 0) and `stop` (revolutions, 1000).
    ///
    /// # Errors
    ///
    /// What is wrong with them, in words.
    pub fn new(parameters: &Parameters) -> Result<Motor, String> {
        parameters.only(&["fastest", "lag", "load", "stop"])?;
        let lag = parameters.number("lag", 0.02)?;
        if lag <= 0.0 {
            return Err(format!("parameter `lag` is {lag}, and no time: give it seconds above 0"));
        }
        Ok(Motor {
            fastest: parameters.number("fastest", 50.0)?,
            lag,
            load: parameters.number("load", 0.0)?,
            stop: parameters.number("stop", 1000.0)?,
            drive: 0.0,
            reverse: false,
            angle: 0.0,
            speed: 0.0,
        })
    }
}

impl Plant for Motor {
    fn wires(&self) -> &[&'static str] {
        &["drive", "reverse", "angle", "speed", "at_stop"]
    }

    fn get(&self, wire: usize) -> f64 {
        let [reverse, at_stop] = [self.reverse, self.angle > self.stop].map(u8::from);
        [self.drive, reverse.into(), self.angle, self.speed, at_stop.into()][wire]
    }

    fn set(&mut self, wire: usize, value: f64) {
        match wire {
            0 => self.drive = value.clamp(0.0, 1.0),
            1 => self.reverse = value > 0.5,
            _ => {}
        }
    }

    fn step(&mut self, seconds: f64) {
        let way = if self.reverse { -1.0 } else { 1.0 };
        let driven = way * self.drive * self.fastest;
        // A load never turns it by itself.
        let aim = driven.signum() * (driven.abs() - self.load).max(0.0);
        self.speed += (aim - self.speed) * (seconds / self.lag).min(1.0);
        self.angle += self.speed * seconds;
    }
}
