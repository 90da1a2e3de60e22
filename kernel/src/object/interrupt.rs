//! Interrupts: an IRQ whose handler is a thread. The kernel masks the IRQ and
//! signals; the handler unmasks it when it has served the device.

use super::{Domain, Notification, Pooled, Weak};
use crate::access::{Ref, Steady};
use crate::port::Port;
use abi::object::Resource;
use cells::Cell;

/// What can be reached by an interrupt's name.
pub struct Header<P: Port> {
    /// What it signals.
    pub target: Steady<Option<Weak<Notification<P>>>>,
    /// The bits that it signals.
    pub badge: Steady<u64>,
}

/// An interrupt.
pub struct Interrupt<P: Port> {
    pub(super) header: Header<P>,
    /// The number of the IRQ.
    pub irq: Cell<u8>,
    owner: Cell<Option<Ref<Domain<P>>>>,
}

impl<P: Port> Interrupt<P> {
    /// An interrupt for a vacant pool slot.
    pub fn new() -> Interrupt<P> {
        Interrupt {
            header: Header { target: Steady::new(None), badge: Steady::new(0) },
            irq: Cell::new(0),
            owner: Cell::new(None),
        }
    }
}

impl<P: Port> Default for Interrupt<P> {
    fn default() -> Self {
        Interrupt::new()
    }
}

impl<P: Port> Pooled<P> for Interrupt<P> {
    const RESOURCE: Resource = Resource::Interrupts;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
}
