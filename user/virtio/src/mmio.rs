//! The transport by memory-mapped registers: what a device is, its reset, and its queues.

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
    pub const GENERATION: usize = 0xfc;
    pub const CONFIGURATION: usize = 0x100;
}

mod status {
    pub const ACKNOWLEDGE: u32 = 1;
    pub const DRIVER: u32 = 2;
    pub const DRIVER_OK: u32 = 4;
    pub const FEATURES_OK: u32 = 8;
    pub const NEEDS_RESET: u32 = 64;
    pub const FAILED: u32 = 128;
}

/// The feature of each device of this version.
pub const VERSION_1: u64 = 1 << 32;

/// Kinds of devices.
pub mod kind {
    /// It sends and receives frames.
    pub const NETWORK: u32 = 1;
    /// It keeps blocks.
    pub const BLOCK: u32 = 2;
    /// It has random bytes.
    pub const ENTROPY: u32 = 4;
}

/// A reason of interrupts: configuration or status have changed.
const CONFIGURATION: u32 = 2;

/// How often a device is asked whether its reset is over, or for a configuration that stands still.
const LOOKS: usize = 1000;

/// Registers of 32 bits, by their offset in bytes.
pub trait Registers {
    /// What a register has.
    fn read(&self, offset: usize) -> u32;
    /// Writes to it.
    fn write(&self, offset: usize, value: u32);
}

impl Registers for rt::device::Registers {
    fn read(&self, offset: usize) -> u32 {
        self.read_32(offset)
    }
    fn write(&self, offset: usize, value: u32) {
        self.write_32(offset, value);
    }
}

/// Why a device is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// There is no place for a device.
    NoPlace,
    /// It has another version, such as 1, the one before the standard.
    Version(u32),
    /// There is no device, or one of another kind.
    Kind(u32),
    /// Its reset does not end.
    Reset,
    /// It is not of the standard's version, or does not agree to the features that it offers.
    Features,
    /// A queue is missing, or smaller than the driver's.
    Queue(u32),
    /// Its configuration does not stand still.
    Configuration,
}

/// A device, which has been reset.
pub struct Device<R> {
    registers: R,
}

impl<R: Registers> Device<R> {
    /// Resets a device of this kind, so that it does not use any queue from now on, and agrees with
    /// it to those of the wanted features that it offers; also returns these.
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
        if (0..LOOKS).all(|_| registers.read(register::STATUS) != 0) {
            return Err(Unusable::Reset);
        }
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

    /// Sets up a queue: so many descriptors, laid out from a physical address.
    pub fn set_queue(&self, number: u32, size: u32, address: u64) -> Result<(), Unusable> {
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

    /// 64 bits of what the kind of device has for its driver to read, at an offset in bytes.
    pub fn configuration(&self, offset: usize) -> Result<u64, Unusable> {
        let read = |offset: usize| self.registers.read(offset);
        let at = register::CONFIGURATION + offset;
        for _ in 0..LOOKS {
            let before = read(register::GENERATION);
            let value = u64::from(read(at)) | u64::from(read(at + 4)) << 32;
            if read(register::GENERATION) == before {
                return Ok(value);
            }
        }
        Err(Unusable::Configuration)
    }

    /// Lets the device use its queues from now on.
    pub fn start(&self) {
        let status = self.registers.read(register::STATUS);
        self.registers.write(register::STATUS, status | status::DRIVER_OK);
    }

    /// Notifies it that there is something new in a queue.
    pub fn notify(&self, queue: u32) {
        self.registers.write(register::QUEUE_NOTIFY, queue);
    }

    /// Acknowledges what it interrupts for. True if the device says that it is broken, and does
    /// nothing until it is reset.
    #[must_use = "a device may be broken"]
    pub fn acknowledge(&self) -> bool {
        let reasons = self.registers.read(register::INTERRUPT_STATUS);
        self.registers.write(register::INTERRUPT_ACKNOWLEDGE, reasons);
        let status = || self.registers.read(register::STATUS);
        reasons & CONFIGURATION != 0 && status() & status::NEEDS_RESET != 0
    }

    /// Tells it that the driver does not use it, until its next reset.
    pub fn give_up(&self) {
        let status = self.registers.read(register::STATUS);
        self.registers.write(register::STATUS, status | status::FAILED);
    }
}
