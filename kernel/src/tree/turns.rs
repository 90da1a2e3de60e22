//! Time slices of threads that share a leaf, and turns that are kept while a thread is raised.

use super::{Leaf, Trees};
use crate::access::{Owner, Ref};
use crate::object::Thread;
use crate::object::thread::Turn;
use crate::port::Port;
use policies::tree::NodeId;

impl<P: Port> Trees<P> {
    /// A thread is about to leave its leaf for another one. If that is more urgent, and the thread
    /// is the first here, it has its turn, with the rest of its time slice, when it comes back.
    /// What runs until then in the leaves that it is in is of that slice.
    pub fn keep_turn(&self, owner: &impl Owner, thread: Ref<Thread<P>>, to: u32) {
        let (level, turn) = (thread.leaf.get(owner), thread.turn.get(owner));
        let had = |leaf| self.with(|tree| tree.service(NodeId(leaf))).unwrap_or(0);
        if !turn.is_none() {
            let used = turn.used.wrapping_add(had(level)).wrapping_sub(had(to));
            return thread.turn.set(owner, Turn { used, ..turn });
        }
        let place = self.leaf(level);
        let is_first = self.first_in(owner, place) == Some(thread);
        if is_first && to != level && self.more_urgent(to, level) == to {
            let holds = place.holder.get() == Some(thread);
            let from = if holds { place.slice_from.get() } else { had(level) };
            let used = had(level).wrapping_sub(from).wrapping_sub(had(to));
            thread.turn.set(owner, Turn { level, used });
        }
    }

    /// A thread has joined a leaf: it goes first if it had its turn there.
    pub fn take_turn(&self, owner: &impl Owner, thread: Ref<Thread<P>>) {
        let (level, turn) = (thread.leaf.get(owner), thread.turn.get(owner));
        if turn.level != level {
            return;
        }
        thread.turn.set(owner, Turn::NONE);
        let place = self.leaf(level);
        self.put_first(owner, thread);
        place.holder.set(Some(thread));
        place.slice_from.set(turn.used.wrapping_neg());
    }

    /// A thread goes before all others of the leaf that it is queued in.
    pub fn put_first(&self, owner: &impl Owner, thread: Ref<Thread<P>>) {
        let place = self.leaf(thread.leaf.get(owner));
        place.threads.remove(thread);
        place.threads.push_front(thread);
        self.go_first(owner, thread);
    }

    /// Puts the first of several threads of a leaf behind the others. Whether there are several.
    pub fn rotate(&self, owner: &impl Owner, leaf: u32) -> bool {
        let place = self.leaf(leaf);
        match self.first_in(owner, place).filter(|first| place.has_others(*first)) {
            Some(first) => {
                self.move_back(owner, place, first);
                true
            }
            None => false,
        }
    }

    /// When the time slice of a leaf's first thread ends. If it has, the next thread is the first.
    #[cold]
    pub(super) fn share_slices(
        &self,
        owner: &impl Owner,
        (place, first): (&Leaf<P>, Ref<Thread<P>>),
        service: u64,
        now: u64,
    ) -> u64 {
        let used = service.wrapping_sub(place.slice_from.get());
        if place.holder.get() == Some(first) && used < self.slice {
            return now.saturating_add(self.slice - used);
        }
        if place.holder.get() == Some(first) {
            self.move_back(owner, place, first);
        }
        place.holder.set(self.first_in(owner, place));
        place.slice_from.set(service);
        now.saturating_add(self.slice)
    }
}
