//! Effective priorities along waits. What one change may touch is bounded by the weights of links:
//! a condition with n helpers counts as n links, so of at most [`LINKS`] links in a row at most
//! [`STEPS`] edges lead on, all branches taken together. Each is O(1).

use super::{CALL_LINKS, LINKS};
use crate::access::Ref;
use crate::manage::Manager;
use crate::object::inherit::{ByEdge, Heights};
use crate::object::{Domain, Thread};
use crate::port::Port;
use abi::Error;
use abi::futex::HELPERS;

/// The most edges of all branches on from one thread, each counted as often as ways lead to it.
pub const STEPS: u32 = {
    let mut most = [0; LINKS as usize + 1];
    let mut links = 1;
    while links <= LINKS as usize {
        let mut helpers = 1;
        while helpers <= HELPERS && helpers <= links {
            let steps = helpers as u32 * (1 + most[links - helpers]);
            if steps > most[links] {
                most[links] = steps;
            }
            helpers += 1;
        }
        links += 1;
    }
    most[LINKS as usize]
};
const _: () = assert!(STEPS == 33);

/// Threads that are to follow a change of what is lent to them.
pub(super) type Ends<P> = [Option<Ref<Thread<P>>>; HELPERS];

/// What a search along waits looks for: a thread, a turnstile that threads wait in.
pub(super) type Goal<P> = (Option<Ref<Thread<P>>>, Option<Ref<Thread<P>>>);

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
        let mut urgency = thread.base_priority.get().max(thread.inherit.ceiling.get());
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

    /// How many links lead on from a thread, on the longest way, if a chain of `used` links leads
    /// to it. `None`: one leads to the goal. With `cuts` the first wait in a message on a way that
    /// closes a ring, or is too long for a chain, is passed over: it lends nothing from now on.
    /// What servers wait for behind that is not the caller's to end. Else it is as if it led to the
    /// goal. `from` is a thread that waits for what it owns or helps, unless in a message.
    #[inline(never)]
    pub(super) fn links_from(
        &self,
        at: Ref<Thread<P>>,
        goal: Goal<P>,
        (used, cuts): (u8, bool),
        from: Option<Ref<Thread<P>>>,
    ) -> Option<u8> {
        self.search(at, goal, (used, cuts), from)
    }

    /// The same, where it is to be fast.
    #[inline(always)]
    fn search(
        &self,
        mut at: Ref<Thread<P>>,
        goal: Goal<P>,
        (mut used, cuts): (u8, bool),
        mut from: Option<Ref<Thread<P>>>,
    ) -> Option<u8> {
        let before = used;
        loop {
            if goal.0 == Some(at) {
                return None;
            }
            let Some(next) = self.all.open(at).inherit.waits.get() else {
                return Some(used - before);
            };
            if goal.1 == Some(next) {
                return None;
            }
            let turnstile = self.turnstile(next);
            let words = turnstile.has_words();
            // On a visit: links that lead there from outside leave the others to that domain.
            let visits = |from| self.domain_of(from) != self.domain_of(at);
            if P::TRAINS && words && used > CALL_LINKS && from.is_some_and(visits) {
                return Some(used - before + LINKS);
            }
            match turnstile.only.get().filter(|_| words) {
                Some(owner) => (from, at, used) = (Some(at), owner, used + 1),
                None => {
                    let beyond = self.links_through((at, next), goal, (used, cuts));
                    return beyond.map(|beyond| used - before + beyond);
                }
            }
        }
    }

    /// The same from a thread that waits in a turnstile, of whatever kind.
    #[inline(never)]
    fn links_through(
        &self,
        (at, next): (Ref<Thread<P>>, Ref<Thread<P>>),
        goal: Goal<P>,
        (used, cuts): (u8, bool),
    ) -> Option<u8> {
        let turnstile = self.turnstile(next);
        let (behind, words) = (used + turnstile.weight(), turnstile.has_words());
        let mut links = (words || behind <= CALL_LINKS).then_some(behind - used);
        for to in turnstile.lent_to() {
            let Some(longest) = links else { break };
            let beyond = self.links_from(to, goal, (behind, cuts && words), words.then_some(at));
            links = beyond.map(|beyond| longest.max(behind - used + beyond));
        }
        match links.filter(|links| words || used + links <= LINKS) {
            None if cuts && !words => {
                self.stop_lending(at);
                Some(0)
            }
            links => links,
        }
    }

    /// Checks that `me` may wait for what `owner` owns.
    ///
    /// # Errors
    ///
    /// [`Error::SelfSend`]: `owner` waits, through others, for `me`. [`Error::TooDeep`]: a chain
    /// would have more than [`LINKS`] links, or lead with too many of them into a domain.
    pub(super) fn may_wait(&self, me: Ref<Thread<P>>, owner: Ref<Thread<P>>) -> Result<(), Error> {
        let used = self.height(me) + 1;
        let beyond = self.search(owner, (Some(me), None), (used, true), Some(me));
        let deep = used + beyond.ok_or(Error::SelfSend)? > LINKS || self.is_too_high(me);
        if deep { Err(Error::TooDeep) } else { Ok(()) }
    }

    /// Whether so many wait in a row for a thread that it may not wait in a domain that it visits:
    /// the domain's own threads have the rest of the links, whatever its visitors do.
    pub(super) fn is_too_high(&self, me: Ref<Thread<P>>) -> bool {
        P::TRAINS && self.height(me) > CALL_LINKS && self.all.open(me).inside.get().is_some()
    }

    /// The length of the longest chain of waits that ends in one for this thread.
    pub(super) fn height(&self, at: Ref<Thread<P>>) -> u8 {
        self.all.open(at).inherit.behind.top()
    }

    /// The height of a thread among the waiters in a turnstile changes, and so may those along all
    /// chains from there; with no height it is none of them.
    pub(super) fn change_height(&self, mut at: Ref<Thread<P>>, mut from: u8, mut to: u8) {
        loop {
            let turnstile = self.turnstile(at);
            turnstile.heights.change(from, to);
            let Some(owner) = turnstile.only.get() else { break };
            let Some((next, before, after)) = self.count_behind(owner, |behind| {
                behind.change(from, to);
            }) else {
                return;
            };
            (at, from, to) = (next, before, after);
        }
        let turnstile = self.turnstile(at);
        let higher = turnstile.weight() - 1;
        for thread in turnstile.lent_to() {
            self.change_behind(thread, |behind| behind.change(from + higher, to + higher));
        }
    }

    /// The heights of those that wait for a thread change, and with that its own.
    pub(super) fn change_behind(&self, at: Ref<Thread<P>>, change: impl FnOnce(&Heights)) {
        if let Some((next, before, after)) = self.count_behind(at, change) {
            self.change_height(next, before, after);
        }
    }

    /// The same without what follows: where it waits, its height of before, and that of now, if
    /// that is another one.
    #[inline(always)]
    fn count_behind(
        &self,
        at: Ref<Thread<P>>,
        change: impl FnOnce(&Heights),
    ) -> Option<(Ref<Thread<P>>, u8, u8)> {
        let inherit = &self.all.open(at).inherit;
        let before = inherit.behind.top();
        change(&inherit.behind);
        let after = inherit.behind.top();
        let next = inherit.waits.get().filter(|_| before != after)?;
        Some((next, before, after))
    }

    /// Gives a thread the effective priority that it is to have, and each behind it in its chains.
    pub(crate) fn propagate(&self, at: Ref<Thread<P>>) {
        if self.kernel.trees.may_lend() {
            return self.propagate_leaves(at);
        }
        let (thread, urgency) = (self.all.open(at), self.urgency(at));
        let key = key(urgency);
        if urgency > thread.priority.get() && !self.kernel.variant.tree {
            return self.raise(at, key);
        }
        self.apply_priority(at, urgency);
        let Some(next) = thread.inherit.waits.get() else { return };
        if self.waiters().key(at) != key {
            self.waiters().rekey(&self.turnstile(next).waiters, at, key);
            self.propagate_to(self.reorder(next));
        }
    }

    /// Threads are lent a priority, as a key, from now on, and nothing less than before.
    pub(super) fn lend_to(&self, ends: Ends<P>, key: u8) {
        if self.kernel.variant.tree {
            return self.propagate_to(ends);
        }
        ends.into_iter().flatten().for_each(|end| self.raise(end, key));
    }

    /// A thread is lent a priority, as a key: it has at least that, and so has each behind it in
    /// its chains. Not where a tree orders threads.
    fn raise(&self, mut at: Ref<Thread<P>>, key: u8) {
        let lenders = self.lenders(ByEdge::OWNER);
        loop {
            let thread = self.all.open(at);
            if thread.priority.get() >= key.into() {
                return;
            }
            self.apply_priority(at, key.into());
            let Some(next) = thread.inherit.waits.get() else { return };
            let turnstile = self.turnstile(next);
            self.waiters().rekey(&turnstile.waiters, at, key);
            let Some(owner) = turnstile.only.get() else {
                return self.lend_to(self.reorder(next), key);
            };
            if lenders.key(next) >= key {
                return;
            }
            lenders.rekey(self.all.open(owner).inherit.lenders(ByEdge::OWNER), next, key);
            at = owner;
        }
    }

    /// The same for several.
    pub(super) fn propagate_to(&self, ends: Ends<P>) {
        ends.into_iter().flatten().for_each(|end| self.propagate(end));
    }

    /// The waiters in a turnstile have changed, or to which threads it leads. It is listed by what
    /// it lends; those for which that is another priority than before are to follow, and where
    /// leaves are lent all of them: another thread may be the first one.
    pub(super) fn reorder(&self, at: Ref<Thread<P>>) -> Ends<P> {
        let (turnstile, mut ends) = (self.turnstile(at), [None; HELPERS]);
        let first = self.waiters().first(&turnstile.waiters);
        let first = first.map_or(0, |first| self.waiters().key(first));
        for (which, to) in turnstile.leads() {
            let lenders = self.lenders(which);
            let key = if turnstile.edge(which).lends.get() { first } else { 0 };
            if lenders.key(at) != key {
                lenders.rekey(self.all.open(to).inherit.lenders(which), at, key);
                ends[which.index()] = Some(to);
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
        self.turnstile(at).set_edge(which, Some(to), lent.is_some());
        let set = self.all.open(to).inherit.lenders(which);
        self.lenders(which).insert(set, at, lent.unwrap_or(0));
    }

    /// A turnstile no longer leads to a thread by this edge, which lends nothing.
    pub(super) fn lead_off(&self, at: Ref<Thread<P>>, which: ByEdge) -> Option<Ref<Thread<P>>> {
        let turnstile = self.turnstile(at);
        let edge = turnstile.edge(which);
        let to = edge.to.get()?;
        turnstile.set_edge(which, None, false);
        self.lenders(which).remove(self.all.open(to).inherit.lenders(which), at);
        Some(to)
    }

    /// A thread owns a mutex of this domain, whose first waiter has this key; or it is to answer
    /// the call that has reached it there.
    pub(super) fn own(
        &self,
        mutex: Ref<Thread<P>>,
        owner: Ref<Thread<P>>,
        domain: Ref<Domain<P>>,
        key: u8,
    ) {
        let (turnstile, which) = (self.turnstile(mutex), ByEdge::OWNER);
        turnstile.set_edge(which, Some(owner), true);
        self.lenders(which).insert(self.all.open(owner).inherit.lenders(which), mutex, key);
        let visit = self.visit_to(owner, domain);
        turnstile.visit.set(visit);
        if let Some(visit) = visit {
            self.all.open(visit).owned.push_back(mutex);
        }
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
