//! Drivers of devices. What a driver does for its clients makes no system calls, so that tests
//! drive it without a machine; [`run`] makes them.
//!
//! A driver has memory `queue`, which the device reads and writes, and one with its registers. Its
//! bell is a notification, of which the interrupt signals the bit [`INTERRUPT`], clients others.

mod block;
mod entropy;
mod link;
mod network;

pub use block::BlockDriver;
pub use entropy::EntropyDriver;
pub use link::Link;
pub use network::{Admission, NetworkDriver};

use crate::mmio::{Device, Registers};
use rt::{Received, Slot, signal};

/// What the interrupt signals.
pub const INTERRUPT: u64 = 2;

/// A driver between a device and a client that has a link to it.
pub trait Driver {
    /// Does what there is to do, for a time that no client chooses. True if the client has to be
    /// signalled.
    #[must_use = "the client may wait for a signal"]
    fn work(&mut self) -> bool;

    /// To be asked before the driver waits. False if there is something to do.
    #[must_use = "a signal comes only if this is true"]
    fn may_wait(&mut self) -> bool;

    /// Lets the device interrupt again, before its queues are looked at.
    fn interrupted(&mut self);
}

/// Has a driver work whenever there is a signal. `next` is told whether the driver may wait, and
/// gives the signal for which it has waited, if it has.
pub fn run<D: Driver>(
    driver: &mut D,
    interrupt: Slot,
    client: Slot,
    mut next: impl FnMut(&mut D, bool) -> Option<Received>,
) -> ! {
    loop {
        if driver.work() {
            signal::signal(client).expect("the client's notification is there");
        }
        let may_wait = driver.may_wait();
        if let Some(signalled) = next(driver, may_wait) {
            acknowledge(signalled, interrupt, || driver.interrupted());
        }
    }
}

/// Lets the interrupt come again, if it did.
fn acknowledge(signalled: Received, interrupt: Slot, interrupted: impl FnOnce()) {
    if signalled.badge & INTERRUPT != 0 {
        interrupted();
        signal::acknowledge(interrupt).expect("the interrupt is the driver's");
    }
}

/// A device, which is begun anew whenever it has broken a rule.
struct Hardware<R, const QUEUES: usize> {
    registers: R,
    kind: u32,
    /// The descriptors of each queue, and its physical address.
    queues: [(u32, u64); QUEUES],
    device: Device<R>,
}

impl<R: Registers + Clone, const QUEUES: usize> Hardware<R, QUEUES> {
    /// The device, which has been reset and uses no queue yet.
    ///
    /// # Panics
    ///
    /// If it cannot be used: the supervisor may try again.
    fn new(registers: R, kind: u32, queues: [(u32, u64); QUEUES]) -> Hardware<R, QUEUES> {
        let device = begin(&registers, kind);
        Hardware { registers, kind, queues, device }
    }

    /// Resets it, so that it uses no queue.
    fn reset(&mut self) {
        self.device = begin(&self.registers, self.kind);
    }

    /// Lets it use the queues, which are empty.
    fn start(&self) {
        for (number, (size, address)) in (0..).zip(self.queues) {
            self.device.set_queue(number, size, address).expect("the device has such a queue");
        }
        self.device.start();
    }
}

fn begin<R: Registers + Clone>(registers: &R, kind: u32) -> Device<R> {
    match Device::begin(registers.clone(), kind, 0) {
        Ok((device, _)) => device,
        Err(why) => panic!("the device cannot be used: {why:?}"),
    }
}
