//! Effective priorities along waits, a link at a time. A link is O(1), and O(log n) more for a
//! deadline; between two of them interrupts are polled, and other CPUs let in. Where one waits, or
//! a wait leads to several threads, those that are to go on are [followers](super::follow).

use super::follow::to_do;
use crate::access::Ref;
use crate::manage::Manager;
use crate::object::Thread;
use crate::object::inherit::ByEdge;
use crate::object::inherit::Named;
use crate::port::Port;
use abi::futex::HELPERS;

/// Threads that are to follow a change of what is lent to them.
pub(super) type Ends<P> = [Option<Ref<Thread<P>>>; HELPERS];

/// A priority as a key.
pub(super) fn key(urgency: i16) -> u8 {
    urgency.clamp(0, u8::MAX.into()) as u8
}

impl<P: Port> Manager<'_, P> {
    /// The effective priority that a thread is to have: the greatest of its own, its ceiling, those
    /// that wait for what it owns, and those that wait for conditions that it helps. Where a tree
    /// orders threads, it orders waiters alone; while it lends leaves, by what a waiter lends.
    pub(crate) fn urgency(&self, at: Ref<Thread<P>>) -> i16 {
        let trees = &self.kernel.trees;
        if trees.may_lend() {
            return trees.urgency_of(trees.lends_on(&self.all, at));
        }
        let thread = self.all.open(at);
        let mut urgency = thread.own_priority.get();
        for which in ByEdge::all() {
            let set = thread.inherit.lenders(which);
            if set.get().is_some()
                && let Some(first) = self.lenders(which).first(set)
            {
                urgency = urgency.max(self.lenders(which).key(first).into());
            }
        }
        urgency
    }

    /// That as a key.
    pub(super) fn key_of(&self, at: Ref<Thread<P>>) -> u8 {
        key(self.urgency(at))
    }

    /// Gives a thread the effective priority that it is to have, and each behind it in its chains.
    pub(crate) fn propagate(&self, at: Ref<Thread<P>>) {
        if self.kernel.trees.may_lend() {
            return self.propagate_leaves(at);
        }
        self.follow_priority(at);
    }

    /// The same where priorities are lent. Behind an interrupt that is pending the rest follows.
    pub(super) fn follow_priority(&self, mut at: Ref<Thread<P>>) {
        loop {
            let urgency = self.urgency(at);
            let key = key(urgency);
            let long = self.apply_priority(at, urgency);
            let Some(next) = self.all.open(at).inherit.waits.get() else { return };
            let before = self.waiters().key(at);
            if before == key {
                return;
            }
            if long && self.preempted() {
                return self.follow_later(at, to_do::LENT, key.max(before));
            }
            self.waiters().rekey(&self.turnstile(next).waiters, at, key);
            match self.goes_on(self.reorder(next), key.max(before)) {
                Some(next) => at = next,
                None => return,
            }
        }
    }

    /// Threads are lent a priority, as a key, from now on, and nothing less than before.
    pub(super) fn lend_to(&self, ends: Ends<P>, key: u8) {
        if self.kernel.variant.tree {
            return self.propagate_to(ends);
        }
        for end in ends.into_iter().flatten() {
            match self.preempted() {
                true => self.follow_later(end, to_do::LENT, key),
                false => self.raise(end, key),
            }
        }
    }

    /// A thread is lent a priority, as a key, which it is not listed by yet: it has at least that,
    /// and so has each behind it in its chains. Behind an interrupt that is pending the rest
    /// follows. Not where a tree orders threads.
    fn raise(&self, mut at: Ref<Thread<P>>, key: u8) {
        let lenders = self.lenders(ByEdge::OWNER);
        loop {
            let thread = self.all.open(at);
            if thread.priority.get() >= key.into() {
                return;
            }
            let long = self.apply_priority(at, key.into());
            let Some(next) = thread.inherit.waits.get() else { return };
            // A follower may be listed by more than it has: it looks itself what is behind it.
            if self.waiters().key(at) >= key {
                return;
            }
            if long && self.preempted() {
                return self.follow_later(at, to_do::LENT, key);
            }
            let turnstile = self.turnstile(next);
            self.waiters().rekey(&turnstile.waiters, at, key);
            let ends = match turnstile.only.get() {
                Some(_) if lenders.key(next) >= key => return,
                Some(owner) => {
                    lenders.rekey(self.all.open(owner).inherit.lenders(ByEdge::OWNER), next, key);
                    if !self.preempted() {
                        at = owner;
                        continue;
                    }
                    [Some(owner), None, None, None]
                }
                None => self.reorder(next),
            };
            match self.goes_on(ends, key) {
                Some(next) => at = next,
                None => return,
            }
        }
    }

    /// The first of those that are to follow a change of what has this key at most, unless an
    /// interrupt is pending; the others follow later.
    #[cold]
    #[inline(never)]
    fn goes_on(&self, ends: Ends<P>, key: u8) -> Option<Ref<Thread<P>>> {
        let mut ends = ends.into_iter().flatten();
        let first = ends.next()?;
        ends.for_each(|end| self.follow_later(end, to_do::LENT, key));
        if !self.preempted() {
            return Some(first);
        }
        self.follow_later(first, to_do::LENT, key);
        None
    }

    /// The same for several, each behind a preemption point.
    pub(super) fn propagate_to(&self, ends: Ends<P>) {
        ends.into_iter().flatten().for_each(|end| self.propagate_next(end));
    }

    /// [`Manager::propagate`] behind a preemption point: the thread follows, if an interrupt is
    /// pending.
    #[inline(never)]
    pub(super) fn propagate_next(&self, at: Ref<Thread<P>>) {
        // Where leaves are lent, each step polls.
        if self.kernel.trees.may_lend() || !self.preempted() {
            return self.propagate(at);
        }
        self.follow_anew(at);
    }

    /// A thread follows whatever has changed of what is lent to it.
    fn follow_anew(&self, at: Ref<Thread<P>>) {
        // What it was lent and what it is to be lent are no more than these.
        let most = self.all.open(at).priority.get().max(self.urgency(at));
        self.follow_later(at, to_do::LENT, key(most));
    }

    /// The waiters in a turnstile have changed, or to which threads it leads. It is listed by what
    /// it lends; those for which that is another priority than before are to follow, and where
    /// leaves are lent all of them: another thread may be the first one. Behind an interrupt that
    /// is pending it is a follower itself, and still listed as before for the rest. Until then what
    /// it is listed by may differ by more than this change: who is reached by that follows by
    /// itself.
    pub(super) fn reorder(&self, at: Ref<Thread<P>>) -> Ends<P> {
        let (turnstile, mut ends) = (self.turnstile(at), [None; HELPERS]);
        let (mut polls, mut later) = (false, false);
        let is_behind = self.all.open(at).inherit.to_do.get() & to_do::ORDER != 0;
        let first = self.waiters().first(&turnstile.waiters);
        let first = first.map_or(0, |first| self.waiters().key(first));
        self.looks_again_for(at, first);
        for (which, to) in turnstile.leads() {
            let lenders = self.lenders(which);
            let lends = turnstile.edge(which).lends.get();
            let (key, before) = (if lends { first } else { 0 }, lenders.key(at));
            if before != key {
                later |= polls && self.preempted();
                if later {
                    self.follow_later(at, to_do::ORDER, key.max(before));
                    continue;
                }
                polls = !self.kernel.variant.tree;
                lenders.rekey(self.all.open(to).inherit.lenders(which), at, key);
                match is_behind {
                    true => self.follow_anew(to),
                    false => ends[which.index()] = Some(to),
                }
            } else if self.kernel.trees.may_lend() {
                ends[which.index()] = Some(to);
            }
        }
        ends
    }

    /// A condition has a helper, or an endpoint a server, by this edge: it lends that one the
    /// priority with this key, or nothing yet.
    #[inline(never)]
    pub(super) fn lead(
        &self,
        at: Ref<Thread<P>>,
        (which, to): (ByEdge, Ref<Thread<P>>),
        lent: Option<u8>,
    ) {
        self.kernel.waits.change();
        self.turnstile(at).set_edge(which, Some(to), lent.is_some());
        let set = self.all.open(to).inherit.lenders(which);
        self.lenders(which).insert(set, at, lent.unwrap_or(0));
    }

    /// A turnstile no longer leads to a thread by this edge, which lends nothing.
    pub(super) fn lead_off(&self, at: Ref<Thread<P>>, which: ByEdge) -> Option<Ref<Thread<P>>> {
        let turnstile = self.turnstile(at);
        let edge = turnstile.edge(which);
        let to = edge.to.get()?;
        self.kernel.waits.change();
        turnstile.set_edge(which, None, false);
        self.lenders(which).remove(self.all.open(to).inherit.lenders(which), at);
        Some(to)
    }

    /// A thread at home, or on a visit, owns a mutex, whose first waiter has this key; or it is to
    /// answer the call that has reached it there.
    pub(super) fn own(&self, mutex: Ref<Thread<P>>, (owner, visit): Named<P>, key: u8) {
        let (turnstile, which) = (self.turnstile(mutex), ByEdge::OWNER);
        self.kernel.waits.change();
        turnstile.set_edge(which, Some(owner), true);
        self.lenders(which).insert(self.all.open(owner).inherit.lenders(which), mutex, key);
        turnstile.visit.set(visit);
        if let Some(visit) = visit {
            self.all.open(visit).owned.push_back(mutex);
        }
    }

    /// Whether a thread owns a mutex where it is.
    #[inline(never)]
    pub(super) fn owns(&self, at: Ref<Thread<P>>, mutex: Ref<Thread<P>>) -> bool {
        self.turnstile(mutex).owner() == Some(self.here(at))
    }

    /// A thread does not own a mutex any more.
    pub(super) fn disown(&self, mutex: Ref<Thread<P>>) {
        self.lead_off(mutex, ByEdge::OWNER);
        self.leave_visit(mutex);
    }

    /// A mutex is not among those of a visit any more.
    pub(super) fn leave_visit(&self, mutex: Ref<Thread<P>>) {
        if let Some(visit) = self.turnstile(mutex).visit.take() {
            self.all.open(visit).owned.remove(mutex);
        }
    }
}
