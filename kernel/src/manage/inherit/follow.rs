//! Changes of waits are followed in steps. Where priorities are lent, a step goes on along waits
//! until an interrupt is pending, or another CPU waits.
//!
//! Where a tree lends leaves (S2G-05), what a thread has is followed along calls, then along waits,
//! then along calls again: a server lends those that it waits for what its callers have, but not
//! what these are lent. Calls to a thread that serves are waits. A thread follows in two steps. It
//! is decided what it is lent, and its place among waiters and that of what it waits for change;
//! those that it lends to are *followers* from then on, unless it is lent what it was. Then the
//! thread that works for it by calls, over [`DONATIONS`] of them, moves to the leaf that it uses
//! now.
//!
//! Before each step interrupts are polled, also where no call could be issued again: followers wait
//! by the urgency of what has changed for them. A CPU on its way out of the kernel takes their
//! steps before it decides, but not those that are less urgent than all that it may run: so waits
//! do not delay the threads above them, and no thread runs by what has changed already.

use super::chain::{Ends, key};
use crate::access::Ref;
use crate::cpu::Cpu;
use crate::leaf::LeafRef;
use crate::manage::Manager;
use crate::object::Thread;
use crate::object::inherit::ByFollower;
use crate::order::Order;
use crate::port::Port;
use crate::tree::DONATIONS;
use abi::trace::point;

/// How deep below the root a leaf may be from which a thread moves beside another one.
const SHALLOW: u8 = 3;

/// What a follower is to do.
pub(crate) mod to_do {
    /// It may be lent another leaf than before.
    pub const LENT: u8 = 1;
    /// What it has itself, or by calls, may be another leaf.
    pub const OWN: u8 = 1 << 1;
    /// It may be queued in another leaf than it should.
    pub const PLACE: u8 = 1 << 2;
    /// Helpers that were passed over may be lent to: of the condition that is described in its
    /// slot, which is not its own, and stays when it ends.
    pub const RINGS: u8 = 1 << 3;
    /// Threads may be listed to be lent something else than what waits lends, by what is described
    /// in its slot, likewise.
    pub const ORDER: u8 = 1 << 4;
    /// All that is to do for what is described in the slot.
    pub const DESCRIBED: u8 = RINGS | ORDER;
    /// All that is to do for the thread in the slot.
    pub const ITSELF: u8 = LENT | OWN | PLACE;
}

