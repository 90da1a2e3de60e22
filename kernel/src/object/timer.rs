//! Timers: one shot at an absolute instant, delivered as a signal.

use super::{Domain, Notification, Pooled, Weak};
use crate::access::{Ref, Steady};
use crate::object::deadlines;
use crate::port::Port;
use abi::object::Resource;
use cells::Cell;

/// What can be reached by a timer's name.
pub struct Header<P: Port> {
    /// Its place in the queue of deadlines.
    pub deadline: deadlines::Node<P>,
    /// What it signals.
    pub target: Steady<Option<Weak<Notification<P>>>>,
    /// The bits that it signals.
    pub badge: Steady<u64>,
}

/// A timer.
pub struct Timer<P: Port> {
    pub(super) header: Header<P>,
    /// The CPU that was asked last to wait for it.
    pub cpu: Cell<u32>,
    owner: Cell<Option<Ref<Domain<P>>>>,
}

impl<P: Port> Timer<P> {
    /// A timer for a vacant pool slot.
    pub fn new() -> Timer<P> {
        Timer {
            header: Header {
                deadline: deadlines::Node::new(),
                target: Steady::new(None),
                badge: Steady::new(0),
            },
            cpu: Cell::new(0),
            owner: Cell::new(None),
        }
    }
}

impl<P: Port> Default for Timer<P> {
    fn default() -> Self {
        Timer::new()
    }
}

impl<P: Port> Pooled<P> for Timer<P> {
    const RESOURCE: Resource = Resource::Timers;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
}
