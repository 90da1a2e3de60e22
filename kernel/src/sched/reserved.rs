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
use crate::cpu::timer::DeadlinesFirst;
use crate::cpu::{Cpu, NEAR};
use crate::leaf::LeafRef;
use crate::object::Thread;
use crate::object::deadlines::NEVER;
use crate::object::thread::{Begins, State, Turn};
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
        if self.trees.lend_any() {
            self.begin_lending(owner, thread, leaf, || (self.late.get(), self.instant()));
        }
        self.join_this(owner, thread, leaf, || (self.late.get(), self.instant()))
    }

    /// The same, whatever leaf it uses: it is ready since an instant, and now that is told.
    fn join_this(
        &self,
        owner: &impl Owner,
        thread: Ref<Thread<P>>,
        leaf: u32,
        told: impl FnOnce() -> (u64, u64),
    ) -> bool {
        let first = self.trees.join(owner, leaf, thread);
        self.note(Event::Insert, thread, self.queue_number(), 0);
        let (told, at) = (first.then(told), NodeId(leaf));
        let begins = thread.begins_in(owner, leaf);
        let (here, is_interrupted) = (self.number as usize, self.is_interrupted.get());
        let preempts = self.trees.with(|tree| {
            if let Some((since, now)) = told {
                if is_interrupted {
                    tree.settle_payer(here, now);
                }
                begins.tell(tree, at, (since.min(now), now));
                if is_interrupted {
                    tree.pays(here, at, now);
                }
            }
            tree.preempts(at)
        });
        preempts.unwrap_or(false)
    }

    /// A thread that is not ready any more leaves the leaf that it is in. If it was the last one,
    /// that sleeps, and its job ends or goes on later. Whether its CPU is to decide anew.
    #[inline(never)]
    fn leave_leaf(&self, owner: &impl Owner, thread: Ref<Thread<P>>, ends_job: bool) -> bool {
        if !thread.queued() {
            return false;
        }
        thread.turn.set(owner, Turn::NONE);
        if ends_job {
            thread.begins.set(owner, Begins::Awake);
        }
        let own = thread.away.get(owner);
        if own.is_none() {
            return self.leave_this(owner, thread, ends_job, || self.instant());
        }
        self.leave_lent(owner, thread, own, ends_job)
    }

    /// The same of one that is in a lent leaf: it leaves its own one as well.
    #[cold]
    #[inline(never)]
    fn leave_lent(
        &self,
        owner: &impl Owner,
        thread: Ref<Thread<P>>,
        own: LeafRef,
        ends_job: bool,
    ) -> bool {
        thread.away.set(owner, LeafRef::NONE);
        let runs = self.leave_this(owner, thread, false, || self.instant());
        // That of a caller that it has answered goes on.
        let ends_job = ends_job && own == thread.reservation.get(owner);
        let beside = self.trees.stop_standing_by(owner, thread);
        let runs_beside = self.leave_beside(beside, ends_job, self.instant());
        self.trees.end_lending(own, ends_job, self.instant());
        runs | runs_beside
    }

    /// A thread stands by no longer at this leaf. If it was the last one there, that sleeps, and
    /// its job ends or goes on later. Whether its CPU is to decide anew.
    fn leave_beside(&self, leaf: Option<u32>, ends_job: bool, now: u64) -> bool {
        let Some(leaf) = leaf else { return false };
        let at = NodeId(leaf);
        let runs = self.trees.preempts(leaf);
        if self.trees.leaf(leaf).is_left() {
            self.trees.with(|tree| {
                tree.block(at, now, ends_job);
                tree.stands_by(at, false, now);
            });
        }
        runs
    }

    /// A thread has its next request or release at once: its job has ended, and the next one is
    /// there. That of several threads goes on while another one is ready.
    #[cold]
    #[inline(never)]
    fn begin_next_job(&self, thread: Ref<Thread<P>>, released: Option<u64>) {
        let own = thread.reservation.get(self);
        if self.trees.home_of(own).is_none() {
            return;
        }
        if self.trees.leaf(own.node).has_others(thread) {
            return;
        }
        let (leaf, now) = (NodeId(own.node), self.instant());
        // One that is not queued is woken behind this, or resumed: its job waits for that.
        let is_due = self.trees.with(|tree| tree.next_job(leaf, released, now));
        if is_due == Some(true) && thread.queued() {
            self.resched.set(true);
        }
    }

    /// The same of the leaf that it is in, whosever that is.
    fn leave_this(
        &self,
        owner: &impl Owner,
        thread: Ref<Thread<P>>,
        ends_job: bool,
        now: impl FnOnce() -> u64,
    ) -> bool {
        let runs = self.trees.preempts(thread.leaf.get(owner));
        let (leaf, empty) = self.trees.leave(owner, thread);
        self.note(Event::Remove, thread, self.queue_number(), 0);
        if empty {
            let (at, now) = (NodeId(leaf), now());
            let stood_by = !self.trees.leaf(leaf).standing_by.is_empty();
            self.trees.with(|tree| match stood_by {
                true => tree.stands_by(at, true, now),
                false => tree.block(at, now, ends_job),
            });
        }
        runs
    }

    /// A thread that is not queued is about to join this leaf, while leaves are lent. Where this
    /// one is, the thread is away from its own one, and stands by there.
    #[cold]
    #[inline(never)]
    fn begin_lending(
        &self,
        owner: &impl Owner,
        thread: Ref<Thread<P>>,
        leaf: u32,
        told: impl FnOnce() -> (u64, u64),
    ) {
        self.trees.go_last(owner, thread);
        let own = self.trees.away_from(owner, thread, leaf);
        if own.is_none() {
            return;
        }
        let (since, now) = told();
        self.trees.begin_lending(owner, thread, own, now);
        if let Some(beside) = self.trees.beside(own, leaf) {
            self.trees.stand_by(owner, (thread, beside), false, (since.min(now), now));
        }
    }

    /// While leaves are lent: `to`, which is not queued, runs instead of `from` if it uses the leaf
    /// that this one is in. So it does where it stands by if that is the other one's leaf too. The
    /// job of `from` ends, or goes on.
    #[cold]
    #[inline(never)]
    fn run_lent<N: Notes>(
        &self,
        to: Ref<Thread<P>>,
        (from, ends_job): (Ref<Thread<P>>, bool),
    ) -> bool {
        let (leaf, own) = (from.leaf.get(self), from.away.get(self));
        if leaf != self.trees.leaf_of(self, to) {
            return false;
        }
        let is_alike = own == self.trees.away_from(self, to, leaf);
        if !is_alike && self.trees.runs_beside(self, self.number, from) {
            return false;
        }
        // That of a caller that it has answered goes on.
        let ends_job = ends_job && own == from.reservation.get(self);
        if is_alike {
            self.trees.stand_by_instead(self, to, from);
            self.run_instead::<N>(to, from);
            if ends_job {
                self.trees.end_job_of(own, self.instant());
            }
        } else {
            from.away.set(self, LeafRef::NONE);
            let (beside, now) = (self.trees.stop_standing_by(self, from), self.instant());
            self.begin_lending(self, to, leaf, || (now, now));
            self.trees.go_instead(self, to, from);
            self.run_instead::<N>(to, from);
            self.leave_beside(beside, ends_job, now);
            self.trees.end_lending(own, ends_job, now);
        }
        self.trees.charge_too(self, self.number, Some(to));
        true
    }

    /// `to`, which is not queued, uses the leaf that `from` is in: it runs there instead.
    #[inline(always)]
    fn run_instead<N: Notes>(&self, to: Ref<Thread<P>>, from: Ref<Thread<P>>) {
        self.trees.replace(self, from, to);
        from.turn.set(self, Turn::NONE);
        self.note_if::<N>(Event::Insert, to, self.queue_number(), 0);
        self.note_if::<N>(Event::Remove, from, self.queue_number(), 0);
        self.next.set(to);
    }

    /// Whether a thread that is not queued uses the leaf that the candidate is in, and runs in.
    #[inline(always)]
    fn shares_leaf(&self, candidate: Ref<Thread<P>>, thread: Ref<Thread<P>>) -> bool {
        let queued = candidate.queued() && !thread.queued();
        queued
            && candidate.leaf.get(self) == self.trees.leaf_of(self, thread)
            && !self.trees.runs_beside(self, self.number, candidate)
    }

    /// A thread that is queued uses the leaf that it should, from now on.
    #[inline(never)]
    fn follow_caller(&self, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        let leaf = self.trees.leaf_of(self, thread);
        if thread.leaf.get(self) != leaf || self.is_away_elsewhere(thread, leaf) {
            self.join_anew(cpu, thread, leaf);
        }
    }

    /// Whether another leaf is a thread's own than was when it joined this one.
    fn is_away_elsewhere(&self, thread: Ref<Thread<P>>, leaf: u32) -> bool {
        let away = thread.away.get(self);
        let lent = self.trees.lend_any() || !away.is_none();
        lent && away != self.trees.away_from(self, thread, leaf)
    }

    /// A thread that is queued leaves its leaf, and joins this one, which it should use. All at one
    /// instant, so what has run until then is charged once.
    fn join_anew(&self, cpu: &Cpu<P>, thread: Ref<Thread<P>>, leaf: u32) {
        let (before, now) = (thread.away.get(self), self.instant());
        // What has run until now is of the slice that it comes back to.
        self.trees.with(|tree| tree.account(cpu.number as usize, now));
        if self.trees.lend_any() || !before.is_none() {
            return self.join_lent(cpu, thread, leaf, now);
        }
        self.trees.keep_turn(self, thread, leaf);
        self.move_to(cpu, thread, leaf, now);
        self.trees.take_turn(self, thread);
    }

    /// It leaves its leaf, and joins this one, behind the others there.
    fn move_to(&self, cpu: &Cpu<P>, thread: Ref<Thread<P>>, leaf: u32, now: u64) {
        if self.leave_this(self, thread, false, || now) {
            self.ask(cpu, thread);
        }
        if self.join_this(self, thread, leaf, || (now, now)) {
            self.ask(cpu, thread);
        }
    }

    /// The same while leaves are lent: this leaf may be, or the one that it leaves. Of the two that
    /// it is in it leaves none that it should be in, and its place in its own one stays if it goes
    /// first there.
    #[cold]
    #[inline(never)]
    fn join_lent(&self, cpu: &Cpu<P>, thread: Ref<Thread<P>>, leaf: u32, now: u64) {
        let (before, from) = (thread.away.get(self), thread.leaf.get(self));
        let own = self.trees.away_from(self, thread, leaf);
        let stood = thread.stands_by().then(|| thread.beside.get(self));
        let beside = self.trees.beside(own, leaf);
        let is_first = |at: u32| self.trees.first_in(self, self.trees.leaf(at)) == Some(thread);
        let comes_back = stood == Some(leaf) && is_first(leaf);
        if own != before {
            self.trees.begin_lending(self, thread, own, now);
        }
        if stood != beside {
            let stays = beside == Some(from) && is_first(from);
            self.trees.stop_standing_by(self, thread);
            if let Some(beside) = beside {
                self.trees.stand_by(self, (thread, beside), stays, (now, now));
            }
        }
        // One that is given its own priority anew goes behind its equals.
        if from != leaf || own.is_none() && before.is_none() {
            let has_turn = stood.is_none() && beside != Some(from);
            if has_turn || !thread.turn.get(self).is_none() {
                self.trees.keep_turn(self, thread, leaf);
            }
            self.trees.go_last(self, thread);
            self.move_to(cpu, thread, leaf, now);
            self.trees.take_turn(self, thread);
        }
        if comes_back {
            self.trees.put_first(self, thread);
        }
        if stood != beside {
            let runs = self.leave_beside(stood, false, now);
            if runs || beside.is_some_and(|beside| self.trees.preempts(beside)) {
                self.ask(cpu, thread);
            }
        }
        if own != before {
            self.trees.end_lending(before, false, now);
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
            if cpu.trees.lend_any() {
                let told = || (cpu.instant(), cpu.instant());
                cpu.begin_lending(cpu, to, candidate.leaf.get(cpu), told);
                cpu.trees.go_instead(cpu, to, candidate);
            }
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
        if caller.queued() && !callee.queued() {
            if cpu.trees.lend_any() {
                if cpu.run_lent::<N>(callee, (caller, false)) {
                    return;
                }
            } else if cpu.trees.lends(cpu, caller, callee) {
                return cpu.run_instead::<N>(callee, caller);
            }
        }
        cpu.leave_leaf(cpu, caller, false);
        cpu.join_leaf(cpu, callee);
        cpu.decide_anew();
    }

    #[inline(always)]
    fn reply_wait<P: Port, N: Notes>(cpu: &Cpu<P>, to: Ref<Thread<P>>, server: Ref<Thread<P>>) {
        if server.queued() && !to.queued() {
            if cpu.trees.lend_any() {
                if cpu.run_lent::<N>(to, (server, ends_job(State::Receiving, server))) {
                    return;
                }
            } else if server.leaf.get(cpu) == cpu.trees.own_leaf_of(cpu, to) {
                return cpu.run_instead::<N>(to, server);
            }
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

    #[inline(always)]
    fn released<P: Port>(cpu: &Cpu<P>, thread: Ref<Thread<P>>, at: Option<u64>) {
        thread.begins.set(cpu, Begins::Awake);
        if !thread.reservation.get(cpu).is_none() {
            cpu.begin_next_job(thread, at);
        }
    }

    fn yield_now<P: Port>(cpu: &Cpu<P>, candidate: Ref<Thread<P>>) {
        if !candidate.queued() {
            return;
        }
        let leaf = cpu.trees.runs_in(cpu, cpu.number, candidate);
        if !cpu.trees.rotate(cpu, leaf) {
            let now = cpu.instant();
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

    fn decide<P: Port>(cpu: &Cpu<P>, leaves: impl Fn() -> bool) -> bool {
        // A charge alone would have to be made again: one that was left is not left before it has
        // served something.
        let mut must = cpu.takes_up_decision();
        if cpu.serves_deadlines_first() {
            return false;
        }
        let leaves = |served: bool| {
            must &= !served;
            // What has run out of budget may be above them no longer.
            cpu.serves_deadlines_first() || (!must && leaves())
        };
        let (here, now) = ((cpu, cpu.number), cpu.instant());
        let Some(chosen) = cpu.trees.choose(here, now, || cpu.port().now(), leaves) else {
            return false;
        };
        cpu.deadlines_first.set(DeadlinesFirst::No);
        cpu.next.set(chosen.thread.unwrap_or(cpu.idle));
        cpu.tick_at.set(chosen.until);
        cpu.rearm();
        true
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
            here.join_anew(cpu, thread, here.trees.leaf_of(here, thread));
        }
    }
}
