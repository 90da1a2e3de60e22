//! The scheduler of the scheduling tree: threads run on the time of reservations, and the tree says
//! which of these a CPU serves.
//!
//! A thread without a reservation that owes an answer runs on the time of its caller. So a
//! call to it and its answer need no decision: both threads use one leaf. Each queued thread is in
//! the leaf that [`Trees::leaf_of`](crate::tree::Trees::leaf_of) says; what changes the answer to
//! that moves it.

use super::scheduler::Scheduler;
use crate::access::{Exclusive, Owner, Ref};
use crate::cpu::notes::Notes;
use crate::cpu::{Cpu, NEAR};
use crate::object::Thread;
use crate::object::deadlines::NEVER;
use crate::object::thread::State;
use crate::port::Port;
use abi::trace::Event;
use policies::tree::NodeId;

/// Threads run on reservations.
pub struct Reserved;

impl<P: Port> Cpu<P> {
    /// A thread that is ready joins the leaf that it uses, on whichever CPU that is. Whether that
    /// CPU is to decide anew.
    #[inline(never)]
    fn join_leaf(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> bool {
        if thread.queued() || thread == self.idle {
            return false;
        }
        let leaf = self.trees.leaf_of(owner, thread);
        let first = self.trees.join(owner, leaf, thread);
        self.note(Event::Insert, thread, self.queue_number(), 0);
        if first {
            let now = self.port().now();
            self.trees.with(|tree| tree.wake(NodeId(leaf), now));
        }
        self.trees.preempts(leaf)
    }

    /// A thread that is not ready any more leaves the leaf that it is in. If it was the last one,
    /// that sleeps, and its job ends or goes on later. Whether its CPU is to decide anew.
    #[inline(never)]
    fn leave_leaf(&self, owner: &impl Owner, thread: Ref<Thread<P>>, ends_job: bool) -> bool {
        if !thread.queued() {
            return false;
        }
        let runs = self.trees.preempts(thread.leaf.get(owner));
        let (leaf, empty) = self.trees.leave(owner, thread);
        self.note(Event::Remove, thread, self.queue_number(), 0);
        if empty {
            let now = self.port().now();
            self.trees.with(|tree| tree.block(NodeId(leaf), now, ends_job));
        }
        runs
    }

    /// `to`, which is not queued, uses the leaf that `from` is in: it runs there instead.
    #[inline(always)]
    fn run_instead<N: Notes>(&self, to: Ref<Thread<P>>, from: Ref<Thread<P>>) {
        self.trees.replace(self, from, to);
        self.note_if::<N>(Event::Insert, to, self.queue_number(), 0);
        self.note_if::<N>(Event::Remove, from, self.queue_number(), 0);
        self.next.set(to);
    }

    /// Whether a thread that is not queued uses the leaf that the candidate is in.
    #[inline(always)]
    fn shares_leaf(&self, candidate: Ref<Thread<P>>, thread: Ref<Thread<P>>) -> bool {
        let queued = candidate.queued() && !thread.queued();
        queued && candidate.leaf.get(self) == self.trees.leaf_of(self, thread)
    }

    /// A thread that is queued uses the leaf that it should, from now on.
    #[inline(never)]
    fn follow_caller(&self, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        if thread.leaf.get(self) != self.trees.leaf_of(self, thread) {
            self.join_anew(cpu, thread);
        }
    }

    /// A thread that is queued leaves its leaf, and joins the one that it should use.
    fn join_anew(&self, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        if self.leave_leaf(self, thread, false) {
            self.ask(cpu, thread);
        }
        if self.join_leaf(self, thread) {
            self.ask(cpu, thread);
        }
    }

    /// The CPU of a thread is to decide anew about the leaf that the thread is in, or was. If all
    /// CPUs share that, this one asks those that the tree names when it leaves the kernel.
    fn ask(&self, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        let is_shared = self.trees.is_shared(thread.leaf.get(self));
        self.ask_for_decision(if is_shared { self } else { cpu });
    }

    /// The candidate blocks, and a decision is to come.
    fn decide_anew(&self) {
        self.next.set(self.idle);
        self.resched.set(true);
    }
}

/// Whether a thread that blocks in this state has ended its job: it waits for its next request or
/// its next release, and owes no answer.
#[inline(always)]
fn ends_job<P: Port>(state: State, thread: Ref<Thread<P>>) -> bool {
    state == State::Receiving && thread.caller.get().is_none()
}

impl Scheduler for Reserved {
    const EAGER: bool = true;
    const TREE: bool = true;

