//! Threads that are to follow a change of waits ([`manage::inherit`](crate::manage::inherit)): a
//! set of them for each scale of urgency.
//!
//! Priorities are one scale, the same on all CPUs, so their CPUs have one set. In a tree a leaf is
//! as urgent as its place below the root of its CPU says, which tells nothing of what is below
//! another root: so each CPU has its own set, and takes no step out of another one. One set more is
//! of those to which a priority is on its way from another CPU.

use crate::object::Thread;
use crate::order::Root;
use crate::port::Port;
use cells::Cell;

/// Those that compare with each other.
pub struct Followers<P: Port> {
    /// The threads, by the urgency of what has changed for them.
    pub set: Root<Thread<P>>,
    /// None of them is more urgent, while there are any.
    urgency: Cell<i16>,
    /// Of a tree: whether a decision is to be made behind their steps, or behind one that was taken
    /// since the last decision.
    pub before_decision: Cell<bool>,
}

impl<P: Port> Followers<P> {
    /// None.
    pub const fn new() -> Followers<P> {
        let (set, urgency) = (Cell::new(None), Cell::new(-1));
        Followers { set, urgency, before_decision: Cell::new(false) }
    }

    /// Whether there are any.
    #[inline(always)]
    pub fn any(&self) -> bool {
        P::FUTEXES && self.set.get().is_some()
    }

    /// An upper bound of the urgency of what they follow; -1: there are none.
    pub fn urgency(&self) -> i16 {
        if self.any() { self.urgency.get() } else { -1 }
    }

    /// One of this urgency is about to be among them.
    pub fn raise(&self, urgency: i16) {
        self.urgency.set(self.urgency().max(urgency));
    }

    /// The most urgent one has this urgency.
    pub fn know(&self, urgency: i16) {
        self.urgency.set(urgency);
    }

    /// Whether a tree is to decide behind steps of theirs.
    #[inline(always)]
    pub fn go_before_decision(&self) -> bool {
        P::TREE && P::FUTEXES && self.before_decision.get()
    }
}

impl<P: Port> Default for Followers<P> {
    fn default() -> Self {
        Followers::new()
    }
}
