//! Plants that come with Giusto.

mod boiler;
mod loopback;
mod motor;

pub use boiler::Boiler;
pub use loopback::Loopback;
pub use motor::Motor;

use crate::plant::Make;

/// Those by name.
pub const ALL: [(&str, Make); 3] = [
    ("boiler", |parameters| Ok(Box::new(Boiler::new(parameters)?))),
    ("motor", |parameters| Ok(Box::new(Motor::new(parameters)?))),
    ("loopback", |parameters| Ok(Box::new(Loopback::new(parameters)?))),
];
