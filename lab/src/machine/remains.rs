//! What a run leaves behind, to be judged.

use super::Emulator;
use super::memory::{SharedFile, word_at};
use anyhow::Result;
use std::path::Path;

/// The name of a rule, and why it does not hold.
pub type Finding = (String, Result<(), String>);

/// The machine's memory after a run.
pub struct Remains<'a> {
    pub(super) machine: &'a dyn Emulator,
    pub(super) memory: &'a SharedFile,
    /// The boot archive as the kernel left it.
    pub(super) archive: &'a [u8],
    /// The kernel image with its symbols.
    pub kernel: &'a Path,
}

impl Remains<'_> {
    /// A word of the boot archive.
    pub fn word(&self, index: usize) -> Option<u64> {
        word_at(self.archive, index)
    }

    /// Physical memory.
    pub fn physical(&self, address: u64, bytes: u64) -> Result<Vec<u8>> {
        self.memory.physical(self.machine, address, bytes)
    }
}
