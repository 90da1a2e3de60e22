//! Scheduling events of an entry, for threads of any CPU, and the switch itself. Threads that are
//! stopped or belong to another CPU are sorted out here; the others go to the kernel's scheduler.

use super::Entry;
use crate::access::Ref;
use crate::cost::CostEvent;
use crate::cpu::notes::Notes;
use crate::object::Thread;
use crate::object::thread::{State, flag};
use crate::port::Port;
use crate::sched::Scheduler;
use crate::system::System;
use abi::trace::Event;

impl<S: System> Entry<S> {
    /// `thread` became ready; the candidate goes on if it is not lower.
    #[inline(always)]
    pub fn wake(&self, thread: Ref<Thread<S::Port>>) {
        self.note(Event::Wake, thread, 0, 0);
        if self.can_run_here(thread) {
            S::Scheduler::wake::<S::Port, S::Notes>(self.cpu, thread);
        }
    }

    /// [`Entry::wake`], out of line.
    #[inline(never)]
    pub fn wake_slowly(&self, thread: Ref<Thread<S::Port>>) {
        self.wake(thread);
    }

    /// `to` became ready, and the candidate, which stays ready, makes room for it.
    #[inline(always)]
    pub fn hand_over(&self, to: Ref<Thread<S::Port>>) {
        self.note(Event::Wake, to, 0, 0);
        if self.can_run_here(to) {
            S::Scheduler::hand_over::<S::Port, S::Notes>(self.cpu, to);
        }
    }

    /// The candidate `caller` waits for the reply of `callee`, which became ready.
    #[inline(always)]
    pub fn call(&self, callee: Ref<Thread<S::Port>>, caller: Ref<Thread<S::Port>>) {
        self.note(Event::Wake, callee, 0, 0);
        if !self.can_run_here(callee) {
            return self.block(caller, State::Calling);
        }
        self.blocked(caller, State::Calling);
        S::Scheduler::call::<S::Port, S::Notes>(self.cpu, callee, caller);
        self.donated(caller, self.cpu.next.get());
    }

    /// The candidate `server` waits to receive; `to`, to which it has sent, became ready.
    #[inline(always)]
    pub fn reply_wait(&self, to: Ref<Thread<S::Port>>, server: Ref<Thread<S::Port>>) {
        self.note(Event::Wake, to, 0, 0);
        if !self.can_run_here(to) {
            return self.block(server, State::Receiving);
        }
        self.blocked(server, State::Receiving);
        S::Scheduler::reply_wait::<S::Port, S::Notes>(self.cpu, to, server);
        self.donated(server, self.cpu.next.get());
    }

    /// The candidate blocks in this state, and no thread became ready.
    #[inline(always)]
    pub fn block(&self, thread: Ref<Thread<S::Port>>, state: State) {
        self.blocked(thread, state);
        S::Scheduler::block::<S::Port, S::Notes>(self.cpu, thread, state);
    }

    /// Whether a thread that became ready can run on this CPU now. One of another CPU is woken
    /// there; a stopped one runs when it is resumed.
    #[inline(always)]
    fn can_run_here(&self, thread: Ref<Thread<S::Port>>) -> bool {
        if thread.has(flag::SUSPENDED) {
            return false;
        }
        if self.is_elsewhere(thread) && !(S::Scheduler::TREE && self.adopt(thread)) {
            self.wake_remotely(thread);
            return false;
        }
        true
    }

    /// Records that the candidate has blocked.
    #[inline(always)]
    pub(crate) fn blocked(&self, thread: Ref<Thread<S::Port>>, state: State) {
        S::Port::cost(CostEvent::Block(thread.index()));
        self.note(Event::Block, thread, 0, state.shown() as u16);
    }

    /// Records that `next`, if it is lower than `blocked`, runs on the time of that thread (S0-09).
    #[inline(always)]
    pub(crate) fn donated(&self, blocked: Ref<Thread<S::Port>>, next: Ref<Thread<S::Port>>) {
        let below = next.priority.get() < blocked.priority.get();
        if S::Notes::ON && next != self.cpu.idle && below && self.kernel.port.records() {
            self.note(Event::Donate, next, blocked.index(), 0);
        }
    }

    /// Settles which thread runs, switches to it and returns it: the way out of the kernel.
    #[inline(always)]
    pub fn leave(self) -> Ref<Thread<S::Port>> {
        if self.cpu.resched.get() {
            self.settle();
        }
        if S::Scheduler::TREE {
            self.cpu.end_event();
        }
        let next = self.cpu.next.get();
        self.switch(self.cpu.current.get(), next);
        next
    }

