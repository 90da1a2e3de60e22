//! Leaves along waits, where a tree lends them (S2G-05): who lends a thread its leaf is decided
//! whenever a wait begins, ends or changes, and the thread that works in the end moves to the leaf
//! that it uses then.

use super::chain::key;
use crate::access::Ref;
use crate::manage::Manager;
use crate::object::Thread;
use crate::object::inherit::ByEdge;
use crate::port::Port;
use crate::tree::FOLLOWED;

/// Threads that one change is followed to at most, all branches taken together.
const REACHED: u32 = 64;

impl<P: Port> Manager<'_, P> {
    /// A thread's leaf, its priority, or what it is lent may have changed: it is listed by its
    /// priority, has the lender that it should have, and those behind it follow, along waits and
    /// calls. A ring of these, which blocks all in it, ends that as well.
    pub(super) fn propagate_leaves(&self, at: Ref<Thread<P>>) {
        let mut left = REACHED;
        self.lend_on(at, &mut left, FOLLOWED);
    }

    fn lend_on(&self, at: Ref<Thread<P>>, left: &mut u32, depth: usize) {
        if *left == 0 || depth == 0 {
            return;
        }
        *left -= 1;
        self.decide_lender(at);
        let Some(next) = self.all.open(at).inherit.waits.get() else {
            let works = self.move_donation(at);
            if self.all.open(works).inherit.waits.get().is_some() {
                self.lend_on(works, left, depth - 1);
            }
            return;
        };
        let (key, turnstile) = (key(self.urgency(at)), self.turnstile(next));
        if self.waiters().key(at) != key {
            self.waiters().rekey(&turnstile.waiters, at, key);
        }
        self.reorder(next);
        for to in turnstile.lent_to() {
            self.lend_on(to, left, depth - 1);
        }
    }

    /// Decides whether the first of those that wait for a thread lends it a leaf.
    pub(super) fn decide_lender(&self, at: Ref<Thread<P>>) {
        let trees = &self.kernel.trees;
        let inherit = &self.all.open(at).inherit;
        let mut first = None;
        for which in ByEdge::all() {
            let lender = self.lenders(which).first(inherit.lenders(which));
            let Some(turnstile) = lender.map(|lender| self.turnstile(lender)) else { continue };
            let waiter = self.waiters().first(&turnstile.waiters);
            let lends = turnstile.edge(which).lends.get();
            let Some(waiter) = waiter.filter(|_| lends) else { continue };
            let key = self.waiters().key(waiter);
            if first.is_none_or(|(greatest, _)| key > greatest) {
                first = Some((key, waiter));
            }
        }
        if first.is_none() && self.all.open(at).lender.get(&self.all).is_none() {
            return;
        }
        trees.set_lender(&self.all, at, None);
        let lender = first.map(|(_, waiter)| waiter);
        let lender = lender.filter(|lender| trees.should_lend(&self.all, *lender, at));
        trees.set_lender(&self.all, at, lender);
    }
}
