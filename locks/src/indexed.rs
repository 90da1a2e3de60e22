//! Device registers behind an index: one register selects which of them another one, the window,
//! is. Two CPUs that use the pair at once write each other's registers, so a lock guards it.

use crate::object::ObjectLock;
use crate::relax::Relax;

/// A device's pair of index and window.
pub trait Indexed {
    /// Selects a register.
    fn select(&self, index: u32);
    /// Writes the register that is selected.
    fn write(&self, value: u32);
}

/// Registers behind an index; `L` guards them.
pub struct Registers<D, L> {
    device: D,
    lock: L,
}

impl<D: Indexed, L: ObjectLock> Registers<D, L> {
    /// The registers of a device, with a lock that is free.
    pub const fn new(device: D, lock: L) -> Registers<D, L> {
        Registers { device, lock }
    }

    /// The device.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Writes values to registers, in this order; other CPUs' writes come before or behind. The
    /// CPU takes no interrupt that writes, too.
    #[inline(always)]
    pub fn write<R: Relax, const N: usize>(&self, values: [(u32, u32); N]) {
        self.lock.acquire::<R>();
        for (index, value) in values {
            self.device.select(index);
            self.device.write(value);
        }
        self.lock.release();
    }
}
