//! Leaves that are lent (S2G-05, S4-07): a thread that owns what others wait for uses the most
//! urgent leaf of theirs, if that is more urgent than its own.
//!
//! Which leaf a thread is lent is decided when waits change, and stored; whether it uses that, or
//! its own, or what its callers are lent, is decided when it is queued, and at each change. A
//! thread that is queued in a lent leaf has the name of its own one, which is charged too, and
//! mostly [stands by](super::beside) there.

use super::{DONATIONS, Own, Trees};
use crate::access::{Owner, Ref};
use crate::leaf::LeafRef;
use crate::object::Thread;
use crate::port::Port;
use abi::reservation::Inheritance;
use core::cmp::Ordering;
use policies::tree::NodeId;

impl<P: Port> Trees<P> {
    /// Whether any thread is lent a leaf, or may be queued in one that it was lent.
    #[inline(always)]
    pub fn lend_any(&self) -> bool {
        P::TREE && self.lent.get() > 0
    }

    /// Whether leaves are lent, and how: said before there are threads.
    pub fn set_inheritance(&self, inheritance: Inheritance) {
        self.lends.set(self.exist() && inheritance != Inheritance::None);
        self.with(|tree| tree.set_inheritance(inheritance));
    }

    /// Whether threads may be lent leaves.
    #[inline(always)]
    pub fn may_lend(&self) -> bool {
        P::TREE && self.lends.get()
    }

    /// How many threads are lent leaves, and how many are to follow a change of waits.
    pub fn lent_to(&self) -> u32 {
        self.lent.get()
    }

    /// One thread more is to follow a change of waits.
    pub fn begins_to_follow(&self) {
        self.lent.set(self.lent.get() + 1);
    }

    /// One thread less is.
    pub fn ends_to_follow(&self) {
        self.lent.set(self.lent.get() - 1);
    }

    /// A thread is lent this leaf from now on, or none.
    pub fn set_lent(&self, owner: &impl Owner, thread: Ref<Thread<P>>, lent: LeafRef) {
        let before = thread.lent.get(owner);
        thread.lent.set(owner, lent);
        let count = self.lent.get() + u32::from(!lent.is_none());
        self.lent.set(count - u32::from(!before.is_none()));
    }

