//! Endpoints: where senders and receivers meet. L4's per-thread send queue is the queue of the
//! endpoint on which that thread receives (S0-12).

use super::{Domain, Notification, Object, Thread, Weak};
use crate::access::{Link, Ref};
use crate::list::List;
use crate::object::thread::Waiting;
use crate::port::{CachePadding, Lock, Port};
use abi::object::Resource;
use cells::Cell;
use locks::ObjectLock;

/// An endpoint. At most one of its two queues is not empty.
pub struct Endpoint<P: Port> {
    /// Guards it, and the places of those who wait in it.
    pub lock: Lock<P>,
    /// Threads blocked receiving.
    pub receivers: List<Thread<P>, Waiting>,
    /// Threads blocked sending, unless they form a heap.
    pub senders: List<Thread<P>, Waiting>,
    /// Root of the heap of threads blocked sending.
    pub root: Link<Thread<P>>,
    /// How many threads have ever joined the heap.
    pub arrivals: Cell<u64>,
    /// A notification whose signals are received here too.
    pub attached: Cell<Option<Weak<Notification<P>>>>,
    /// How many threads are blocked sending, if the port keeps lengths.
    pub queued: Cell<u32>,
    _padding: CachePadding<P>,
    owner: Cell<Option<Ref<Domain<P>>>>,
}

impl<P: Port> Endpoint<P> {
    /// A thread has left the queue of senders.
    #[inline(always)]
    pub fn sender_left(&self) {
        if P::LENGTHS {
            self.queued.set(self.queued.get() - 1);
        }
    }

    /// An endpoint for a vacant pool slot.
    pub fn new() -> Endpoint<P> {
        Endpoint {
            lock: Lock::<P>::new(),
            receivers: List::new(),
            senders: List::new(),
            root: Link::new(),
            arrivals: Cell::new(0),
            attached: Cell::new(None),
            queued: Cell::new(0),
            _padding: CachePadding::<P>::default(),
            owner: Cell::new(None),
        }
    }
}

impl<P: Port> Default for Endpoint<P> {
    fn default() -> Self {
        Endpoint::new()
    }
}

impl<P: Port> Object<P> for Endpoint<P> {
    const RESOURCE: Resource = Resource::Endpoints;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
    fn lock(&self) -> Option<&Lock<P>> {
        Some(&self.lock)
    }
}
