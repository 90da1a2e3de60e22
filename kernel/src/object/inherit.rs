//! What a thread has of inheriting mutexes and conditions: its part of the blocking graph (S2G-03,
//! S2G-04).
//!
//! A mutex or condition that threads wait for is described by a *turnstile*. Each thread brings
//! one: the first waiter's describes it, those of the others are spare, and each takes one along
//! when it stops waiting. So there are always enough, and waiters reach theirs in one step. A
//! turnstile lies in a slot of the pool of threads, but is not that thread's. It leads by *edges*
//! to the threads that its waiters lend their priorities to: that of a mutex to the owner, that of
//! a condition to each helper. Messages are waited for in the same way: queued senders of an
//! endpoint lend to its servers, a caller to the server that has received its call.
//! `manage::inherit` says how all this is used.

use super::{Activation, Endpoint, Thread};
use crate::access::Ref;
use crate::order::{Ordered, Place, Root};
use crate::port::Port;
use abi::futex::HELPERS;
use cells::Cell;

/// The ceiling of a thread that has none.
pub const NO_CEILING: i16 = -1;

/// Selects the places of threads among the waiters of a mutex or condition.
#[derive(Clone, Copy)]
pub struct ByWaiter;

/// Selects the places of threads among those that are to follow a change of waits.
#[derive(Clone, Copy)]
pub struct ByFollower;

/// Selects the places of turnstiles among those that lead to a thread by this one of their edges.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ByEdge(u8);

impl ByEdge {
    /// The edge that a mutex uses.
    pub const OWNER: ByEdge = ByEdge(0);

    /// All, in order.
    pub fn all() -> impl Iterator<Item = ByEdge> {
        (0..HELPERS as u8).map(ByEdge)
    }

    /// Its index, below [`HELPERS`].
    pub fn index(self) -> usize {
        usize::from(self.0) % HELPERS
    }
}

/// Selects the places of turnstiles among those of one visit.
pub struct ByVisit;

/// Leads from a turnstile to a thread. [`Turnstile::set_edge`] writes it.
pub struct Edge<P: Port> {
    /// The owner of the mutex, or a helper of the condition; `None`: there is no such edge.
    pub to: Cell<Option<Ref<Thread<P>>>>,
    /// Whether the waiters lend it their priorities: a helper that waits for one of them is passed
    /// over.
    pub lends: Cell<bool>,
    place: Place<Thread<P>>,
}

impl<P: Port> Edge<P> {
    const fn new() -> Edge<P> {
        Edge { to: Cell::new(None), lends: Cell::new(false), place: Place::new() }
    }

    /// The thread that the waiters lend their priorities to by it.
    pub fn lent_to(&self) -> Option<Ref<Thread<P>>> {
        self.to.get().filter(|_| self.lends.get())
    }
}

/// What the waiters in a turnstile wait for.
pub enum Kind<P: Port> {
    /// A mutex.
    Mutex,
    /// A condition, and the mutex at this address that its waiters own next.
    Condition(u64),
    /// That a server receives from this endpoint, where they are queued.
    Endpoint(Ref<Endpoint<P>>),
    /// The answer to the call of the one that waits.
    Reply,
}

impl<P: Port> Clone for Kind<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Port> Copy for Kind<P> {}

/// A mutex, condition or message that threads wait for.
pub struct Turnstile<P: Port> {
    /// That of a mutex or a reply alone is the first, to the owner or server.
    edges: [Edge<P>; HELPERS],
    /// Those that lead to threads, a bit each.
    pub leading: Cell<u8>,
    /// The thread that its waiters lend their priorities to, if the first edge leads there, and no
    /// other one anywhere: that of a mutex or a reply always does.
    pub only: Cell<Option<Ref<Thread<P>>>>,
    /// What it describes; a mutex where it describes nothing.
    pub kind: Cell<Kind<P>>,
    /// The threads that wait for it, by effective priority; none: the turnstile describes nothing.
    pub waiters: Root<Thread<P>>,
    /// The waiter whose id is in its second word, unless a program has written there. Messages have
    /// no words.
    pub named: Cell<Option<Ref<Thread<P>>>>,
    /// Its address in the domain of all of them.
    pub address: Cell<u64>,
    /// Of a mutex: the visit on which its owner has locked it; of a reply: that on which its server
    /// has received the call. `None`: it was at home.
    pub visit: Cell<Option<Ref<Activation<P>>>>,
    /// The first spare turnstile, or the next one.
    pub spare: Cell<Option<Ref<Thread<P>>>>,
}

/// What an id in a mutex names: a thread, on a visit or at home.
pub type Named<P> = (Ref<Thread<P>>, Option<Ref<Activation<P>>>);

impl<P: Port> Turnstile<P> {
    /// One of its edges.
    pub fn edge(&self, which: ByEdge) -> &Edge<P> {
        &self.edges[which.index()]
    }

    /// The thread that owns the mutex, and the visit on which it does.
    pub fn owner(&self) -> Option<Named<P>> {
        self.edge(ByEdge::OWNER).to.get().map(|owner| (owner, self.visit.get()))
    }

    /// Whether it is that of a condition.
    pub fn is_condition(&self) -> bool {
        matches!(self.kind.get(), Kind::Condition(_))
    }

    /// Whether it is that of a mutex or condition, which programs have words of.
    pub fn has_words(&self) -> bool {
        matches!(self.kind.get(), Kind::Mutex | Kind::Condition(_))
    }

