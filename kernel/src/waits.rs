//! What the kernel knows of waits as a whole: the threads that are to follow a change of them
//! ([`manage::inherit`](crate::manage::inherit)), and a search along them that an interrupt has cut
//! short.

use crate::access::Ref;
use crate::object::Thread;
use crate::order::Root;
use crate::port::Port;
use abi::futex::HELPERS;
use cells::Cell;

/// Threads from which a search begins.
pub type Starts<P> = [Option<Ref<Thread<P>>>; HELPERS];

/// What a search looks for: a thread, a turnstile that threads wait in.
pub type Goal<P> = (Option<Ref<Thread<P>>>, Option<Ref<Thread<P>>>);

/// Waits as a whole.
pub struct Waits<P: Port> {
    /// Threads that are to follow a change of waits, by the urgency of what has changed for them.
    pub followers: Root<Thread<P>>,
    /// None of them is more urgent, while there are any.
    urgency: Cell<i16>,
    /// Changes of who waits for whom so far.
    changes: Cell<u64>,
    /// The search that was cut short last, or has ended.
    pub search: Search<P>,
}

impl<P: Port> Waits<P> {
    /// No thread waits.
    pub const fn new() -> Waits<P> {
        Waits {
            followers: Cell::new(None),
            urgency: Cell::new(-1),
            changes: Cell::new(0),
            search: Search::new(),
        }
    }

    /// Whether any thread is to follow a change of waits.
    #[inline(always)]
    pub fn has_followers(&self) -> bool {
        P::FUTEXES && self.followers.get().is_some()
    }

    /// An upper bound of the urgency of what they follow; -1: there are none.
    pub fn urgency(&self) -> i16 {
        if self.has_followers() { self.urgency.get() } else { -1 }
    }

    /// One of this urgency is about to be among them.
    pub fn raise(&self, urgency: i16) {
        self.urgency.set(self.urgency().max(urgency));
    }

    /// The most urgent one has this urgency.
    pub fn know(&self, urgency: i16) {
        self.urgency.set(urgency);
    }

    /// A wait begins, ends, or leads to another thread from now on.
    #[inline(always)]
    pub fn change(&self) {
        self.changes.set(self.changes.get() + 1);
    }

    /// Changes so far: a search goes on where it was while there are no more.
    pub fn changes(&self) -> u64 {
        self.changes.get()
    }
}

impl<P: Port> Default for Waits<P> {
    fn default() -> Self {
        Waits::new()
    }
}

/// A search along waits, as far as it has got. Threads are marked with its number once
/// they are to be looked at, so none is looked at twice.
pub struct Search<P: Port> {
    /// The thread that searches.
    by: Cell<Option<Ref<Thread<P>>>>,
    /// From where, and for what.
    asks: Cell<(Starts<P>, Goal<P>)>,
    /// Changes of waits before it.
    changes: Cell<u64>,
    /// The number of its marks.
    pub number: Cell<u64>,
    /// The start whose turn it is.
    pub turn: Cell<usize>,
    /// Starts from which the goal was reached, a bit each.
    pub found: Cell<u8>,
    /// The thread that is looked at next, and the first wait in a message on the way there.
    pub at: Cell<Way<P>>,
    /// Those behind it, linked by what each has of the search (`Searched`).
    pub rest: Cell<Option<Ref<Thread<P>>>>,
}

/// A thread on a way, and the first thread on that way that waits in a message.
pub type Way<P> = (Option<Ref<Thread<P>>>, Option<Ref<Thread<P>>>);

impl<P: Port> Search<P> {
    const fn new() -> Search<P> {
        Search {
            by: Cell::new(None),
            asks: Cell::new(([None; HELPERS], (None, None))),
            changes: Cell::new(0),
            number: Cell::new(0),
            turn: Cell::new(0),
            found: Cell::new(0),
            at: Cell::new((None, None)),
            rest: Cell::new(None),
        }
    }

    /// Whether it is this one, cut short, and no wait has changed since.
    pub fn goes_on(&self, by: Ref<Thread<P>>, asks: (Starts<P>, Goal<P>), changes: u64) -> bool {
        self.by.get() == Some(by) && self.asks.get() == asks && self.changes.get() == changes
    }

    /// Another one begins.
    pub fn begin(&self, by: Ref<Thread<P>>, asks: (Starts<P>, Goal<P>)) {
        self.by.set(Some(by));
        self.asks.set(asks);
        self.found.set(0);
        self.begin_turn(0);
    }

    /// It begins from its start with this index, and has seen none from there.
    pub fn begin_turn(&self, turn: usize) {
        let start = self.asks.get().0.get(turn).copied().flatten();
        self.turn.set(turn);
        self.number.set(self.number.get() + 1);
        self.at.set((start, None));
        self.rest.set(None);
    }

    /// It is cut short.
    pub fn leave(&self, changes: u64) {
        self.changes.set(changes);
    }

    /// It has ended.
    pub fn end(&self) {
        self.by.set(None);
    }
}
