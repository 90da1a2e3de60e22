//! Drivers, each in a domain of its own, and clients of them.
//!
//! A driver of a virtio device has two memories: `queue`, which the device reads and writes, and
//! its registers, which have the device's name, an argument `device`. Its capabilities are `queue`
//! (physical), `interrupt` (control), and `bell` (receive), of which the interrupt signals bit 1.

mod clock;
mod disk;
mod disk_check;
mod entropy;
mod entropy_client;
mod frames;

pub use clock::{client as clock_client, driver as clock};
pub use disk::driver as disk;
pub use disk_check::{idle as disk_idle, main as disk_check};
pub use entropy::driver as entropy;
pub use entropy_client::main as entropy_client;
pub use frames::driver as network;

use rt::device::Registers;
use rt::prelude::*;
use virtio::Part;

/// The registers, and the memory for queues.
fn hardware(env: &Env) -> (Registers, Part) {
    let memory = Part::of(env, "queue").expect("the manifest gives `physical`");
    (Registers::new(env.mem(env.arg("device").unwrap_or("device"))), memory)
}
