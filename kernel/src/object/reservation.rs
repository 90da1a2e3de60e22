//! Reservations: nodes of the scheduling tree as objects. A leaf is CPU time that threads run on, a
//! class divides what it has among those in it. The roots, one for each CPU, come first in the pool
//! and are never destroyed.

use super::{Domain, Pooled};
use crate::access::Ref;
use crate::list::{Linked, Links, List};
use crate::port::Port;
use abi::object::Resource;
use cells::Cell;

/// Selects a reservation's links in the list of its class.
pub struct InClass;

/// What can be reached by a reservation's name.
pub struct Header<P: Port> {
    in_class: Links<Reservation<P>>,
}

/// A reservation.
pub struct Reservation<P: Port> {
    pub(super) header: Header<P>,
    /// Its node in the tree.
    pub node: Cell<u32>,
    /// The class that it is in; a root is in none.
    pub class: Cell<Option<Ref<Reservation<P>>>>,
    /// The reservations that are in it.
    pub inner: List<Reservation<P>, InClass>,
    owner: Cell<Option<Ref<Domain<P>>>>,
}

impl<P: Port> Reservation<P> {
    /// A reservation for a vacant pool slot.
    pub fn new() -> Reservation<P> {
        Reservation {
            header: Header { in_class: Links::new() },
            node: Cell::new(0),
            class: Cell::new(None),
            inner: List::new(),
            owner: Cell::new(None),
        }
    }
}

impl<P: Port> Default for Reservation<P> {
    fn default() -> Self {
        Reservation::new()
    }
}

impl<P: Port> Linked<InClass> for Reservation<P> {
    fn links(header: &Header<P>) -> &Links<Self> {
        &header.in_class
    }
}

impl<P: Port> Pooled<P> for Reservation<P> {
    const EXISTS: bool = P::TREE;
    const RESOURCE: Resource = Resource::Reservations;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
}
