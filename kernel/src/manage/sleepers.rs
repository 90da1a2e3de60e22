//! What sleeps on a reservation that is about to become more urgent: the deadlines of its threads
//! become so before, one by one, with polls between them. So a change takes long where there are
//! many threads, and interrupts are off for none of that.

use super::Manager;
use crate::access::Ref;
use crate::object::Thread;
use crate::port::Port;
use crate::tree::{ANY, NOTHING};
use abi::reservation::Share;
use policies::tree::NodeId;

impl<P: Port> Manager<'_, P> {
    /// How urgent a child of a class is with this share, or will be by a change to come.
    pub(super) fn urgency_in(&self, class: NodeId, share: Share) -> i16 {
        let trees = &self.kernel.trees;
        let urgency = trees.with(|tree| tree.urgency_in(class, share)).flatten();
        urgency.unwrap_or(ANY).min(ANY).max(trees.urgency_to_come(class))
    }

    /// A node is about to be as urgent as this. Whether all deadlines in it are: else an interrupt
    /// is pending, and the call that is issued again goes on where this has ended.
    pub(super) fn wakes_by(&self, me: Ref<Thread<P>>, node: NodeId, urgency: i16) -> bool {
        let trees = &self.kernel.trees;
        let place = trees.leaf(node.0);
        if trees.coming(node) < urgency {
            // A change to come of a class above may never be made.
            if trees.urgency_of_instants(node) >= urgency {
                return true;
            }
            self.end_change(me);
            trees.set_coming(node, urgency, Some(me));
            self.all.open(me).changes.set(Some(node));
            place.next.set(0);
        }
        while let Some(at) = self.kernel.threads.get(place.next.get()) {
            place.next.set(place.next.get() + 1);
            self.sleep_anew(at);
            if self.preempted() {
                return false;
            }
        }
        // Another CPU may have suspended the caller meanwhile: then the change does not come.
        trees.coming(node) >= urgency
    }

    /// The call of a thread has ended, well or not: no change of its own is to come. One of another
    /// thread still is.
    pub(super) fn end_change(&self, me: Ref<Thread<P>>) {
        if P::TREE
            && let Some(node) = self.all.open(me).changes.take()
            && self.kernel.trees.comes_by(node) == Some(me)
        {
            self.kernel.trees.set_coming(node, NOTHING, None);
        }
    }
}