    /// Whether it may lead to several threads.
    pub fn branches(&self) -> bool {
        matches!(self.kind.get(), Kind::Condition(_) | Kind::Endpoint(_))
    }

    /// Its edges, and where they lead to.
    pub fn leads(&self) -> impl Iterator<Item = (ByEdge, Ref<Thread<P>>)> {
        let mut left = self.leading.get();
        core::iter::from_fn(move || {
            let which = ByEdge(left.trailing_zeros() as u8);
            left &= left.wrapping_sub(1);
            let to = self.edges.get(usize::from(which.0))?.to.get()?;
            Some((which, to))
        })
    }

    /// It leads to a thread by an edge, and lends to that or not; or by the edge to none.
    pub fn set_edge(&self, which: ByEdge, to: Option<Ref<Thread<P>>>, lends: bool) {
        let others = self.leading.get() & !(1 << which.index());
        self.leading.set(others | u8::from(to.is_some()) << which.index());
        self.edge(which).to.set(to);
        self.edge(which).lends.set(lends);
        let only = self.edge(ByEdge::OWNER).lent_to();
        self.only.set(only.filter(|_| self.leading.get() == 1));
    }

    /// The threads that its waiters lend their priorities to.
    pub fn lent_to(&self) -> impl Iterator<Item = Ref<Thread<P>>> {
        self.leads().filter(|(which, _)| self.edge(*which).lends.get()).map(|(_, to)| to)
    }
}

/// What a [search](crate::waits::Search) knows of a thread.
pub struct Searched<P: Port> {
    /// The number of the last one that was to look at it.
    pub number: Cell<u64>,
    /// The first thread on the way to it that waits in a message.
    pub message: Cell<Option<Ref<Thread<P>>>>,
    /// The thread that is looked at behind it.
    pub next: Cell<Option<Ref<Thread<P>>>>,
}

impl<P: Port> Searched<P> {
    const fn new() -> Searched<P> {
        Searched { number: Cell::new(0), message: Cell::new(None), next: Cell::new(None) }
    }
}

/// A thread's part.
pub struct Inherit<P: Port> {
    /// The turnstile of what it waits for, if it lends its priority for that.
    pub waits: Cell<Option<Ref<Thread<P>>>>,
    /// The turnstile that it brings; `None`: that in its own slot. Only of one that does not wait.
    pub brings: Cell<Option<Ref<Thread<P>>>>,
    /// Turnstiles that lead to it, by the priorities that they lend, a set for each of their edges:
    /// of mutexes that it owns and others wait for, of conditions that it helps and others wait
    /// for, of endpoints that it serves and others send to, of calls that it is to answer.
    lenders: [Root<Thread<P>>; HELPERS],
    /// The priority that it has at least, by its own wish; -1: none.
    pub ceiling: Cell<i16>,
    /// How many endpoints it serves.
    pub serves: Cell<u32>,
    /// The turnstile in this slot.
    pub turnstile: Turnstile<P>,
    /// What it is to do, to follow a change of waits.
    pub to_do: Cell<u8>,
    /// What the last search that has come to it knows of it.
    pub searched: Searched<P>,
    place: Place<Thread<P>>,
    follows: Place<Thread<P>>,
}

impl<P: Port> Inherit<P> {
    /// Of a thread that neither waits nor owns.
    pub fn new() -> Inherit<P> {
        let turnstile = Turnstile {
            edges: [const { Edge::new() }; HELPERS],
            leading: Cell::new(0),
            only: Cell::new(None),
            kind: Cell::new(Kind::Mutex),
            waiters: Cell::new(None),
            named: Cell::new(None),
            address: Cell::new(0),
            visit: Cell::new(None),
            spare: Cell::new(None),
        };
        Inherit {
            waits: Cell::new(None),
            brings: Cell::new(None),
            lenders: [const { Cell::new(None) }; HELPERS],
            ceiling: Cell::new(NO_CEILING),
            serves: Cell::new(0),
            turnstile,
            to_do: Cell::new(0),
            searched: Searched::new(),
            place: Place::new(),
            follows: Place::new(),
        }
    }

    /// Turnstiles that lead to it by this edge.
    pub fn lenders(&self, which: ByEdge) -> &Root<Thread<P>> {
        &self.lenders[which.index()]
    }

    /// Whether it is to follow a change of waits.
    pub fn follows(&self) -> bool {
        self.follows.linked()
    }

    /// Whether threads wait for what it owns, helps, serves or is to answer.
    pub fn is_awaited(&self) -> bool {
        self.lenders.iter().any(|set| set.get().is_some())
    }
}

impl<P: Port> Default for Inherit<P> {
    fn default() -> Self {
        Inherit::new()
    }
}

impl<P: Port> Ordered<ByWaiter> for Thread<P> {
    fn place(&self, _: ByWaiter) -> &Place<Self> {
        &self.inherit.place
    }
}

impl<P: Port> Ordered<ByFollower> for Thread<P> {
    fn place(&self, _: ByFollower) -> &Place<Self> {
        &self.inherit.follows
    }
}

impl<P: Port> Ordered<ByEdge> for Thread<P> {
    fn place(&self, which: ByEdge) -> &Place<Self> {
        &self.inherit.turnstile.edge(which).place
    }
}
