//! Notifications: a word of signal bits. Signalling never blocks; receiving takes all bits.

use super::{Domain, Endpoint, Object, Thread, Weak};
use crate::access::Ref;
use crate::list::List;
use crate::object::thread::Waiting;
use crate::port::{CachePadding, Lock, Port};
use abi::object::Resource;
use cells::Cell;
use locks::ObjectLock;

/// A notification.
pub struct Notification<P: Port> {
    /// Guards it, and the places of those who wait in it.
    pub lock: Lock<P>,
    /// Signals that nobody has received yet.
    pub bits: Cell<u64>,
    /// Threads blocked receiving, first come first served.
    pub receivers: List<Thread<P>, Waiting>,
    /// The endpoint that it is attached to: receivers there take signals too.
    pub endpoint: Cell<Option<Weak<Endpoint<P>>>>,
    _padding: CachePadding<P>,
    owner: Cell<Option<Ref<Domain<P>>>>,
}

impl<P: Port> Notification<P> {
    /// A notification for a vacant pool slot.
    pub fn new() -> Notification<P> {
        Notification {
            lock: Lock::<P>::new(),
            bits: Cell::new(0),
            receivers: List::new(),
            endpoint: Cell::new(None),
            _padding: CachePadding::<P>::default(),
            owner: Cell::new(None),
        }
    }
}

impl<P: Port> Default for Notification<P> {
    fn default() -> Self {
        Notification::new()
    }
}

impl<P: Port> Object<P> for Notification<P> {
    const RESOURCE: Resource = Resource::Notifications;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
    fn lock(&self) -> Option<&Lock<P>> {
        Some(&self.lock)
    }
}
