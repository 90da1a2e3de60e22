//! Standing by (S2G-05): a thread that is queued in a lent leaf stands by at its own one. That is
//! as ready then as if the thread were queued there, so a decision finds what goes on: where the
//! lent leaf cannot run, for want of budget or outside its window, the own one is chosen in its
//! turn, and the thread changes places. It goes back when the lent leaf is chosen again.
//!
//! So it is where priorities or deadlines decide between the two: there the own leaf is not chosen
//! while the more urgent one can be. Service curves would serve both in turns, on shares that add
//! up: there the own leaf sleeps.

use super::Trees;
use crate::access::{Owner, Ref};
use crate::leaf::LeafRef;
use crate::object::Thread;
use crate::object::thread::Begins;
use crate::port::Port;
use policies::tree::NodeId;

impl<P: Port> Trees<P> {
    /// A thread is about to use a lent leaf: it stands by at its own one, if the more urgent one of
    /// both always goes first.
    pub(super) fn stand_by(
        &self,
        owner: &impl Owner,
        thread: Ref<Thread<P>>,
        (own, lent): (u32, u32),
        now: u64,
    ) {
        let goes_first = self.with(|tree| tree.goes_by_urgency(NodeId(own), NodeId(lent)));
        if goes_first != Some(true) {
            return;
        }
        let place = self.leaf(own);
        let begins = match thread.reservation.get(owner).node == own {
            true => thread.begins.get(owner),
            false => Begins::Awake,
        };
        if place.is_left() {
            self.with(|tree| begins.tell(tree, NodeId(own), (now, now)));
        }
        thread.beside.set(owner, own);
        place.standing_by.push_back(thread);
    }

    /// A thread stands by no longer: at which leaf it did. That sleeps, if no thread can run there
    /// behind this.
    pub fn stop_standing_by(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> Option<u32> {
        let leaf = thread.stands_by().then(|| thread.beside.get(owner))?;
        self.leaf(leaf).standing_by.remove(thread);
        Some(leaf)
    }

    /// The leaf at which a thread stands by was chosen: it goes there, and stands by where it was.
    /// Both are as ready as before.
    #[cold]
    #[inline(never)]
    pub(super) fn change_places(&self, owner: &impl Owner, thread: Ref<Thread<P>>, now: u64) {
        let (from, away) = (thread.leaf.get(owner), thread.away.get(owner));
        let to = thread.beside.get(owner);
        self.keep_turn(owner, thread, to);
        self.leaf(to).standing_by.remove(thread);
        self.leave(owner, thread);
        thread.beside.set(owner, from);
        self.leaf(from).standing_by.push_back(thread);
        self.join(owner, to, thread);
        self.take_turn(owner, thread);
        if away.is_none() {
            self.go_away(owner, thread, self.name(NodeId(from)), now);
        } else {
            thread.away.set(owner, LeafRef::NONE);
            self.end_lending(away, false, now);
        }
    }
}
