//! What a thread waits for that waits for a mutex or condition: words in user memory (S2H-12).
//!
//! This is all that the kernel knows of them. `manage::futex` says how it is used.

use crate::hidden::Key;
use abi::futex::Scope;
use cells::Cell;

/// Where a pair of words is, as the domain of a thread names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its virtual address.
    pub at: u64,
    /// What is the same for all that mean this pair: within a domain that address, in shared memory
    /// the physical one.
    pub key: u64,
}

impl Place {
    /// No pair.
    pub const NOWHERE: Place = Place { at: 0, key: 0 };
}

/// What a ring of threads waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// To own a mutex.
    Mutex,
    /// To be woken, then to own a mutex.
    Condition,
}

/// What a thread waits for that is [`State::Waiting`](super::thread::State::Waiting).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Who else may wait for it.
    pub scope: Scope,
    /// The condition that it has called to wait for, if it has.
    pub condition: Option<Place>,
    /// The mutex that it owns behind that.
    pub mutex: Place,
}

impl Target {
    /// The words whose ring of this kind it may be in.
    pub fn place(&self, kind: Kind) -> Option<Place> {
        match kind {
            Kind::Mutex => Some(self.mutex),
            Kind::Condition => self.condition,
        }
    }
}

/// A thread's place in a queue. What it says counts while the thread waits.
pub struct Waiter {
    /// What the thread waits for.
    pub target: Cell<Target>,
    /// The kind of the ring that it heads, if it heads one.
    pub heads: Cell<Option<Kind>>,
    /// The thread's id in that scope, which stands in the words while it heads its ring.
    pub id: Cell<u32>,
    /// What the id was made with: it counts as long as that is the key of the scope. On a visit, of
    /// which there may be another one with that, [`Key::NONE`].
    pub key: Cell<Key>,
}

impl Waiter {
    /// Of a thread that waits for nothing.
    pub const fn new() -> Waiter {
        let (scope, mutex) = (Scope::Domain, Place::NOWHERE);
        let target = Target { scope, condition: None, mutex };
        Waiter {
            target: Cell::new(target),
            heads: Cell::new(None),
            id: Cell::new(0),
            key: Cell::new(Key::NONE),
        }
    }

    /// Forgets the id: the next one is another thread's, or that of a visit.
    #[inline(always)]
    pub fn reset(&self) {
        self.key.set(Key::NONE);
    }
}

impl Default for Waiter {
    fn default() -> Self {
        Waiter::new()
    }
}
