//! Leaves that are lent (S2G-05, S4-07): a thread that owns an inheriting mutex uses the leaf of
//! the first one that waits for it, if that is more urgent than its own.
//!
//! Which waiter that is, its *lender*, is decided when waits change, and stored. Which leaf that
//! comes to is found each time, along callers and lenders. A thread that is queued in a lent leaf
//! has the name of its own one, which is charged too.

use super::{DONATIONS, Own, Trees};
use crate::access::{Owner, Ref};
use crate::leaf::LeafRef;
use crate::object::Thread;
use crate::port::Port;
use abi::reservation::Inheritance;
use policies::tree::NodeId;

/// Threads that are looked at from one to that whose leaf it uses.
pub const FOLLOWED: usize = 2 * (DONATIONS + 1);

impl<P: Port> Trees<P> {
    /// Whether any thread has a lender.
    #[inline(always)]
    pub fn lend_any(&self) -> bool {
        P::TREE && self.lent.get() > 0
    }

    /// Whether leaves are lent, and how: said before there are threads.
    pub fn set_inheritance(&self, inheritance: Inheritance) {
        self.lends.set(self.exist() && inheritance != Inheritance::None);
        self.with(|tree| tree.set_inheritance(inheritance));
    }

    /// Whether threads may have lenders.
    #[inline(always)]
    pub fn may_lend(&self) -> bool {
        P::TREE && self.lends.get()
    }

    /// How many threads have lenders.
    pub fn lenders(&self) -> u32 {
        self.lent.get()
    }

    /// A thread has another lender from now on, or none.
    pub fn set_lender(
        &self,
        owner: &impl Owner,
        thread: Ref<Thread<P>>,
        lender: Option<Ref<Thread<P>>>,
    ) {
        let before = thread.lender.get(owner);
        thread.lender.set(owner, lender);
        let count = self.lent.get() + u32::from(lender.is_some());
        self.lent.set(count - u32::from(before.is_some()));
    }

    /// Whether a thread without a lender is to have this one: its leaf is more urgent, in the tree
    /// of one CPU.
    pub fn should_lend(
        &self,
        owner: &impl Owner,
        lender: Ref<Thread<P>>,
        thread: Ref<Thread<P>>,
    ) -> bool {
        let [lent, own] = [lender, thread].map(|at| self.leaf_of(owner, at));
        let there = lender.cpu.get() == thread.cpu.get();
        there && self.with(|tree| tree.is_more_urgent(NodeId(lent), NodeId(own))) == Some(true)
    }

    /// As [`Trees::leaf_of`], while threads have lenders. Between priorities the highest counts.
    #[cold]
    #[inline(never)]
    pub(super) fn lent_leaf_of(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> u32 {
        let own = self.own_leaf_of(owner, thread);
        let priorities = self.of_priority(thread.cpu.get(), 0);
        let priorities = priorities..=priorities + u32::from(u8::MAX);
        match self.lent_to(owner, thread) {
            None => own,
            Some(lent) if [own, lent].iter().all(|leaf| priorities.contains(leaf)) => own.max(lent),
            Some(lent) => lent,
        }
    }

    /// The leaf that a thread is lent, or those are that it works for.
    fn lent_to(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> Option<u32> {
        let cpu = thread.cpu.get();
        let (mut payer, mut priority) = (thread, None);
        let (mut callers, mut is_lent) = (0, false);
        for _ in 0..FOLLOWED {
            if let Some(lender) = payer.lender.get(owner) {
                (payer, callers, is_lent) = (lender, 0, true);
            } else {
                match self.own_time(owner, payer) {
                    Own::Leaf(leaf) => return is_lent.then_some(leaf),
                    Own::Priority(own) => priority = Some(own).max(priority),
                    Own::Shared(_) | Own::Lowest if callers == 0 => return None,
                    Own::Shared(_) | Own::Lowest => {}
                }
                match payer.caller.get().filter(|_| callers < DONATIONS) {
                    Some(caller) => (payer, callers) = (caller, callers + 1),
                    None => break,
                }
            }
            if payer.cpu.get() != cpu {
                break;
            }
        }
        priority.filter(|_| is_lent).map(|priority| self.of_priority(cpu, priority))
    }

    /// The own leaf of a thread that uses this one, if that is lent.
    pub fn away_from(&self, owner: &impl Owner, thread: Ref<Thread<P>>, leaf: u32) -> LeafRef {
        let own = self.own_leaf_of(owner, thread);
        if own == leaf { LeafRef::NONE } else { self.name(NodeId(own)) }
    }

    /// A thread is about to use a lent leaf. If it is queued, it leaves its own one behind this.
    pub fn begin_lending(
        &self,
        owner: &impl Owner,
        thread: Ref<Thread<P>>,
        own: LeafRef,
        now: u64,
    ) {
        thread.away.set(owner, own);
        if self.home_of(own).is_some() {
            let lent = self.with(|tree| tree.lend(NodeId(own.node), now));
            debug_assert!(lent != Some(Err(policies::tree::TreeError::NoSuchNode)), "no leaf");
        }
    }

    /// A thread does not use a lent leaf any more, and is in its own one, or in none. Its job ends,
    /// or goes on.
    pub fn end_lending(&self, own: LeafRef, ends_job: bool, now: u64) {
        if self.home_of(own).is_none() {
            return;
        }
        self.with(|tree| {
            let taken = tree.take_back(NodeId(own.node), now);
            debug_assert!(taken.is_ok(), "a leaf that was lent none");
            if ends_job {
                tree.end_job(NodeId(own.node), now);
            }
        });
    }

    /// A CPU is to run this thread: if that is on a lent leaf, its own one is charged too.
    #[cold]
    #[inline(never)]
    pub fn charge_too(&self, owner: &impl Owner, cpu: u32, thread: Option<Ref<Thread<P>>>) {
        let away = thread.map_or(LeafRef::NONE, |thread| thread.away.get(owner));
        let own = self.home_of(away).map(|_| NodeId(away.node));
        self.with(|tree| tree.charge_too(cpu as usize, own));
    }
}