impl<P: Port> Manager<'_, P> {
    fn followers(&self) -> Order<'_, Thread<P>, ByFollower> {
        Order::of(&self.all, ByFollower)
    }

    /// A thread's leaf, its priority, or what waits for it may have changed: it is lent what it is
    /// to be, and those that it lends its leaf to, along calls and waits, follow.
    pub(super) fn propagate_leaves(&self, at: Ref<Thread<P>>) {
        self.follow_now(at, true);
    }

    /// A mutex goes from this thread to another one, which is to run now: from a leaf far below the
    /// root this one moves behind that, since both in one section take long.
    pub(super) fn follow_handover(&self, old: Ref<Thread<P>>) {
        let depth = self.kernel.trees.depth_of(old.leaf.get(&self.all));
        self.follow_now(old, depth <= SHALLOW);
    }

    /// Takes both steps of a thread, but no longer than no interrupt is pending; the second one if
    /// it is to move at once.
    fn follow_now(&self, at: Ref<Thread<P>>, moves: bool) {
        if self.cpu.poll(point::CALL) {
            return self.follow_later(at, to_do::LENT | to_do::OWN, self.key_of_change(at));
        }
        let Some(works) = self.lend_anew(at, true).filter(|works| works.queued()) else { return };
        if !moves || self.cpu.poll(point::CALL) {
            return self.follow_later(works, to_do::PLACE, self.key_of_change(at));
        }
        self.move_to_leaf(works);
        self.kernel.trees.set_followed(true);
    }

    /// The greatest key that a change of what a thread has may concern, beside those of its leaves
    /// until it follows. Without waits and calls it is that of what the thread is to use, also what
    /// its callers are lent: other CPUs, on which what is more urgent runs, are not interrupted for
    /// that. A leaf that all CPUs share has no key that compares with others.
    fn key_of_change(&self, at: Ref<Thread<P>>) -> u8 {
        let (inherit, trees) = (&self.all.open(at).inherit, &self.kernel.trees);
        let uses = trees.leaf_of(&self.all, at);
        let used = at.queued().then(|| at.leaf.get(&self.all));
        let is_shared = used.into_iter().chain([uses]).any(|leaf| trees.is_shared(leaf));
        let waits = inherit.waits.get().is_some() || inherit.is_awaited();
        let reaches = waits || is_shared || self.server_of(at).is_some();
        if reaches { u8::MAX } else { key(trees.urgency_of(uses)) }
    }

    /// Threads follow that something of this key at most waits for them no longer.
    pub(super) fn follow_all(&self, ends: Ends<P>, key: u8) {
        ends.into_iter().flatten().for_each(|end| self.follow_later(end, to_do::LENT, key));
    }

    /// A thread is a follower of a change of what has this key at most, before or behind it.
    pub(super) fn follow_later(&self, at: Ref<Thread<P>>, what: u8, key: u8) {
        let inherit = &self.all.open(at).inherit;
        let (followers, all) = (self.followers(), &self.kernel.waits.followers);
        inherit.to_do.set(inherit.to_do.get() | what);
        let (cpu, tree) = (self.cpu_of(at), self.kernel.variant.tree);
        let key = if tree { key.max(self.key_of_leaves(at)) } else { key };
        self.kernel.waits.raise(key.into());
        if !inherit.follows() {
            followers.insert(all, at, key);
            self.kernel.trees.begins_to_follow();
        } else if followers.key(at) < key {
            followers.rekey(all, at, key);
        }
        self.kernel.trees.set_followed(true);
        self.cpu.resched.set(true);
        if !tree {
            cpu.raise(key.into());
        }
        // A CPU that may run what is more urgent follows when it decides. By priorities this one
        // takes the steps on its way out, or asks one that runs nothing above them: else a thread
        // could interrupt CPUs that run its equals as often as it waits.
        if tree && !self.cpu.is_same(cpu) && self.runs_on_cpu(cpu) <= key {
            self.cpu.ask_for_decision(cpu);
        }
    }

    /// The key of the most urgent that another CPU runs.
    fn runs_on_cpu(&self, cpu: &Cpu<P>) -> u8 {
        key(match self.kernel.variant.tree {
            true => self.kernel.trees.highest_ready(cpu.number),
            false => cpu.current.get().priority.get(),
        })
    }

    /// This CPU runs what is more urgent than all followers. One that does not takes their steps.
    /// In a tree urgencies of different CPUs do not compare: none is asked.
    fn leave_to_others(&self, urgency: u8) {
        if P::SMP && !self.kernel.variant.tree {
            let others = self.kernel.cpus.get().iter().filter(|cpu| !self.cpu.is_same(cpu));
            let mut less = others.filter(|cpu| self.runs_on_cpu(cpu) <= urgency);
            less.next().into_iter().for_each(|cpu| self.cpu.ask_for_decision(cpu));
        }
    }

    /// The key of the leaves that a thread has until it follows. Their priorities may have changed
    /// since waiters were ordered by them.
    fn key_of_leaves(&self, at: Ref<Thread<P>>) -> u8 {
        let trees = &self.kernel.trees;
        let lent = at.lent.get(&self.all);
        let lent = trees.home_of(lent).map(|_| lent.node);
        let used = at.queued().then(|| at.leaf.get(&self.all));
        let used = used.filter(|used| Some(*used) != lent);
        let keys = [lent, used].into_iter().flatten().map(|leaf| key(trees.urgency_of(leaf)));
        keys.max().unwrap_or(0)
    }

    /// Takes a step of a follower, of a change of what has this key at most: its own one first. No
    /// mark is held here while another step of the same thread may be taken inside.
    fn follow(&self, at: Ref<Thread<P>>, key: u8) {
        let what = self.end_following(at, to_do::ITSELF);
        if what == 0 {
            let what = self.end_following(at, to_do::DESCRIBED);
            if what & to_do::RINGS != 0 && !self.look_again(at) {
                return self.follow_later(at, what, key);
            }
            return self.propagate_to(self.reorder(at));
        }
        if !self.kernel.trees.may_lend() {
            return self.follow_priority(at);
        }
        if what & (to_do::LENT | to_do::OWN) == 0 {
            return self.move_to_leaf(at);
        }
        let works = self.lend_anew(at, what & to_do::OWN != 0);
        let also = (what & to_do::PLACE != 0).then_some(at);
        for at in [works, also].into_iter().flatten().filter(|at| at.queued()) {
            self.follow_later(at, to_do::PLACE, key);
        }
    }

    /// A thread uses the leaf that it should, from now on, if it is queued in one.
    fn move_to_leaf(&self, at: Ref<Thread<P>>) {
        (self.kernel.variant.events.caller_changed)(self.cpu, self.cpu_of(at), at);
    }

    /// A thread is lent what it is to be, and lends that on. The one that works for it in the end,
    /// and may use another leaf now; `None`: nothing has changed.
    fn lend_anew(&self, at: Ref<Thread<P>>, own_changed: bool) -> Option<Ref<Thread<P>>> {
        let what = self.end_following(at, to_do::LENT | to_do::OWN);
        let own_changed = what & to_do::OWN != 0 || own_changed;
        let before = at.lent.get(&self.all);
        self.decide_lent(at);
        if !own_changed && at.lent.get(&self.all) == before {
            return None;
        }
        self.lend_on(at);
        Some(self.follow_calls(at, own_changed))
    }

    /// Follows the calls of a thread to the one that works for it in the end.
    fn follow_calls(&self, at: Ref<Thread<P>>, own_changed: bool) -> Ref<Thread<P>> {
        let mut works = at;
        for _ in 0..DONATIONS {
            let Some(server) = self.server_of(works) else { break };
            works = server;
            // It has what its callers have, but not what these are lent.
            if own_changed {
                self.lend_on(works);
            }
        }
        works
    }

    /// What a waiter lends may have changed.
    fn lend_on(&self, at: Ref<Thread<P>>) {
        let Some(next) = self.all.open(at).inherit.waits.get() else { return };
        let (key, turnstile) = (key(self.urgency(at)), self.turnstile(next));
        let before = self.waiters().key(at);
        if before != key {
            self.waiters().rekey(&turnstile.waiters, at, key);
        }
        self.reorder(next);
        turnstile.lent_to().for_each(|to| self.follow_later(to, to_do::LENT, key.max(before)));
    }

    /// A thread is no follower any more that is to do any of this. What of it it was to do.
    fn end_following(&self, at: Ref<Thread<P>>, any: u8) -> u8 {
        let inherit = &self.all.open(at).inherit;
        let what = inherit.to_do.get();
        inherit.to_do.set(what & !any);
        if what & !any == 0 && inherit.follows() {
            self.followers().remove(&self.kernel.waits.followers, at);
            self.kernel.trees.ends_to_follow();
        }
        what & any
    }

    /// A thread that no other waits for ends.
    pub(in crate::manage) fn forget_follower(&self, at: Ref<Thread<P>>) {
        if self.end_following(at, to_do::ITSELF) != 0 {
            self.kernel.trees.set_lent(&self.all, at, LeafRef::NONE);
        }
    }

    /// The key of the most urgent change that is to be followed, if any is.
    pub(crate) fn first_follower(&self) -> Option<(Ref<Thread<P>>, u8)> {
        let first = self.followers().first(&self.kernel.waits.followers)?;
        Some((first, self.followers().key(first)))
    }

    /// Makes the decision by priorities that was asked for, behind the steps of threads that follow
    /// a change of waits and are not less urgent than what runs then.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle_behind_followers(&self) {
        let (cpu, mut must) = (self.cpu, false);
        loop {
            let all = self.follow_first(must);
            // The steps have asked for the decision that is made now, or later. It may still be
            // left to an interrupt, but not to a second one.
            cpu.resched.set(!all);
            if !all {
                // This CPU stays with its thread, if that can run.
                if !cpu.goes_on() {
                    cpu.next.set(cpu.idle);
                }
                return;
            }
            cpu.chosen_behind.set(false);
            cpu.settle();
            let decided = !cpu.resched.get() || cpu.chosen_behind.get();
            must = decided && self.is_behind_followers(cpu.next.get());
            if must {
                continue;
            }
            cpu.resched.set(!decided);
            if decided {
                cpu.rearm_if_lower(cpu.next.get());
            }
            return;
        }
    }

    /// The steps of followers, before this CPU decides, but those that are less urgent than all
    /// that it may run; one in any case if `must`. False: not all, or not yet, since an interrupt
    /// waits; or another CPU does, and this one goes on at an interrupt that it sends itself.
    #[cold]
    #[inline(never)]
    pub(crate) fn follow_first(&self, mut must: bool) -> bool {
        // Steps count on where the decision has not got past what is to be followed.
        if P::SMP && !must {
            self.cpu.steps.set(0);
        }
        loop {
            let Some((first, urgency)) = self.first_follower() else {
                return !self.cpu.leaves_decision();
            };
            if !must && self.may_run() > urgency {
                self.leave_to_others(urgency);
                return true;
            }
            if self.cpu.leaves_decision() {
                return false;
            }
            must = false;
            self.follow(first, urgency);
            if P::SMP && self.cpu.takes_a_step(self.kernel) {
                self.cpu.send_ipi(self.cpu);
                return false;
            }
        }
    }

    /// The key of the most urgent that this CPU may run.
    fn may_run(&self) -> u8 {
        match self.kernel.variant.tree {
            true => key(self.kernel.trees.highest_ready(self.cpu.number)),
            false => key(self.cpu.highest.get().max(self.cpu.next.get().priority.get())),
        }
    }

    /// Before it is looked which thread waits first for something: the steps of those that follow
    /// what is as urgent as that one, and may change it. False: not all, an interrupt is pending.
    /// Other CPUs are not let in, else a thread there could have more to be followed each time.
    #[inline(always)]
    pub(super) fn follow_to(&self, at: Ref<Thread<P>>) -> bool {
        !self.kernel.waits.has_followers() || self.follow_as_urgent(at)
    }

    #[cold]
    #[inline(never)]
    fn follow_as_urgent(&self, at: Ref<Thread<P>>) -> bool {
        loop {
            let head = self.waiters().first(&self.turnstile(at).waiters);
            let (Some(head), Some((first, urgency))) = (head, self.first_follower()) else {
                return true;
            };
            if urgency < self.waiters().key(head) {
                return true;
            }
            self.follow(first, urgency);
            if self.makes_room() {
                return false;
            }
        }
    }

    /// A step of those that follow what is as urgent as the first sender of a queue. False: there
    /// are none; or priorities do not order the queue, so it does not wait for what threads below
    /// the receiver could make long.
    #[cold]
    #[inline(never)]
    pub(crate) fn follows_as_urgent(&self, priority: i16) -> bool {
        if !self.kernel.variant.senders.by_priority {
            return false;
        }
        let first = self.first_follower().filter(|(_, urgency)| *urgency >= key(priority));
        first.into_iter().for_each(|(first, urgency)| self.follow(first, urgency));
        first.is_some()
    }

    /// Before the priority of a leaf or a class changes: all steps, since they are in the order of
    /// priorities of before. False: not all, an interrupt is pending.
    pub(in crate::manage) fn follow_rest(&self) -> bool {
        while let Some((first, urgency)) = self.first_follower() {
            self.follow(first, urgency);
            if self.makes_room() {
                return false;
            }
        }
        true
    }

    /// Whether the thread that was chosen is not above all that is to be followed.
    pub(crate) fn is_behind_followers(&self, chosen: Ref<Thread<P>>) -> bool {
        let Some((_, urgency)) = self.first_follower() else { return false };
        self.kernel.waits.know(urgency.into());
        let runs = match self.kernel.variant.tree {
            true => {
                let trees = &self.kernel.trees;
                trees.urgency_of(trees.runs_in(&self.all, self.cpu.number, chosen))
            }
            false => chosen.priority.get(),
        };
        chosen == self.cpu.idle || key(runs) <= urgency
    }
}