    #[inline(always)]
    fn wake<P: Port, N: Notes>(cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        if cpu.join_leaf(cpu, thread) {
            cpu.resched.set(true);
        }
    }

    #[inline(always)]
    fn hand_over<P: Port, N: Notes>(cpu: &Cpu<P>, to: Ref<Thread<P>>) {
        let candidate = cpu.next.get();
        if cpu.shares_leaf(candidate, to) {
            cpu.trees.join_before(cpu, to, candidate);
            cpu.note_if::<N>(Event::Insert, to, cpu.queue_number(), 0);
            cpu.next.set(to);
            cpu.resched.set(true);
        } else {
            Self::wake::<P, N>(cpu, to);
        }
    }

    #[inline(always)]
    fn call<P: Port, N: Notes>(cpu: &Cpu<P>, callee: Ref<Thread<P>>, caller: Ref<Thread<P>>) {
        if caller.queued() && !callee.queued() && cpu.trees.lends(cpu, caller, callee) {
            return cpu.run_instead::<N>(callee, caller);
        }
        cpu.leave_leaf(cpu, caller, false);
        cpu.join_leaf(cpu, callee);
        cpu.decide_anew();
    }

    #[inline(always)]
    fn reply_wait<P: Port, N: Notes>(cpu: &Cpu<P>, to: Ref<Thread<P>>, server: Ref<Thread<P>>) {
        if cpu.shares_leaf(server, to) {
            return cpu.run_instead::<N>(to, server);
        }
        cpu.join_leaf(cpu, to);
        cpu.leave_leaf(cpu, server, ends_job(State::Receiving, server));
        cpu.decide_anew();
    }

    #[inline(always)]
    fn block<P: Port, N: Notes>(cpu: &Cpu<P>, thread: Ref<Thread<P>>, state: State) {
        cpu.leave_leaf(cpu, thread, ends_job(state, thread));
        cpu.decide_anew();
    }

    #[inline(always)]
    fn caller_changed<P: Port>(here: &Cpu<P>, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        if thread.queued() {
            here.follow_caller(cpu, thread);
        }
    }

    fn yield_now<P: Port>(cpu: &Cpu<P>, candidate: Ref<Thread<P>>) {
        if !candidate.queued() {
            return;
        }
        let leaf = candidate.leaf.get(cpu);
        if !cpu.trees.rotate(leaf) {
            let now = cpu.port().now();
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
        if cpu.join_leaf(cpu, thread) {
            cpu.resched.set(true);
        }
    }

    fn decide<P: Port>(cpu: &Cpu<P>) {
        let chosen = cpu.trees.choose(cpu.number, || cpu.port().now());
        cpu.next.set(chosen.thread.unwrap_or(cpu.idle));
        cpu.tick_at.set(chosen.until);
        cpu.rearm();
    }

    fn make_ready<P: Port>(here: &Cpu<P>, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        // A thread that was woken from elsewhere is queued by the interrupt that is on its way.
        if !thread.is_woken_remotely() && here.join_leaf(here, thread) {
            here.ask(cpu, thread);
        }
    }

    fn halt<P: Port>(here: &Cpu<P>, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        Self::remove(here, cpu, thread);
    }

    fn remove<P: Port>(here: &Cpu<P>, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        if thread.is_woken_remotely() {
            cpu.remote_wakes.remove(thread);
        }
        if here.leave_leaf(here, thread, false) {
            here.ask(cpu, thread);
        }
    }

    fn change_priority<P: Port>(
        here: &Cpu<P>,
        cpu: &Cpu<P>,
        (_all, thread): (&Exclusive<'_>, Ref<Thread<P>>),
        _priority: i16,
    ) {
        // The tree alone orders threads: in all other queues they are equals.
        if thread.queued() {
            here.join_anew(cpu, thread);
        }
    }
}