    /// The leaf that a thread lends those that it waits for: what it is lent itself, or its own,
    /// that of its callers included, but not what these are lent.
    pub fn lends_on(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> u32 {
        let own = self.own_leaf_of(owner, thread);
        self.lent_leaf(owner, thread).map_or(own, |lent| self.more_urgent(lent, own))
    }

    /// The first of two leaves if it is more urgent, or the second.
    pub fn more_urgent(&self, one: u32, other: u32) -> u32 {
        let first = one != other && self.compare(one, other) == Some(Ordering::Greater);
        if first { one } else { other }
    }

    /// Which of two leaves is more urgent; `None`: neither can be.
    pub fn compare(&self, one: u32, other: u32) -> Option<Ordering> {
        self.with(|tree| tree.compare_urgency(NodeId(one), NodeId(other))).flatten()
    }

    /// The greatest priority of what is ready below the root of a CPU; -1: nothing is.
    pub fn highest_ready(&self, cpu: u32) -> i16 {
        self.with(|tree| tree.highest_ready(cpu as usize)).flatten().unwrap_or(-1)
    }

    /// Threads are to follow a change of waits before the decision, or one has moved as it did:
    /// interrupts are polled before that. Or all of it is done.
    pub fn set_followed(&self, followed: bool) {
        self.followed.set(followed);
    }

    /// Whether threads are to follow a change of waits before the decision, or one has just moved.
    #[inline(always)]
    pub fn decides_behind_followers(&self) -> bool {
        P::TREE && P::FUTEXES && self.followed.get()
    }

    /// A thread's leaf of its own: that of its reservation, or of its priority, whatever it is lent
    /// along waits or calls.
    pub fn leaf_by_itself(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> NodeId {
        let of_priority = |priority| self.of_priority(thread.cpu.get(), priority);
        NodeId(match self.own_time(owner, thread) {
            Own::Leaf(leaf) | Own::Shared(leaf) => leaf,
            Own::Priority(priority) => of_priority(priority),
            Own::Lowest => of_priority(0),
        })
    }

    /// How many classes a leaf is below.
    pub fn depth_of(&self, leaf: u32) -> u8 {
        self.with(|tree| tree.depth_of(NodeId(leaf))).unwrap_or(0)
    }

    /// A leaf's priority below the root of its CPU, where others hide it from those below it.
    pub fn urgency_of(&self, leaf: u32) -> i16 {
        self.with(|tree| tree.priority_below_root(NodeId(leaf))).unwrap_or(0)
    }

    /// The leaf that waiters lend a thread, as it is on that one's CPU, if it is there still.
    pub fn lent_leaf(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> Option<u32> {
        let lent = thread.lent.get(owner);
        self.lent_from(owner, (lent.node, self.home_of(lent)?.cpu()?), thread)
    }

    /// What a leaf of a CPU that is lent to a thread is to that: the same on its own CPU. From
    /// another one a priority is lent, to a thread without a reservation, as by the kernels of
    /// priorities. Reservations and their threads keep their limits.
    pub fn lent_from(
        &self,
        owner: &impl Owner,
        (leaf, cpu): (u32, u32),
        to: Ref<Thread<P>>,
    ) -> Option<u32> {
        if cpu == to.cpu.get() {
            return Some(leaf);
        }
        let number = leaf.checked_sub(self.plain)?;
        let is_free = to.reservation.get(owner).is_none();
        is_free.then(|| self.of_priority(to.cpu.get(), (number as u8).into()))
    }

    /// As [`Trees::leaf_of`], while leaves are lent.
    #[cold]
    #[inline(never)]
    pub(super) fn lent_leaf_of(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> u32 {
        let mut uses = self.own_leaf_of(owner, thread);
        self.each_lent(owner, thread, |lent| uses = self.more_urgent(lent, uses));
        uses
    }

    /// Whether a thread that is queued may be in this leaf: its own, or one that is lent to it or
    /// to those that it works for.
    pub fn may_use(&self, owner: &impl Owner, thread: Ref<Thread<P>>, leaf: u32) -> bool {
        let mut may = leaf == self.own_leaf_of(owner, thread);
        self.each_lent(owner, thread, |lent| may |= lent == leaf);
        may
    }

    /// Calls `visit` for each leaf that is lent to a thread, or to those whose time it runs on.
    fn each_lent(&self, owner: &impl Owner, thread: Ref<Thread<P>>, mut visit: impl FnMut(u32)) {
        let mut payer = thread;
        for _ in 0..=DONATIONS {
            self.lent_leaf(owner, payer).into_iter().for_each(&mut visit);
            match self.own_time(owner, payer) {
                Own::Leaf(_) => return,
                Own::Shared(_) | Own::Lowest if payer == thread => return,
                Own::Shared(_) | Own::Lowest | Own::Priority(_) => {}
            }
            match payer.caller.get().filter(|caller| caller.cpu.get() == thread.cpu.get()) {
                Some(caller) => payer = caller,
                None => return,
            }
        }
    }

    /// The own leaf of a thread that uses this one, if that is lent.
    pub fn away_from(&self, owner: &impl Owner, thread: Ref<Thread<P>>, leaf: u32) -> LeafRef {
        let own = self.own_leaf_of(owner, thread);
        if own == leaf { LeafRef::NONE } else { self.name(NodeId(own)) }
    }

    /// A thread is about to use a lent leaf. If it is queued in its own one, it leaves that behind
    /// this.
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
        });
        if ends_job {
            self.end_job_of(own, now);
        }
    }

    /// The job of a thread's own leaf ends, unless others are ready there.
    pub fn end_job_of(&self, own: LeafRef, now: u64) {
        if self.home_of(own).is_some() {
            self.with(|tree| tree.end_job(NodeId(own.node), now));
        }
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
