//! What a thread has of inheriting mutexes: its part of the blocking graph (S2G-03, S2G-04).
//!
//! A mutex that threads wait for is described by a *turnstile*. Each thread brings one: the first
//! waiter's describes the mutex, those of the others are spare, and each takes one along when it
//! stops waiting. So there are always enough, and waiters reach theirs in one step. A turnstile
//! lies in a slot of the pool of threads, but is not that thread's. `manage::inherit` says how all
//! this is used.

use super::{Activation, Thread};
use crate::access::Ref;
use crate::order::{Ordered, Place, Root};
use crate::port::Port;
use cells::Cell;

/// How many threads may wait for each other in a row.
pub const LINKS: u8 = 8;

/// The ceiling of a thread that has none.
pub const NO_CEILING: i16 = -1;

/// Threads that wait, counted by height: the length of the longest chain of waits that ends in one.
pub struct Heights([Cell<u32>; LINKS as usize]);

impl Heights {
    const fn new() -> Heights {
        Heights([const { Cell::new(0) }; LINKS as usize])
    }

    /// The height of the thread that they wait for.
    pub fn top(&self) -> u8 {
        self.0.iter().rposition(|count| count.get() != 0).map_or(0, |height| height as u8 + 1)
    }

    /// A thread's height changes; with `None` it waits no longer, or does so from now on.
    pub fn change(&self, from: Option<u8>, to: Option<u8>) {
        let count = |height: Option<u8>| self.0.get(usize::from(height?));
        count(from).into_iter().for_each(|count| count.set(count.get() - 1));
        count(to).into_iter().for_each(|count| count.set(count.get() + 1));
    }

    /// These, which `old` has among others, are among those of `new`.
    pub fn go(&self, old: &Heights, new: &Heights) {
        for (count, (old, new)) in self.0.iter().zip(old.0.iter().zip(&new.0)) {
            old.set(old.get() - count.get());
            new.set(new.get() + count.get());
        }
    }
}

/// Selects the places of threads among the waiters of a mutex.
pub struct ByWaiter;
/// Selects the places of turnstiles among those of the mutexes that a thread owns.
pub struct ByMutex;

/// Selects the places of turnstiles among those of one visit.
pub struct ByVisit;

/// A mutex that threads wait for.
pub struct Turnstile<P: Port> {
    /// The thread that owns it; `None` if the turnstile describes no mutex.
    pub owner: Cell<Option<Ref<Thread<P>>>>,
    /// The threads that wait for it, by effective priority.
    pub waiters: Root<Thread<P>>,
    /// Them by height.
    pub heights: Heights,
    /// The waiter whose id is in its second word, unless a program has written there.
    pub named: Cell<Option<Ref<Thread<P>>>>,
    /// Its address in the domain of all of them.
    pub address: Cell<u64>,
    /// The visit on which its owner is in the domain of those that wait; `None`: it is at home
    /// there.
    pub visit: Cell<Option<Ref<Activation<P>>>>,
    /// The first spare turnstile, or the next one.
    pub spare: Cell<Option<Ref<Thread<P>>>>,
    of_owner: Place<Thread<P>>,
}

/// A thread's part.
pub struct Inherit<P: Port> {
    /// The turnstile of the mutex that it waits for.
    pub waits: Cell<Option<Ref<Thread<P>>>>,
    /// The turnstile that it brings; `None`: that in its own slot. Only of one that does not wait.
    pub brings: Cell<Option<Ref<Thread<P>>>>,
    /// Turnstiles of mutexes that it owns and others wait for, by their first waiters' priorities.
    pub owned: Root<Thread<P>>,
    /// The threads that wait for those, by height.
    pub behind: Heights,
    /// The priority that it has at least, by its own wish; -1: none.
    pub ceiling: Cell<i16>,
    /// The turnstile in this slot.
    pub turnstile: Turnstile<P>,
    place: Place<Thread<P>>,
}

impl<P: Port> Inherit<P> {
    /// Of a thread that neither waits nor owns.
    pub fn new() -> Inherit<P> {
        let turnstile = Turnstile {
            owner: Cell::new(None),
            waiters: Cell::new(None),
            heights: Heights::new(),
            named: Cell::new(None),
            address: Cell::new(0),
            visit: Cell::new(None),
            spare: Cell::new(None),
            of_owner: Place::new(),
        };
        Inherit {
            waits: Cell::new(None),
            brings: Cell::new(None),
            owned: Cell::new(None),
            behind: Heights::new(),
            ceiling: Cell::new(NO_CEILING),
            turnstile,
            place: Place::new(),
        }
    }
}

impl<P: Port> Default for Inherit<P> {
    fn default() -> Self {
        Inherit::new()
    }
}

impl<P: Port> Ordered<ByWaiter> for Thread<P> {
    fn place(&self) -> &Place<Self> {
        &self.inherit.place
    }
}

impl<P: Port> Ordered<ByMutex> for Thread<P> {
    fn place(&self) -> &Place<Self> {
        &self.inherit.turnstile.of_owner
    }
}
