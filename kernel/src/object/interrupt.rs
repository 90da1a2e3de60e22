//! Interrupts: a hardware line whose handler is a thread. The kernel's part is to hold the line
//! back and to signal; the handler lets it through again when it has served the device.

use super::{Domain, Notification, Object, Weak};
use crate::access::Ref;
use crate::port::Port;
use abi::object::Resource;
use cells::Cell;

/// An interrupt.
pub struct Interrupt<P: Port> {
    /// The line.
    pub line: Cell<u8>,
    /// What it signals.
    pub target: Cell<Option<Weak<Notification<P>>>>,
    /// The bits that it signals.
    pub badge: Cell<u64>,
    owner: Cell<Option<Ref<Domain<P>>>>,
}

impl<P: Port> Interrupt<P> {
    /// An interrupt for a vacant pool slot.
    pub fn new() -> Interrupt<P> {
        Interrupt {
            line: Cell::new(0),
            target: Cell::new(None),
            badge: Cell::new(0),
            owner: Cell::new(None),
        }
    }
}

impl<P: Port> Default for Interrupt<P> {
    fn default() -> Self {
        Interrupt::new()
    }
}

impl<P: Port> Object<P> for Interrupt<P> {
    const RESOURCE: Resource = Resource::Interrupts;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
}
