//! What a thread has of inheriting mutexes: its part of the blocking graph (S2G-03, S2G-04).
//!
//! A mutex that threads wait for is described by a *turnstile*. Each thread brings one: the first
//! waiter's describes the mutex, those of the others are spare, and each takes one along when it
//! stops waiting. So there are always enough, and waiters reach theirs in one step. A turnstile
//! lies in a slot of the pool of threads, but is not that thread's. `manage::inherit` says how all
//! this is used.

use super::Thread;
use crate::access::Ref;
use crate::order::{Ordered, Place, Root};
use crate::port::Port;
use cells::Cell;

/// Selects the places of threads among the waiters of a mutex.
pub struct ByWaiter;
/// Selects the places of turnstiles among those of the mutexes that a thread owns.
pub struct ByMutex;

/// A mutex that threads wait for.
pub struct Turnstile<P: Port> {
    /// The thread that owns it; `None` if the turnstile describes no mutex.
    pub owner: Cell<Option<Ref<Thread<P>>>>,
    /// The threads that wait for it, by effective priority.
    pub waiters: Root<Thread<P>>,
    /// The waiter whose id is in its second word, unless a program has written there.
    pub named: Cell<Option<Ref<Thread<P>>>>,
    /// Its address in the domain of all of them.
    pub address: Cell<u64>,
    /// The first spare turnstile, or the next one.
    pub spare: Cell<Option<Ref<Thread<P>>>>,
    place: Place<Thread<P>>,
}

/// A thread's part.
pub struct Inherit<P: Port> {
    /// The turnstile of the mutex that it waits for.
    pub waits: Cell<Option<Ref<Thread<P>>>>,
    /// The turnstile that it brings; `None`: that in its own slot. Only of one that does not wait.
    pub brings: Cell<Option<Ref<Thread<P>>>>,
    /// Turnstiles of mutexes that it owns and others wait for, by their first waiters' priorities.
    pub owned: Root<Thread<P>>,
    /// At least the length of the longest chain of threads that ends in a wait for this one.
    pub height: Cell<u8>,
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
            named: Cell::new(None),
            address: Cell::new(0),
            spare: Cell::new(None),
            place: Place::new(),
        };
        Inherit {
            waits: Cell::new(None),
            brings: Cell::new(None),
            owned: Cell::new(None),
            height: Cell::new(0),
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
        &self.inherit.turnstile.place
    }
}
