//! Which leaf a thread is lent along waits, where a tree lends them (S2G-05): decided, and stored,
//! whenever a wait that leads to it begins, ends or changes. O(1): of any number of waiters at most
//! [`COMPARED`] are compared.

use crate::access::Ref;
use crate::leaf::LeafRef;
use crate::manage::Manager;
use crate::object::Thread;
use crate::object::inherit::{ByEdge, Inherit, Turnstile};
use crate::port::Port;
use core::cmp::Ordering;
use policies::tree::NodeId;

/// Waiters that are looked at for the most urgent one, among those that are equals below the root
/// of their CPU: those that came first. As many mutexes or conditions are looked at for a thread,
/// where one kind of edge alone leads to it.
const LOOKED_AT: usize = 4;
/// The same where several kinds of edges do, of each of them.
const LOOKED_AT_OF_EACH: usize = 2;
/// Waiters that are compared for one thread at most.
const COMPARED: usize = 8;

impl<P: Port> Manager<'_, P> {
    /// Decides which leaf a thread is lent: the most urgent that those lend that wait for it. The
    /// first waiters of all mutexes and conditions that are looked at are compared, and where these
    /// are few their next ones as well.
    pub(super) fn decide_lent(&self, at: Ref<Thread<P>>) {
        self.kernel.trees.set_lent(&self.all, at, self.leaf_to_lend(at));
        self.sleep_anew(at);
    }

    fn leaf_to_lend(&self, at: Ref<Thread<P>>) -> LeafRef {
        let (trees, inherit) = (&self.kernel.trees, &self.all.open(at).inherit);
        if !inherit.is_awaited() {
            return LeafRef::NONE;
        }
        let mut count = 0;
        self.look_at(inherit, |_| count += 1);
        let each = (COMPARED / usize::max(count, 1)).min(LOOKED_AT);
        // The waiter's leaf, and what that is to this thread.
        let leaf_of = |waiter: Ref<Thread<P>>| {
            let leaf = trees.lends_on(&self.all, waiter);
            let here = trees.lent_from(&self.all, (leaf, waiter.cpu.get()), at);
            here.map(|here| (leaf, here))
        };
        let mut first = None;
        self.look_at(inherit, |turnstile| {
            let waiters = self.waiters();
            let Some(head) = waiters.first(&turnstile.waiters) else { return };
            let looked_at = waiters.equals(head).take(LOOKED_AT);
            for other in looked_at.filter_map(leaf_of).take(each) {
                let is_rather = |(_, than)| self.is_rather(at, other.1, than);
                first = first.filter(|first| !is_rather(*first)).or(Some(other));
            }
        });
        first.map_or(LeafRef::NONE, |(leaf, _)| trees.name(NodeId(leaf)))
    }

    /// Calls `visit` for what is looked at for a thread: by each edge that leads to it the first
    /// ones of those that are equals, where they lend.
    fn look_at(&self, inherit: &Inherit<P>, mut visit: impl FnMut(&Turnstile<P>)) {
        let kinds = || ByEdge::all().filter(|which| inherit.lenders(*which).get().is_some());
        let most = if kinds().nth(1).is_some() { LOOKED_AT_OF_EACH } else { LOOKED_AT };
        for which in kinds() {
            let lenders = self.lenders(which);
            let Some(head) = lenders.first(inherit.lenders(which)) else { continue };
            let looked_at = lenders.equals(head).take(most).map(|lender| self.turnstile(lender));
            looked_at.filter(|at| at.edge(which).lends.get()).for_each(&mut visit);
        }
    }

    /// Whether a thread is rather lent the first one of two leaves: if that is more urgent. Of two
    /// in different time partitions neither is: then that one in the thread's own.
    fn is_rather(&self, at: Ref<Thread<P>>, leaf: u32, than: u32) -> bool {
        let trees = &self.kernel.trees;
        match trees.compare(leaf, than) {
            Some(order) => order == Ordering::Greater,
            None => {
                let own = trees.own_leaf_of(&self.all, at);
                let is_more = |leaf| trees.compare(leaf, own) == Some(Ordering::Greater);
                is_more(leaf) && !is_more(than)
            }
        }
    }

    /// The waiter that lends, and that is served first. Where leaves are lent it is the most urgent
    /// one of the first [`LOOKED_AT`] that are equals below the root.
    pub(super) fn first_waiter(&self, turnstile: &Turnstile<P>) -> Option<Ref<Thread<P>>> {
        let waiters = self.waiters();
        let first = waiters.first(&turnstile.waiters)?;
        if !self.kernel.trees.may_lend() {
            return Some(first);
        }
        let urgent = waiters
            .equals(first)
            .take(LOOKED_AT)
            .map(|waiter| (waiter, self.kernel.trees.lends_on(&self.all, waiter)));
        let more = |best: (_, u32), other: (_, u32)| {
            let order = self.kernel.trees.compare(other.1, best.1);
            let goes_first = order == Some(Ordering::Greater);
            if goes_first { other } else { best }
        };
        urgent.reduce(more).map(|(waiter, _)| waiter)
    }
}
