//! The scheduler of the scheduling tree: threads run on the time of reservations, and the tree says
//! which of these a CPU serves.
//!
//! A call lends the caller's reservation to the callee, until that answers: no decision is taken,
//! and the caller pays.

use super::scheduler::Scheduler;
use crate::access::{Exclusive, Owner, Ref};
use crate::cpu::notes::Notes;
use crate::cpu::{Cpu, NEAR};
use crate::leaf::LeafRef;
use crate::object::Thread;
use crate::object::deadlines::NEVER;
use crate::object::thread::State;
use crate::port::Port;
use abi::trace::Event;
use policies::tree::NodeId;

/// Threads run on reservations.
pub struct Reserved;

impl<P: Port> Cpu<P> {
    /// A thread that is ready joins the leaf that it uses, on whichever CPU that is.
    #[inline(never)]
    fn join_leaf(&self, owner: &impl Owner, thread: Ref<Thread<P>>) {
        if thread.queued() || thread == self.idle {
            return;
        }
        let leaf = self.trees.leaf_of(owner, thread);
        let first = self.trees.join::<false>(owner, leaf, thread);
        self.note(Event::Insert, thread, self.queue_number(), 0);
        if first {
            let now = self.port().now();
            self.trees.with(|tree| tree.wake(NodeId(leaf), now));
        }
    }

    /// A thread that is not ready any more leaves the leaf that it is in. If it was the last one,
    /// that sleeps, and its job ends or goes on later.
    #[inline(never)]
    fn leave_leaf(&self, owner: &impl Owner, thread: Ref<Thread<P>>, ends_job: bool) {
        if !thread.queued() {
            return;
        }
        let (leaf, empty) = self.trees.leave(owner, thread);
        self.note(Event::Remove, thread, self.queue_number(), 0);
        if empty {
            let now = self.port().now();
            self.trees.with(|tree| tree.block(NodeId(leaf), now, ends_job));
        }
    }

    /// `to` runs on the time that `from` leaves to it.
    #[inline(always)]
    fn run_instead<N: Notes>(&self, to: Ref<Thread<P>>, from: Ref<Thread<P>>) {
        let (leaf, _) = self.trees.leave(self, from);
        self.note_if::<N>(Event::Remove, from, self.queue_number(), 0);
        self.trees.join::<true>(self, leaf, to);
        self.note_if::<N>(Event::Insert, to, self.queue_number(), 0);
        self.next.set(to);
    }

    /// `to` is ready, and the leaf that was lent to the candidate is its own: it has it back.
    #[cold]
    #[inline(never)]
    fn return_leaf<N: Notes>(&self, to: Ref<Thread<P>>, candidate: Ref<Thread<P>>) {
        self.run_instead::<N>(to, candidate);
        candidate.charged.set(self, LeafRef::NONE);
        self.join_leaf(self, candidate);
    }

    /// Whether the candidate runs on the leaf of a thread that is not queued.
    #[inline(always)]
    fn shares_leaf(&self, candidate: Ref<Thread<P>>, thread: Ref<Thread<P>>) -> bool {
        let queued = candidate.queued() && !thread.queued();
        queued && candidate.leaf.get(self) == self.trees.leaf_of(self, thread)
    }

    /// The candidate blocks, and a decision is to come.
    fn decide_anew(&self) {
        self.next.set(self.idle);
        self.resched.set(true);
    }
}

impl Scheduler for Reserved {
    const EAGER: bool = true;
    const TREE: bool = true;

    #[inline(always)]
    fn wake<P: Port, N: Notes>(cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        let candidate = cpu.next.get();
        let lent = candidate.charged.get(cpu) != LeafRef::NONE;
        if lent && cpu.shares_leaf(candidate, thread) {
            cpu.return_leaf::<N>(thread, candidate);
        } else {
            cpu.join_leaf(cpu, thread);
        }
        cpu.resched.set(true);
    }

    #[inline(always)]
    fn hand_over<P: Port, N: Notes>(cpu: &Cpu<P>, to: Ref<Thread<P>>) {
        let candidate = cpu.next.get();
        let lent = candidate.charged.get(cpu) != LeafRef::NONE;
        if !lent && cpu.shares_leaf(candidate, to) {
            cpu.trees.join::<true>(cpu, candidate.leaf.get(cpu), to);
            cpu.note_if::<N>(Event::Insert, to, cpu.queue_number(), 0);
            cpu.next.set(to);
        } else {
            Self::wake::<P, N>(cpu, to);
        }
    }

