//! Notifications: a word of signal bits. Signalling never blocks; receiving takes all bits.

use super::{Domain, Endpoint, Pooled, Thread, Weak};
use crate::access::{Peek, Ref, Steady};
use crate::list::List;
use crate::object::thread::Waiting;
use crate::port::{CachePadding, Lock, Port};
use abi::object::Resource;
use cells::Cell;
use locks::ObjectLock;

/// What can be reached by a notification's name.
pub struct Header<P: Port> {
    /// Guards it, and the places of threads that wait in it.
    pub lock: Lock<P>,
    /// Threads blocked receiving, first come first served.
    pub receivers: Peek<List<Thread<P>, Waiting>, Notification<P>>,
    /// The endpoint that it is attached to: receivers there take signals too.
    pub endpoint: Steady<Option<Weak<Endpoint<P>>>>,
}

/// A notification. Its bits come first: a receiver looks at them, and mostly at nothing else.
#[repr(C)]
pub struct Notification<P: Port> {
    /// Signals that no thread has received yet.
    pub bits: Cell<u64>,
    pub(super) header: Header<P>,
    _padding: CachePadding<P>,
    owner: Cell<Option<Ref<Domain<P>>>>,
}

impl<P: Port> Notification<P> {
    /// Threads blocked receiving.
    #[inline(always)]
    pub fn receivers(&self) -> &List<Thread<P>, Waiting> {
        self.receivers.open(self)
    }

    /// A notification for a vacant pool slot.
    pub fn new() -> Notification<P> {
        Notification {
            header: Header {
                lock: Lock::<P>::new(),
                receivers: Peek::new(List::new()),
                endpoint: Steady::new(None),
            },
            bits: Cell::new(0),
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

impl<P: Port> Pooled<P> for Notification<P> {
    const RESOURCE: Resource = Resource::Notifications;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
}
