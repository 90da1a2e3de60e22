//! The transport by memory-mapped registers: finding out what a device is, and its beginning.

use crate::queue::Layout;

/// "virt".
const MAGIC: u32 = 0x7472_6976;
const VERSION: u32 = 2;

mod register {
    pub const MAGIC: usize = 0x0;
    pub const VERSION: usize = 0x4;
    pub const DEVICE: usize = 0x8;
    pub const DEVICE_FEATURES: usize = 0x10;
    pub const DEVICE_FEATURES_SELECT: usize = 0x14;
    pub const DRIVER_FEATURES: usize = 0x20;
    pub const DRIVER_FEATURES_SELECT: usize = 0x24;
    pub const QUEUE_SELECT: usize = 0x30;
    pub const QUEUE_SIZE_MOST: usize = 0x34;
    pub const QUEUE_SIZE: usize = 0x38;
    pub const QUEUE_READY: usize = 0x44;
    pub const QUEUE_NOTIFY: usize = 0x50;
    pub const INTERRUPT_STATUS: usize = 0x60;
    pub const INTERRUPT_ACKNOWLEDGE: usize = 0x64;
    pub const STATUS: usize = 0x70;
    pub const QUEUE_DESCRIPTORS: usize = 0x80;
    pub const QUEUE_AVAILABLE: usize = 0x90;
    pub const QUEUE_USED: usize = 0xa0;
}

mod status {
    pub const ACKNOWLEDGE: u32 = 1;
    pub const DRIVER: u32 = 2;
    pub const DRIVER_OK: u32 = 4;
    pub const FEATURES_OK: u32 = 8;
    pub const FAILED: u32 = 128;
}

/// The feature of each device of this version.
pub const VERSION_1: u64 = 1 << 32;

/// Registers of 32 bits, by their offset in bytes.
pub trait Registers {
    /// What a register has.
    fn read(&self, offset: usize) -> u32;
    /// Writes to it.
    fn write(&self, offset: usize, value: u32);
}

/// Why a device is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// There is no place for a device.
    NoPlace,
    /// It speaks another version, such as the one before the first.
    Version(u32),
    /// There is no device, or one of another kind.
    Kind(u32),
    /// It wants features that the driver does not have.
    Features,
    /// A queue is missing, or smaller than the driver's.
    Queue(u32),
}

/// A device, which has been reset.
pub struct Device<R> {
    registers: R,
}

impl<R: Registers> Device<R> {
    /// A device of this kind, with those of some features that it has; also those that it got.
    pub fn begin(registers: R, kind: u32, wanted: u64) -> Result<(Device<R>, u64), Unusable> {
        if registers.read(register::MAGIC) != MAGIC {
            return Err(Unusable::NoPlace);
        }
        let version = registers.read(register::VERSION);
        if version != VERSION {
            return Err(Unusable::Version(version));
        }
        let found = registers.read(register::DEVICE);
        if found != kind {
            return Err(Unusable::Kind(found));
        }
        registers.write(register::STATUS, 0);
        registers.write(register::STATUS, status::ACKNOWLEDGE);
        registers.write(register::STATUS, status::ACKNOWLEDGE | status::DRIVER);
        let device = Device { registers };
        let features = device.offered() & (wanted | VERSION_1);
        device.choose(features);
        let agreed = status::ACKNOWLEDGE | status::DRIVER | status::FEATURES_OK;
        device.registers.write(register::STATUS, agreed);
        let stands = device.registers.read(register::STATUS) & status::FEATURES_OK != 0;
        if features & VERSION_1 == 0 || !stands {
            device.give_up();
            return Err(Unusable::Features);
        }
        Ok((device, features))
    }

    fn offered(&self) -> u64 {
        let half = |select: u32| {
            self.registers.write(register::DEVICE_FEATURES_SELECT, select);
            u64::from(self.registers.read(register::DEVICE_FEATURES))
        };
        half(0) | half(1) << 32
    }

    fn choose(&self, features: u64) {
        for (select, half) in [(0, features as u32), (1, (features >> 32) as u32)] {
            self.registers.write(register::DRIVER_FEATURES_SELECT, select);
            self.registers.write(register::DRIVER_FEATURES, half);
        }
    }

    /// Gives it a queue: so many descriptors, laid out from a physical address.
    pub fn give_queue(&self, number: u32, size: u32, address: u64) -> Result<(), Unusable> {
        self.registers.write(register::QUEUE_SELECT, number);
        let in_use = self.registers.read(register::QUEUE_READY) != 0;
        if in_use || self.registers.read(register::QUEUE_SIZE_MOST) < size {
            self.give_up();
            return Err(Unusable::Queue(number));
        }
        self.registers.write(register::QUEUE_SIZE, size);
        let Layout { available, used, .. } = Layout::of(size as usize);
        for (register, part) in [
            (register::QUEUE_DESCRIPTORS, 0),
            (register::QUEUE_AVAILABLE, available),
            (register::QUEUE_USED, used),
        ] {
            let at = address + part;
            self.registers.write(register, at as u32);
            self.registers.write(register + 4, (at >> 32) as u32);
        }
        self.registers.write(register::QUEUE_READY, 1);
        Ok(())
    }

    /// It may use its queues from now on.
    pub fn go(&self) {
        let status = self.registers.read(register::STATUS);
        self.registers.write(register::STATUS, status | status::DRIVER_OK);
    }

    /// Tells it that there is something new in a queue.
    pub fn notify(&self, queue: u32) {
        self.registers.write(register::QUEUE_NOTIFY, queue);
    }

    /// Takes its reasons to interrupt: 1 a queue, 2 its configuration.
    pub fn acknowledge(&self) -> u32 {
        let reasons = self.registers.read(register::INTERRUPT_STATUS);
        self.registers.write(register::INTERRUPT_ACKNOWLEDGE, reasons);
        reasons
    }

    /// It has broken a rule: it is not used any more until it begins again.
    pub fn give_up(&self) {
        let status = self.registers.read(register::STATUS);
        self.registers.write(register::STATUS, status | status::FAILED);
    }
}