    #[inline(always)]
    fn call<P: Port, N: Notes>(cpu: &Cpu<P>, callee: Ref<Thread<P>>, caller: Ref<Thread<P>>) {
        if !caller.queued() || callee.queued() {
            cpu.leave_leaf(cpu, caller, false);
            cpu.join_leaf(cpu, callee);
            return cpu.decide_anew();
        }
        let lent = cpu.trees.name(caller.leaf.get(cpu));
        callee.charged.set(cpu, lent);
        cpu.run_instead::<N>(callee, caller);
    }

    #[inline(always)]
    fn reply_wait<P: Port, N: Notes>(cpu: &Cpu<P>, to: Ref<Thread<P>>, server: Ref<Thread<P>>) {
        let leaf = server.leaf.get(cpu);
        server.charged.set(cpu, LeafRef::NONE);
        if server.queued() && !to.queued() && cpu.trees.leaf_of(cpu, to) == leaf {
            return cpu.run_instead::<N>(to, server);
        }
        cpu.leave_leaf(cpu, server, true);
        cpu.join_leaf(cpu, to);
        cpu.decide_anew();
    }

    #[inline(always)]
    fn block<P: Port, N: Notes>(cpu: &Cpu<P>, thread: Ref<Thread<P>>, state: State) {
        // One that waits for its next request, or its next release, has ended its job; one that
        // waits in the middle of a request goes on with what was lent to it.
        let ends = state == State::Receiving && thread.caller.get().is_none();
        cpu.leave_leaf(cpu, thread, ends);
        if ends {
            thread.charged.set(cpu, LeafRef::NONE);
        }
        cpu.decide_anew();
    }

    fn yield_now<P: Port>(cpu: &Cpu<P>, candidate: Ref<Thread<P>>) {
        if !candidate.queued() {
            return;
        }
        let (leaf, now) = (candidate.leaf.get(cpu), cpu.port().now());
        if !cpu.trees.rotate(leaf, now) {
            cpu.trees.with(|tree| tree.rotate(NodeId(leaf), now));
        }
        cpu.resched.set(true);
    }

    fn yield_to<P: Port>(cpu: &Cpu<P>, candidate: Ref<Thread<P>>, _to: Ref<Thread<P>>) {
        Self::yield_now(cpu, candidate);
    }

    fn expire<P: Port>(cpu: &Cpu<P>, now: u64) {
        if now.saturating_add(NEAR) > cpu.tick_at.get() {
            cpu.tick_at.set(NEVER);
            cpu.resched.set(true);
        }
    }

    fn arrive<P: Port>(cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        cpu.join_leaf(cpu, thread);
        cpu.resched.set(true);
    }

    fn decide<P: Port>(cpu: &Cpu<P>) {
        let chosen = cpu.trees.choose(cpu.number, cpu.port().now());
        cpu.next.set(chosen.thread.unwrap_or(cpu.idle));
        cpu.tick_at.set(chosen.until);
        cpu.rearm();
    }

    fn make_ready<P: Port>(here: &Cpu<P>, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        // A thread that was woken from elsewhere is queued by the interrupt that is on its way.
        if !thread.is_woken_remotely() {
            here.join_leaf(here, thread);
            here.ask_for_decision(cpu);
        }
    }

    fn halt<P: Port>(here: &Cpu<P>, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        Self::remove(here, cpu, thread);
    }

    fn remove<P: Port>(here: &Cpu<P>, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        if thread.is_woken_remotely() {
            cpu.remote_wakes.remove(thread);
        }
        here.leave_leaf(here, thread, false);
        here.ask_for_decision(cpu);
    }

    fn change_priority<P: Port>(
        here: &Cpu<P>,
        cpu: &Cpu<P>,
        (_all, thread): (&Exclusive<'_>, Ref<Thread<P>>),
        _priority: i16,
    ) {
        // The tree alone orders threads: in all other queues they are equals.
        let queued = thread.queued();
        here.leave_leaf(here, thread, false);
        if queued {
            here.join_leaf(here, thread);
            here.ask_for_decision(cpu);
        }
    }
}
