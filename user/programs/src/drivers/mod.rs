//! Drivers, each in a domain of its own, and clients of them.
//!
//! A driver of a virtio device has two memories: `queue`, which the device reads and writes, and its
//! registers, which have the device's name, an argument `device`. Its capabilities are `queue`
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
use rt::{Received, Slot, signal};
use virtio::Part;
use virtio::mmio::Device;

/// What the interrupt signals; clients signal other bits.
const INTERRUPT: u64 = 2;

/// What each driver has of the manifest.
struct Hardware {
    registers: Registers,
    interrupt: Slot,
    /// What is left of the memory of its queues.
    queue: Part,
}

impl Hardware {
    fn of(env: &Env) -> Hardware {
        let queue = Part::of(env, "queue").expect("the manifest gives `physical`");
        let registers = Registers::new(env.mem(env.arg("device").unwrap_or("device")));
        Hardware { registers, interrupt: env.cap("interrupt"), queue }
    }

    /// Resets the device, so that it uses no queue, and agrees with it.
    ///
    /// # Panics
    ///
    /// If there is no such device: the supervisor may try again.
    fn reset(&self, kind: u32) -> Device<Registers> {
        match Device::begin(self.registers, kind, 0) {
            Ok((device, _)) => device,
            Err(why) => panic!("the device cannot be used: {why:?}"),
        }
    }

    /// Lets the device interrupt again, if it did, before its queues are looked at.
    fn acknowledge(&self, device: &Device<Registers>, bell: Received) {
        if bell.badge & INTERRUPT == 0 {
            return;
        }
        device.acknowledge();
        signal::acknowledge(self.interrupt).expect("the interrupt is the driver's");
    }
}

/// Lets a device that was reset use these queues, which are empty: sizes, and where they begin.
fn start(device: &Device<Registers>, queues: &[(usize, u64)]) {
    for (number, (size, address)) in (0..).zip(queues) {
        device.set_queue(number, *size as u32, *address).expect("the device has such a queue");
    }
    device.start();
}
