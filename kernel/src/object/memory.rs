//! Memory objects: page frames that can be mapped.
//!
//! Those made at boot are contiguous. Those that programs make are charged in full when they are
//! made and get their frames one by one, when a page is first mapped, through an index frame;
//! so making one is O(1) and never fails half-way.

use super::{Domain, Mapping, Pooled};
use crate::access::Ref;
use crate::list::List;
use crate::object::mapping::OfMemory;
use crate::port::Port;
use abi::object::Resource;
use cells::Cell;

/// Most pages in a memory object that a program makes: what one index frame holds.
pub const MAX_PAGES: u64 = 512;

/// Where a memory object's frames are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// In a row from this address. That of device memory has the port's attributes in its low bits.
    Contiguous(u64),
    /// Listed in the index frame at this address; zero means not there yet.
    Indexed(u64),
}

/// A memory object. One without pages is I/O ports: nothing of it can be mapped, and what maps does
/// not ask.
pub struct Memory<P: Port> {
    /// Length in pages.
    pub pages: Cell<u64>,
    /// Its frames.
    pub frames: Cell<Frames>,
    /// Its mappings.
    pub mappings: List<Mapping<P>, OfMemory>,
    owner: Cell<Option<Ref<Domain<P>>>>,
}

impl<P: Port> Memory<P> {
    /// A memory object for a vacant pool slot.
    pub fn new() -> Memory<P> {
        Memory {
            pages: Cell::new(0),
            frames: Cell::new(Frames::Contiguous(0)),
            mappings: List::new(),
            owner: Cell::new(None),
        }
    }

    /// It is so many I/O ports from a first one on; none of them lies beyond the last port.
    pub fn set_ports(&self, first: u16, number: u32) {
        self.pages.set(0);
        self.frames.set(Frames::Contiguous(u64::from(number) << 16 | u64::from(first)));
    }

    /// The first of the I/O ports that it is, and how many there are.
    pub fn ports(&self) -> Option<(u16, u32)> {
        match (self.pages.get(), self.frames.get()) {
            (0, Frames::Contiguous(word)) => Some((word as u16, (word >> 16) as u32)),
            _ => None,
        }
    }
}

impl<P: Port> Default for Memory<P> {
    fn default() -> Self {
        Memory::new()
    }
}

impl<P: Port> Pooled<P> for Memory<P> {
    const RESOURCE: Resource = Resource::Memories;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
}
