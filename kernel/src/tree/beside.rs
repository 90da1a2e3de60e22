//! Standing by (S2G-05): a thread that is queued in a lent leaf is ready in its own one too. It has
//! a place in each, as two threads would, and loses neither: the tree decides which of both leaves
//! goes first, and the thread runs on that. So the end of a budget, of the leaf or of a class above
//! it, and its return are no events to look for, and nothing moves.
//!
//! So it is where priorities or deadlines decide between the two. Service curves would serve both
//! by their shares, which add up: there the own leaf sleeps.
//!
//! A leaf has two queues, of threads that are queued in it and of those that stand by. Places are
//! numbered while leaves are lent, so that both are one order.

use super::{Leaf, Trees};
use crate::access::{Owner, Ref};
use crate::leaf::LeafRef;
use crate::object::Thread;
use crate::port::Port;
use policies::tree::NodeId;

impl<P: Port> Leaf<P> {
    /// Whether no thread can run in it.
    #[inline(always)]
    pub fn is_left(&self) -> bool {
        self.threads.is_empty() && self.standing_by.is_empty()
    }

    /// Whether another thread than this one can run in it.
    #[inline(always)]
    pub fn has_others(&self, thread: Ref<Thread<P>>) -> bool {
        let Leaf { threads, standing_by, .. } = self;
        let queued = !threads.is_empty() && !threads.holds_only(thread);
        queued || !standing_by.is_empty() && !standing_by.holds_only(thread)
    }

    /// Whether this thread, which goes first in it, stands by.
    fn has_beside(&self, first: Ref<Thread<P>>) -> bool {
        self.standing_by.head() == Some(first)
    }
}

impl<P: Port> Trees<P> {
    /// The thread that goes first in a leaf, of those that are queued there or stand by.
    #[inline(always)]
    pub fn first_in(&self, owner: &impl Owner, place: &Leaf<P>) -> Option<Ref<Thread<P>>> {
        match place.standing_by.head() {
            None => place.threads.head(),
            Some(beside) => Some(self.first_of_both(owner, place, beside)),
        }
    }

    #[cold]
    #[inline(never)]
    fn first_of_both(
        &self,
        owner: &impl Owner,
        place: &Leaf<P>,
        beside: Ref<Thread<P>>,
    ) -> Ref<Thread<P>> {
        let number = beside.places.get(owner)[1];
        let goes_first = |at: &Ref<Thread<P>>| at.places.get(owner)[0] < number;
        place.threads.head().filter(goes_first).unwrap_or(beside)
    }

    /// A thread that is about to be queued in a leaf, or was moved behind all there, is the last.
    pub fn go_last(&self, owner: &impl Owner, thread: Ref<Thread<P>>) {
        let [_, beside] = thread.places.get(owner);
        thread.places.set(owner, [self.last_place(), beside]);
    }

    /// A thread has the place of another one in the leaf that this is queued in.
    pub fn go_instead(&self, owner: &impl Owner, to: Ref<Thread<P>>, from: Ref<Thread<P>>) {
        let ([place, _], [_, beside]) = (from.places.get(owner), to.places.get(owner));
        to.places.set(owner, [place, beside]);
    }

    /// A thread that was put before all that are queued in its leaf goes before all that stand by.
    pub(super) fn go_first(&self, owner: &impl Owner, thread: Ref<Thread<P>>) {
        let [_, beside] = thread.places.get(owner);
        thread.places.set(owner, [self.first_place(), beside]);
    }

    /// The first thread of a leaf goes behind all others there.
    pub(super) fn move_back(&self, owner: &impl Owner, place: &Leaf<P>, first: Ref<Thread<P>>) {
        let [queued, _] = first.places.get(owner);
        if place.has_beside(first) {
            place.standing_by.move_back(first);
            first.places.set(owner, [queued, self.last_place()]);
        } else {
            place.threads.move_back(first);
            self.go_last(owner, first);
        }
    }

    fn last_place(&self) -> i64 {
        let [first, last] = self.places.get();
        self.places.set([first, last + 1]);
        last + 1
    }

    fn first_place(&self) -> i64 {
        let [first, last] = self.places.get();
        self.places.set([first - 1, last]);
        first - 1
    }

    /// The leaf at which a thread of this one stands by while it uses another one that it is lent:
    /// its own, if the less urgent one of both is chosen only where the other one cannot be.
    pub fn beside(&self, own: LeafRef, lent: u32) -> Option<u32> {
        let goes = self.with(|tree| tree.goes_by_urgency(NodeId(own.node), NodeId(lent)));
        (!own.is_none() && goes == Some(true)).then_some(own.node)
    }

    /// A thread stands by at a leaf from now on, behind all others there or before them. If none
    /// could run there, it is ready since an instant, and now that is told.
    pub fn stand_by(
        &self,
        owner: &impl Owner,
        (thread, leaf): (Ref<Thread<P>>, u32),
        is_first: bool,
        told: (u64, u64),
    ) {
        let (place, at) = (self.leaf(leaf), NodeId(leaf));
        if place.is_left() {
            let begins = thread.begins_in(owner, leaf);
            self.with(|tree| {
                begins.tell(tree, at, told);
                tree.stands_by(at, true, told.1);
            });
        }
        let [queued, _] = thread.places.get(owner);
        let number = if is_first { self.first_place() } else { self.last_place() };
        thread.places.set(owner, [queued, number]);
        thread.beside.set(owner, leaf);
        match is_first {
            true => place.standing_by.push_front(thread),
            false => place.standing_by.push_back(thread),
        }
    }

    /// A thread stands by no longer: at which leaf it did.
    pub fn stop_standing_by(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> Option<u32> {
        let leaf = thread.stands_by().then(|| thread.beside.get(owner))?;
        self.leaf(leaf).standing_by.remove(thread);
        Some(leaf)
    }

    /// A thread that has the same own leaf as another one, and is to use the same lent one, has its
    /// place in both.
    pub fn stand_by_instead(&self, owner: &impl Owner, to: Ref<Thread<P>>, from: Ref<Thread<P>>) {
        to.away.set(owner, from.away.get(owner));
        from.away.set(owner, LeafRef::NONE);
        to.places.set(owner, from.places.get(owner));
        if from.stands_by() {
            let (leaf, place) = (from.beside.get(owner), self.leaf(from.beside.get(owner)));
            to.beside.set(owner, leaf);
            place.standing_by.replace(from, to);
            if place.holder.get() == Some(from) {
                place.holder.set(Some(to));
            }
        }
    }

    /// The leaf that a thread runs in, which a CPU has chosen.
    #[inline(always)]
    pub fn runs_in(&self, owner: &impl Owner, cpu: u32, thread: Ref<Thread<P>>) -> u32 {
        match self.runs_beside(owner, cpu, thread) {
            true => thread.beside.get(owner),
            false => thread.leaf.get(owner),
        }
    }

    /// Whether that is the leaf that the thread stands by at.
    #[inline(always)]
    pub fn runs_beside(&self, owner: &impl Owner, cpu: u32, thread: Ref<Thread<P>>) -> bool {
        thread.stands_by() && self.runs(cpu, thread.beside.get(owner))
    }

    #[cold]
    #[inline(never)]
    fn runs(&self, cpu: u32, leaf: u32) -> bool {
        self.with(|tree| tree.has_chosen(cpu as usize, NodeId(leaf))) == Some(true)
    }
}
