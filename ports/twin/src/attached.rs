//! Devices that are attached to the machine: where their registers are, and when they interrupt.

use crate::hardware::Hardware;
use crate::meter;
use abi::PAGE;
use devices::{Make, Panel};
use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use twin_protocol::{Devices, Options};

/// What an access to a register takes: the bus is slower than memory.
pub const REGISTER: u64 = 50;
/// How long a machine in which nothing else happens waits for a device, in nanoseconds.
const HEEDS: u64 = 10_000_000_000;

/// Plants from outside.
static PLANTS: OnceLock<Vec<(&'static str, Make)>> = OnceLock::new();

/// Adds plants to those that come with Giusto, before any of them is asked for.
pub fn add(plants: &[(&'static str, Make)]) {
    PLANTS.get_or_init(|| plants.to_vec());
}

/// Refuses what there is to control, if it cannot be had.
pub fn check(options: &Options) -> Result<(), String> {
    panel(options).map_or(Ok(()), |panel| panel.map(drop))
}

fn panel(options: &Options) -> Option<Result<Panel, String>> {
    let Devices { setup, .. } = options.devices.as_ref()?;
    let further = PLANTS.get().map_or(&[][..], Vec::as_slice);
    Some(Panel::new(setup, further, options.seed))
}

/// The devices of a machine.
pub struct Attached {
    panel: RefCell<Panel>,
    /// The physical address of each one's registers; 0 before the kernel has made their page.
    pages: Vec<&'static AtomicU64>,
}

impl Attached {
    /// What the options ask for, if anything. The words are those of the archive.
    ///
    /// # Panics
    /// It cannot be had, by [`check`].
    pub fn new(options: &Options, words: &'static [AtomicU64]) -> Option<Attached> {
        let Devices { words: at, every, .. } = options.devices.as_ref()?;
        let mut panel = panel(options)?.unwrap_or_else(|error| panic!("{error}"));
        if *every > 0 {
            panel.record_every(*every);
        }
        Some(Attached { panel: panel.into(), pages: at.iter().map(|at| &words[*at]).collect() })
    }

    /// What was recorded of the plant's wires.
    pub fn take_record(&self) -> String {
        self.panel.borrow_mut().take_record()
    }
}

impl Hardware {
    /// The device whose registers are in the page of a word, with the word's index in it.
    fn device_of(&self, word: &AtomicU64) -> Option<(&Attached, usize, usize)> {
        let attached = self.attached.as_ref()?;
        let offset = std::ptr::from_ref(word).addr().checked_sub(self.frames.as_ptr().addr())?;
        let (page, within) = (offset as u64 / PAGE, offset as u64 % PAGE);
        let address = self.address_of(page);
        let at = attached.pages.iter().position(|known| known.load(Relaxed) == address)?;
        Some((attached, at, (within / 8) as usize))
    }

    /// Whether a word is a device's register.
    pub fn is_register(&self, word: &AtomicU64) -> bool {
        self.device_of(word).is_some()
    }

    /// A program reads a register, or another word: at an address that it may reach.
    pub fn read_word(&self, word: &AtomicU64) -> u64 {
        let Some((attached, at, register)) = self.device_of(word) else {
            return word.load(Relaxed);
        };
        let value = attached.panel.borrow_mut().read(at, register, meter::now());
        self.heed();
        self.look_at_devices();
        value
    }

    /// A program writes to one.
    pub fn write_word(&self, word: &AtomicU64, value: u64) {
        let Some((attached, at, register)) = self.device_of(word) else {
            return word.store(value, Relaxed);
        };
        attached.panel.borrow_mut().write(at, register, value, meter::now());
        self.heed();
        self.look_at_devices();
    }

    /// Devices do what they do until now, and interrupt if they ask for that.
    pub fn look_at_devices(&self) {
        let Some(attached) = &self.attached else { return };
        let (mut panel, first) = (attached.panel.borrow_mut(), &self.processors[0]);
        panel.pass_to(meter::now());
        let lines = panel.lines();
        first.device_at.set(panel.next());
        drop(panel);
        if self.request(lines) {
            self.heed();
        }
        if let Some(at) = first.due_idle() {
            self.rouse(first, at);
        }
    }

    /// Something has to do with devices: they are waited for from now on.
    fn heed(&self) {
        self.processors[0].heeds_until.set(meter::now().saturating_add(HEEDS));
    }
}
