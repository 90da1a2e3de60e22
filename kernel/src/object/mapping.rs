//! Mappings: a range of one domain's addresses backed by memory. Naming mappings makes undoing
//! them O(1) a page, whichever starts it: the mapper, the end of the memory or of the domain.

use super::{Domain, Memory, Pooled};
use crate::access::Ref;
use crate::list::{Linked, Links};
use crate::port::Port;
use crate::tlb::Shootdown;
use abi::object::Resource;
use abi::{Error, Rights};
use cells::Cell;

/// Selects a mapping's links in its memory's list.
pub struct OfMemory;
/// Selects a mapping's links in its domain's list.
pub struct OfDomain;

/// What can be reached by a mapping's name.
pub struct Header<P: Port> {
    of_memory: Links<Mapping<P>>,
    of_domain: Links<Mapping<P>>,
}

/// A mapping.
#[repr(C)]
pub struct Mapping<P: Port> {
    /// Whether other CPUs may still hold what was changed.
    pub shootdown: Shootdown,
    pub(super) header: Header<P>,
    /// The memory.
    pub memory: Cell<Option<Ref<Memory<P>>>>,
    /// The domain whose addresses it is in.
    pub domain: Cell<Option<Ref<Domain<P>>>>,
    /// First address.
    pub at: Cell<u64>,
    /// First page of the memory.
    pub first: Cell<u64>,
    /// Length in pages.
    pub pages: Cell<u64>,
    /// How many pages are in the page tables: fewer than all while it is being made or undone.
    pub done: Cell<u64>,
    /// How many pages have its rights, from the first: fewer than all while they are being changed,
    /// or when two calls have changed them at once.
    pub protected: Cell<u64>,
    /// Why it is not completed, if it is undone.
    pub why: Cell<Error>,
    /// The most that its rights can be: those of the memory capability.
    pub limit: Cell<Rights>,
    /// The rights of its pages.
    pub rights: Cell<Rights>,
    owner: Cell<Option<Ref<Domain<P>>>>,
}

impl<P: Port> Mapping<P> {
    /// A mapping for a vacant pool slot.
    pub fn new() -> Mapping<P> {
        Mapping {
            header: Header { of_memory: Links::new(), of_domain: Links::new() },
            memory: Cell::new(None),
            domain: Cell::new(None),
            at: Cell::new(0),
            first: Cell::new(0),
            pages: Cell::new(0),
            done: Cell::new(0),
            shootdown: Shootdown::new(),
            protected: Cell::new(0),
            why: Cell::new(Error::Destroyed),
            limit: Cell::new(Rights::NONE),
            rights: Cell::new(Rights::NONE),
            owner: Cell::new(None),
        }
    }
}

impl<P: Port> Mapping<P> {
    /// A page has these rights from now on.
    pub fn note_rights(&self, page: u64, rights: Rights) {
        let protected = self.protected.get();
        if self.rights.get() != rights {
            self.protected.set(protected.min(page));
        } else if page == protected {
            self.protected.set(page + 1);
        }
    }

    /// Whether all its pages are mapped.
    pub fn is_complete(&self) -> bool {
        self.done.get() == self.pages.get()
    }
}

impl<P: Port> Default for Mapping<P> {
    fn default() -> Self {
        Mapping::new()
    }
}

impl<P: Port> Linked<OfMemory> for Mapping<P> {
    fn links(header: &Header<P>) -> &Links<Self> {
        &header.of_memory
    }
}

impl<P: Port> Linked<OfDomain> for Mapping<P> {
    fn links(header: &Header<P>) -> &Links<Self> {
        &header.of_domain
    }
}

impl<P: Port> Pooled<P> for Mapping<P> {
    const RESOURCE: Resource = Resource::Mappings;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
}
