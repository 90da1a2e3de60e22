//! Devices to control, before there is hardware: a machine without any plays them in virtual time.
//!
//! A device has *registers*, 64-bit words that programs read and write, and may interrupt. It
//! reaches the outside world by *wires*, which lead to a *plant*: a model of what is controlled.
//! Neither knows the machine: it is told the instant of each access, says when it does something by
//! itself, and whether it asks for its interrupt. What goes wrong outside ([`Fault`]) lies between
//! a device and its wires, so no device has code for it.
//!
//! | file | what |
//! |---|---|
//! | `plant.rs`, `plants/` | what a plant is, and some |
//! | `wire.rs`, `fault.rs` | what lies between a device and the plant |
//! | `device.rs` | what a device is |
//! | `pwm.rs`, `adc.rs`, `encoder.rs`, `gpio.rs`, `can.rs` | the devices |
//! | `panel.rs` | all devices of a machine, and the plant |
#![forbid(unsafe_code)]

mod adc;
mod can;
mod device;
mod encoder;
mod fault;
mod gpio;
mod panel;
mod parameters;
mod plant;
pub mod plants;
mod pwm;
mod rng;
#[cfg(test)]
mod tests;
mod wire;

pub use abi::device::can::Frame;
pub use device::{Device, Outside};
pub use fault::{Fault, What};
pub use panel::{Panel, Setup, Wired};
pub use parameters::Parameters;
pub use plant::{Make, Plant, STEP};
pub use rng::Rng;

/// The kinds of devices, as manifests name them.
pub const KINDS: [&str; 5] = ["pwm", "adc", "encoder", "gpio", "can"];

/// Registers that a device has at most: a page of words.
pub const REGISTERS: usize = 512;
