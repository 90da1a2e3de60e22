//! Domains: an address space, a capability table and quotas.

use super::capability::Capability;
use super::{Mapping, Pooled};
use crate::access::{Ref, Steady};
use crate::hidden::Key;
use crate::leaf::LeafRef;
use crate::list::{Linked, Links, List};
use crate::object::mapping::OfDomain;
use crate::port::{CachePadding, Port, Space};
use crate::quota::Quotas;
use abi::object::Resource;
use cells::Cell;
use core::mem::offset_of;

/// Selects a domain's links in the list of its owner.
pub struct Inside;

/// A capability table.
pub type Slots<P> = &'static [Steady<Capability<P>>];

/// What can be reached by a domain's name.
pub struct Header<P: Port> {
    /// Capabilities; slot 0 is never used.
    pub slots: Slots<P>,
    /// Slots that may be used, at most the table's length.
    pub limit: Steady<u32>,
    inside: Links<Domain<P>>,
    /// What ids of its threads are made with.
    pub key: Steady<Key>,
}

/// A protection domain. The header comes first: messages touch nothing else.
#[repr(C)]
pub struct Domain<P: Port> {
    pub(super) header: Header<P>,
    /// Page tables.
    pub space: P::Space,
    /// What it may create and has created.
    pub quotas: Quotas,
    /// Threads may have at most this priority.
    pub max_priority: Cell<u8>,
    /// The CPUs that its threads may use, a bit each.
    pub cpus: Cell<u64>,
    /// Mappings in its address space.
    pub mappings: List<Mapping<P>, OfDomain>,
    /// Domains that it owns.
    pub inner: List<Domain<P>, Inside>,
    /// Threads that run in it, of whatever owner.
    pub threads: Cell<u32>,
    /// Unhandled faults in it and in domains inside it that the console may still be told of.
    /// Those of domains inside another do not count: they come and go.
    pub reports: Cell<u32>,
    /// What its threads run on, unless they are given another reservation; or none.
    pub reservation: Cell<LeafRef>,
    /// Its name.
    pub name: Cell<[u64; 2]>,
    /// How far its destruction has come: a kind of object and a pool index.
    pub sweep: Cell<(u8, u32)>,
    _padding: CachePadding<P>,
    owner: Cell<Option<Ref<Domain<P>>>>,
}

impl<P: Port> Domain<P> {
    /// Where a debugger finds the domain that owns it.
    pub const OWNER: usize = offset_of!(Self, owner);

    /// A domain for a vacant pool slot, with its root table's frame and its capability table.
    pub fn new(root: u64, slots: Slots<P>) -> Domain<P> {
        Domain {
            space: P::Space::new(root),
            header: Header {
                slots,
                limit: Steady::new(0),
                inside: Links::new(),
                key: Steady::new(Key::default()),
            },
            quotas: Quotas::new(),
            max_priority: Cell::new(0),
            cpus: Cell::new(u64::MAX),
            mappings: List::new(),
            inner: List::new(),
            threads: Cell::new(0),
            reports: Cell::new(0),
            reservation: Cell::new(LeafRef::NONE),
            name: Cell::new([0; 2]),
            sweep: Cell::new((0, 0)),
            _padding: CachePadding::<P>::default(),
            owner: Cell::new(None),
        }
    }
}

impl<P: Port> Linked<Inside> for Domain<P> {
    fn links(header: &Header<P>) -> &Links<Self> {
        &header.inside
    }
}

impl<P: Port> Pooled<P> for Domain<P> {
    const RESOURCE: Resource = Resource::Domains;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
}