    /// The CPU switches from one thread to another, or stays with one. Nothing else changes the
    /// current thread.
    #[inline(always)]
    pub(crate) fn switch(&self, from: Ref<Thread<S::Port>>, to: Ref<Thread<S::Port>>) {
        self.cpu.current.set(to);
        if from != to {
            S::Port::cost(CostEvent::Switch(to.index()));
            self.note(Event::Switch, to, from.index(), to.priority.get() as u16);
            S::Scheduler::switched(from, to, || self.kernel.port.now());
        }
        if S::Port::SMP {
            self.switch_between(from, to);
        }
    }

    /// Tells the monitor of the most urgent notice that this CPU is to tell, which takes another
    /// decision. The others are told with the next ones, which are due at once, or when what they
    /// choose is not above them.
    fn tell_monitor(&self) {
        if let Some((monitor, bits)) = self.cpu.trees.take_notice(self.cpu.number) {
            self.signal(monitor, bits, false);
            self.cpu.resched.set(false);
            self.choose_in_tree();
        }
    }

    /// Makes a full decision, whatever the candidate is. False: it is left to an interrupt that
    /// waits.
    pub(crate) fn choose(&self) -> bool {
        let decides = S::Scheduler::decide(self.cpu, || self.cpu.leaves_between_steps(self.kernel));
        if !decides {
            self.stay();
        } else if S::Scheduler::TREE && S::Port::SMP {
            self.pull();
        }
        decides
    }

    /// The decision of a tree is left to an interrupt: until then this CPU stays with its thread,
    /// if that can run.
    #[cold]
    #[inline(never)]
    fn stay(&self) {
        let current = self.cpu.current.get();
        let stays = current.queued() && !self.is_elsewhere(current);
        self.cpu.trees.leave_decision(self.cpu.number, || self.kernel.port.now());
        self.cpu.resched.set(true);
        self.cpu.next.set(if stays { current } else { self.cpu.idle });
    }

    /// Makes the decision of a tree, behind the steps of threads that follow a change of waits.
    /// False: it is left to an interrupt that waits.
    #[inline(always)]
    fn choose_in_tree(&self) -> bool {
        let mut must = false;
        loop {
            if self.cpu.trees.decides_behind_followers() && !self.follow_waits(must) {
                return false;
            }
            if !self.choose() {
                return false;
            }
            must = self.cpu.trees.decides_behind_followers() && self.is_behind_followers();
            if !must {
                return true;
            }
        }
    }

    /// Takes the steps of threads that follow a change of waits; one in any case if `must`. False:
    /// an interrupt waits, and this CPU stays with its thread, if that can run.
    #[cold]
    #[inline(never)]
    fn follow_waits(&self, must: bool) -> bool {
        let all = self.manage().follow_first(must);
        self.cpu.trees.set_followed(self.cpu.waits.has_followers());
        if all {
            // The steps have asked for the decision that is made now.
            self.cpu.resched.set(false);
            self.cpu.no_decision_left();
        } else {
            self.stay();
        }
        all
    }

    /// Whether the thread that was chosen is not above all that is to be followed.
    #[cold]
    #[inline(never)]
    fn is_behind_followers(&self) -> bool {
        self.manage().is_behind_followers(self.cpu.next.get())
    }

    /// Asks the CPUs that may run something else than they do of the class that all of them share.
    fn ask_others(&self) {
        let (trees, current) = (&self.kernel.trees, self.cpu.current.get());
        if current != self.cpu.next.get() && current.queued() {
            trees.leave_to_others(current.leaf.get(self.cpu), self.cpu.number);
        }
        while let Some(cpu) = trees.take_asked() {
            self.cpu.ask_for_decision(self.kernel.cpu(cpu));
        }
    }

    /// Makes the decision that was asked for.
    #[cold]
    #[inline(never)]
    fn settle(&self) {
        self.cpu.resched.set(false);
        if S::Scheduler::TREE {
            self.cpu.is_interrupted.set(false);
            if self.choose_in_tree() {
                self.tell_monitor();
            }
            if S::Port::SMP {
                self.ask_others();
            }
            return;
        }
        if self.cpu.waits.has_followers() {
            self.manage().settle_behind_followers();
        } else {
            self.cpu.settle();
        }
        // Other CPUs that ask for a decision leave the tick to it.
        if S::Port::SMP && !self.cpu.ticks() && self.cpu.is_waited_for() {
            self.cpu.start_tick();
        }
    }
}
