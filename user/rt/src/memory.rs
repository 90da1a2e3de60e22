//! Memory and mappings.

use crate::Slot;
use crate::arch::{self, word};
use crate::noted;
use crate::system::{done, results};
use abi::call::{Call, MAP_RIGHTS_SHIFT};
use abi::{Error, Rights};

/// Creates a memory object of zeroed pages.
pub fn create(slot: Slot, pages: u64) -> Result<(), Error> {
    done(Call::MemoryCreate, [slot.word(), pages])
}

/// Where memory lies: its physical address, and its bytes from there. For what a device is to read
/// and write by itself.
pub fn address(memory: Slot) -> Result<(u64, u64), Error> {
    let outcome = results(Call::MemoryAddress, [memory.word()])?;
    Ok((outcome.badge, outcome.info.0))
}

/// What to map, and where.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The memory.
    pub memory: Slot,
    /// Its first page to map.
    pub first: u64,
    /// How many pages.
    pub pages: u64,
    /// The address of the first one.
    pub address: u64,
}

/// Maps memory into a domain ([`Slot::NONE`]: the caller's) and puts the mapping into an empty
/// slot. Destroying the mapping unmaps.
#[inline(always)]
pub fn map(mapping: Slot, domain: Slot, range: Range, rights: Rights) -> Result<(), Error> {
    let a = [
        word(domain.word()),
        word(range.memory.word()),
        word(range.address),
        word(range.pages),
        word(range.first),
        word(mapping.word() | u64::from(rights.0) << MAP_RIGHTS_SHIFT),
    ];
    let rights = u64::from(rights.0) << MAP_RIGHTS_SHIFT;
    let about = [domain.word(), range.memory.word(), mapping.word() | rights];
    noted::result(arch::syscall(Call::Map as u64, a, arch::words([])).status, Call::Map, about)
}

/// Changes the rights of a mapping.
#[inline(always)]
pub fn protect(mapping: Slot, rights: Rights) -> Result<(), Error> {
    done(Call::Protect, [mapping.word(), u64::from(rights.0)])
}
