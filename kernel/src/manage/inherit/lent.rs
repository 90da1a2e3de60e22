//! Leaves along waits, where a tree lends them (S2G-05): which leaf a thread is lent is decided
//! whenever a wait begins, ends or changes, and the thread that works in the end moves to the leaf
//! that it uses then.
//!
//! What a thread has is followed along calls, then along waits, then along calls again: a server
//! lends those that it waits for what its callers have, but not what these are lent. So a change is
//! followed over [`DONATIONS`] calls, from each thread there that waits over
//! [`STEPS`](super::STEPS) edges of waits, and as many calls again from each of their ends. Calls
//! to a thread that serves are waits.

use super::chain::key;
use crate::access::Ref;
use crate::leaf::LeafRef;
use crate::manage::Manager;
use crate::object::Thread;
use crate::object::inherit::{ByEdge, Turnstile};
use crate::port::Port;
use crate::tree::DONATIONS;
use policies::tree::NodeId;

/// Waiters that are looked at for the most urgent one, among those that are equals below the root
/// of their CPU: those that came first.
const LOOKED_AT: usize = 4;

impl<P: Port> Manager<'_, P> {
    /// A thread's leaf, its priority, or what waits for it may have changed: it is lent what it is
    /// to be, and those that it lends its leaf to, along calls and waits, follow.
    pub(super) fn propagate_leaves(&self, at: Ref<Thread<P>>) {
        self.decide_lent(at);
        let (mut works, mut followed) = (at, false);
        for _ in 0..=DONATIONS {
            let waits = self.all.open(works).inherit.waits.get().is_some();
            if waits && !followed {
                self.lend_on(works);
            }
            let Some(server) = self.server_of(works) else { break };
            // Where the caller lends for its call, the server has followed with it.
            (works, followed) = (server, waits);
        }
        self.move_donation(at);
    }

    /// What a waiter lends may have changed.
    fn lend_on(&self, at: Ref<Thread<P>>) {
        let Some(next) = self.all.open(at).inherit.waits.get() else { return };
        let (key, turnstile) = (key(self.urgency(at)), self.turnstile(next));
        if self.waiters().key(at) != key {
            self.waiters().rekey(&turnstile.waiters, at, key);
        }
        self.reorder(next);
        for to in turnstile.lent_to() {
            self.decide_lent(to);
            match self.all.open(to).inherit.waits.get() {
                Some(_) => self.lend_on(to),
                None => self.move_donation(to),
            }
        }
    }

    /// Decides which leaf a thread is lent: the most urgent that those lend that wait for it on its
    /// CPU, the first [`LOOKED_AT`] of each of the first [`LOOKED_AT`] mutexes and conditions.
    pub(super) fn decide_lent(&self, at: Ref<Thread<P>>) {
        let (trees, inherit) = (&self.kernel.trees, &self.all.open(at).inherit);
        let mut first = None;
        for which in ByEdge::all() {
            let lenders = self.lenders(which);
            let Some(head) = lenders.first(inherit.lenders(which)) else { continue };
            let equals = lenders.equals(head).take(LOOKED_AT).map(|lender| self.turnstile(lender));
            for turnstile in equals.filter(|at| at.edge(which).lends.get()) {
                let Some(head) = self.waiters().first(&turnstile.waiters) else { continue };
                let here = |waiter: &Ref<Thread<P>>| waiter.cpu.get() == at.cpu.get();
                for waiter in self.waiters().equals(head).take(LOOKED_AT).filter(here) {
                    let leaf = trees.lends_on(&self.all, waiter);
                    first = Some(first.map_or(leaf, |first| self.rather(at, leaf, first)));
                }
            }
        }
        let lent = first.map_or(LeafRef::NONE, |leaf| trees.name(NodeId(leaf)));
        trees.set_lent(&self.all, at, lent);
    }

    /// The one of two leaves that a thread is rather lent: the first one if that is more urgent. Of
    /// two in different time partitions neither is: then that one in the thread's own.
    fn rather(&self, at: Ref<Thread<P>>, leaf: u32, than: u32) -> u32 {
        let trees = &self.kernel.trees;
        let is_more = |one, other| one != other && trees.more_urgent(one, other) == one;
        if is_more(leaf, than) || leaf == than || is_more(than, leaf) {
            return trees.more_urgent(leaf, than);
        }
        let own = trees.own_leaf_of(&self.all, at);
        if is_more(leaf, own) && !is_more(than, own) { leaf } else { than }
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
            let goes_first =
                other.1 != best.1 && self.kernel.trees.more_urgent(other.1, best.1) == other.1;
            if goes_first { other } else { best }
        };
        urgent.reduce(more).map(|(waiter, _)| waiter)
    }
}
