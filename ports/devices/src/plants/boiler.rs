//! Water that is heated.

use crate::{Parameters, Plant};

/// Degrees around it.
const AROUND: f64 = 20.0;

/// A boiler: a heater warms it, and it loses heat to what is around it.
///
/// | wire | | unit |
/// |---|---|---|
/// | `heater` | acted on | part of its power, 0 to 1 |
/// | `temperature` | measured | degrees Celsius |
pub struct Boiler {
    /// Degrees a second, at full power.
    power: f64,
    /// Part of the difference to what is around it that it loses each second.
    loss: f64,
    heater: f64,
    temperature: f64,
}

impl Boiler {
    /// With parameters `power` (degrees a second, 20), `loss` (a second, 0.2) and `temperature`
    /// (degrees at first, 20).
    ///
    /// # Errors
    ///
    /// What is wrong with them, in words.
    pub fn new(parameters: &Parameters) -> Result<Boiler, String> {
        parameters.only(&["power", "loss", "temperature"])?;
        Ok(Boiler {
            power: parameters.number("power", 20.0)?,
            loss: parameters.number("loss", 0.2)?,
            heater: 0.0,
            temperature: parameters.number("temperature", AROUND)?,
        })
    }
}

impl Plant for Boiler {
    fn wires(&self) -> &[&'static str] {
        &["heater", "temperature"]
    }

    fn get(&self, wire: usize) -> f64 {
        [self.heater, self.temperature][wire]
    }

    fn set(&mut self, wire: usize, value: f64) {
        if wire == 0 {
            self.heater = value.clamp(0.0, 1.0);
        }
    }

    fn step(&mut self, seconds: f64) {
        let lost = (self.temperature - AROUND) * self.loss;
        self.temperature += (self.heater * self.power - lost) * seconds;
    }
}
