//! Endpoints: where senders and receivers meet. L4's per-thread send queue is the queue of the
//! endpoint on which that thread receives (S0-12).

use super::{Domain, Notification, Pooled, Thread, Weak};
use crate::access::{Link, Peek, Ref, Steady};
use crate::list::List;
use crate::object::inherit::ByEdge;
use crate::object::thread::Waiting;
use crate::port::{CachePadding, Lock, Port};
use abi::futex::HELPERS;
use abi::object::Resource;
use cells::Cell;
use core::mem::offset_of;
use locks::ObjectLock;

/// What can be reached by an endpoint's name.
pub struct Header<P: Port> {
    /// Guards it, and the places of threads that wait in it.
    pub lock: Lock<P>,
    /// Threads blocked receiving.
    pub receivers: Peek<List<Thread<P>, Waiting>, Endpoint<P>>,
    /// Threads blocked sending, unless they form a heap.
    pub senders: Peek<List<Thread<P>, Waiting>, Endpoint<P>>,
    /// Root of the heap of threads blocked sending.
    pub root: Peek<Link<Thread<P>>, Endpoint<P>>,
    /// A notification whose signals are received here too.
    pub attached: Steady<Option<Weak<Notification<P>>>>,
}

/// An endpoint. At most one of its two queues is not empty.
pub struct Endpoint<P: Port> {
    pub(super) header: Header<P>,
    /// How many threads have ever joined the heap.
    pub arrivals: Cell<u64>,
    /// How many threads are blocked sending, if the port keeps lengths.
    pub queued: Cell<u32>,
    /// How many threads serve it, or have done so until they ended.
    pub served: Cell<u16>,
    /// How many messages were given up before they were received, for instance at a deadline, up to
    /// the greatest number.
    pub given_up: Cell<u16>,
    /// The threads that serve it.
    servers: [Cell<Option<Weak<Thread<P>>>>; HELPERS],
    /// The turnstile of those that are blocked sending and lend the servers their priorities.
    pub turnstile: Cell<Option<Ref<Thread<P>>>>,
    _padding: CachePadding<P>,
    owner: Cell<Option<Ref<Domain<P>>>>,
}

impl<P: Port> Endpoint<P> {
    /// Where a debugger finds how many messages were given up.
    pub const GIVEN_UP: usize = offset_of!(Self, given_up);

    /// Threads blocked receiving.
    #[inline(always)]
    pub fn receivers(&self) -> &List<Thread<P>, Waiting> {
        self.receivers.open(self)
    }

    /// Threads blocked sending, unless they form a heap.
    #[inline(always)]
    pub fn senders(&self) -> &List<Thread<P>, Waiting> {
        self.senders.open(self)
    }

    /// A thread has left the queue of senders.
    #[inline(always)]
    pub fn sender_left(&self) {
        if P::LENGTHS {
            self.queued.set(self.queued.get() - 1);
        }
    }

    /// A thread that serves it.
    pub fn server(&self, which: ByEdge) -> Option<Ref<Thread<P>>> {
        self.servers[which.index()].get().and_then(Weak::get)
    }

    /// The threads that serve it.
    pub fn servers(&self) -> impl Iterator<Item = Ref<Thread<P>>> {
        ByEdge::all().filter_map(|which| self.server(which))
    }

    /// A place of a server is another thread's from now on, or empty.
    pub fn set_server(&self, which: ByEdge, server: Option<Ref<Thread<P>>>) {
        self.servers[which.index()].set(server.map(Weak::new));
        let served = self.servers.iter().filter(|server| server.get().is_some());
        self.served.set(served.count() as u16);
    }

    /// An endpoint for a vacant pool slot.
    pub fn new() -> Endpoint<P> {
        Endpoint {
            header: Header {
                lock: Lock::<P>::new(),
                receivers: Peek::new(List::new()),
                senders: Peek::new(List::new()),
                root: Peek::new(Link::new()),
                attached: Steady::new(None),
            },
            arrivals: Cell::new(0),
            queued: Cell::new(0),
            served: Cell::new(0),
            given_up: Cell::new(0),
            servers: [const { Cell::new(None) }; HELPERS],
            turnstile: Cell::new(None),
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

impl<P: Port> Pooled<P> for Endpoint<P> {
    const RESOURCE: Resource = Resource::Endpoints;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
}
