//! Timers: one shot at an absolute instant, delivered as a signal.

use super::{Domain, Notification, Object, Weak};
use crate::access::Ref;
use crate::port::Port;
use crate::time;
use abi::object::Resource;
use cells::Cell;

/// A timer.
pub struct Timer<P: Port> {
    /// Its place in the queue of deadlines.
    pub deadline: time::Node<P>,
    /// The CPU that was asked last to wait for it.
    pub cpu: Cell<u32>,
    /// What it signals.
    pub target: Cell<Option<Weak<Notification<P>>>>,
    /// The bits that it signals.
    pub badge: Cell<u64>,
    owner: Cell<Option<Ref<Domain<P>>>>,
}

impl<P: Port> Timer<P> {
    /// A timer for a vacant pool slot.
    pub fn new() -> Timer<P> {
        Timer {
            deadline: time::Node::new(),
            cpu: Cell::new(0),
            target: Cell::new(None),
            badge: Cell::new(0),
            owner: Cell::new(None),
        }
    }
}

impl<P: Port> Default for Timer<P> {
    fn default() -> Self {
        Timer::new()
    }
}

impl<P: Port> Object<P> for Timer<P> {
    const RESOURCE: Resource = Resource::Timers;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
}
