//! Scheduling events of management, for threads of any CPU: a thread is made ready by a timeout or
//! a call, stopped, or given another priority.

use super::Manager;
use crate::access::Ref;
use crate::cost::CostEvent;
use crate::object::Thread;
use crate::object::thread::{State, Turn, Wait, flag};
use crate::port::Port;
use crate::tree::DONATIONS;
use abi::call::ThreadState;
use abi::trace::Event;

impl<P: Port> Manager<'_, P> {
    /// A thread was made ready, if it is not stopped. One that still runs on another CPU than its
    /// own is queued when it has left.
    pub(crate) fn make_ready(&self, at: Ref<Thread<P>>) {
        if !self.all.open(at).runnable() {
            return;
        }
        self.cpu.note(Event::Wake, at, 0, 0);
        self.enqueue(at);
        self.cpu.resched.set(true);
    }

    /// A runnable thread goes to the scheduler of its CPU, unless it is leaving another one: it
    /// goes there when it has left.
    pub(crate) fn enqueue(&self, at: Ref<Thread<P>>) {
        if !self.is_leaving(at) {
            self.enqueue_there(at);
        }
    }

    /// A runnable thread that is on no other CPU goes to the scheduler of its CPU.
    pub(crate) fn enqueue_there(&self, at: Ref<Thread<P>>) {
        (self.kernel.variant.events.make_ready)(self.cpu, self.cpu_of(at), at);
    }

    /// A thread leaves its CPU.
    pub(crate) fn dequeue(&self, at: Ref<Thread<P>>) {
        let thread = self.all.open(at);
        if thread.queued() || thread.is_woken_remotely() {
            (self.kernel.variant.events.remove)(self.cpu, self.cpu_of(at), at);
        }
    }

    /// Stops a thread from running.
    pub(crate) fn halt(&self, at: Ref<Thread<P>>) {
        self.stop(at);
        (self.kernel.variant.events.halt)(self.cpu, self.cpu_of(at), at);
        self.reconsider(at);
    }

    /// The calling thread, which waits from now on, does not run.
    pub(crate) fn block(&self, me: Ref<Thread<P>>) {
        P::cost(CostEvent::Block(me.index()));
        let state = self.all.open(me).state.get();
        self.cpu.note(Event::Block, me, 0, state.shown() as u16);
        (self.kernel.variant.events.halt)(self.cpu, self.cpu, me);
        self.reconsider(me);
    }

    /// A thread is not to run any more: it is marked, and stays where it is queued.
    pub(crate) fn stop(&self, at: Ref<Thread<P>>) {
        let thread = self.all.open(at);
        if thread.runnable() {
            P::cost(CostEvent::Block(at.index()));
            self.cpu.note(Event::Block, at, 0, ThreadState::Suspended as u16);
        }
        thread.set(flag::SUSPENDED);
    }

    /// Gives a thread another priority of its own, among whose equals it has no turn yet. What it
    /// has inherited stays.
    pub(crate) fn change_priority(&self, at: Ref<Thread<P>>, priority: i16) {
        self.all.open(at).base_priority.set(&self.all, priority);
        self.know_own_priority(at);
        if !P::FUTEXES || self.kernel.variant.tree {
            self.requeue_by(at, priority);
        }
        if P::FUTEXES {
            self.propagate(at);
        }
        at.turn.set(&self.all, Turn::NONE);
    }

    /// A thread was given another priority, or another ceiling: the greater one is its own.
    pub(crate) fn know_own_priority(&self, at: Ref<Thread<P>>) {
        let given = at.base_priority.get();
        let least = if P::FUTEXES { self.all.open(at).inherit.ceiling.get() } else { given };
        at.own_priority.set(&self.all, given.max(least));
    }

    /// Gives a thread another effective priority, unless it has it. Where a tree orders threads,
    /// the priority is that of a leaf, and no thread has another one. Whether that took long, since
    /// the thread is in queues that go by it.
    pub(crate) fn apply_priority(&self, at: Ref<Thread<P>>, priority: i16) -> bool {
        let thread = self.all.open(at);
        if self.kernel.variant.tree || thread.priority.get() == priority {
            return false;
        }
        let waits = thread.state.get() == State::Waiting;
        if waits && !thread.queued() && !thread.has(flag::DEADLINE) {
            // In no queue that goes by it. It has no turn where it falls back to while it waits.
            if priority as u32 <= thread.turn.get(&self.all).level {
                thread.turn.set(&self.all, Turn::NONE);
            }
            self.cpu.note(Event::Priority, at, 0, priority as u16);
            thread.priority.set(&self.all, priority);
            return false;
        }
        self.requeue_by(at, priority);
        true
    }

    /// Gives a thread another effective priority, and its place in each queue that goes by that: of
    /// ready threads, of senders, of deadlines.
    fn requeue_by(&self, at: Ref<Thread<P>>, priority: i16) {
        let (thread, cpu) = (self.all.open(at), self.cpu_of(at));
        let before = thread.priority.get();
        let senders = &self.kernel.variant.senders;
        let sending = match (thread.state.get(), thread.wait.get()) {
            (State::Sending, Wait::Endpoint(endpoint)) if senders.sorted => {
                Some(self.all.open(endpoint))
            }
            (State::Sending, Wait::Train(train)) if P::TRAINS && senders.sorted => {
                Some(&self.all.open(train).queue)
            }
            _ => None,
        };
        if let Some(endpoint) = sending {
            (senders.remove)(endpoint, at);
        }
        self.cpu.note(Event::Priority, at, 0, priority as u16);
        (self.kernel.variant.events.change_priority)(self.cpu, cpu, (&self.all, at), priority);
        if let Some(endpoint) = sending {
            (senders.insert)(endpoint, at);
        }
        self.sleep_anew(at);
        if thread.runnable() {
            self.reconsider_priority(at, before);
        }
        self.caller_changed(at);
    }

    /// A thread has another priority or reservation, has lost its caller, or is of another CPU:
    /// under the tree its deadline is as urgent as it is now, and whichever thread works for it in
    /// the end follows.
    #[inline(always)]
    pub(crate) fn caller_changed(&self, at: Ref<Thread<P>>) {
        if P::TREE {
            self.sleep_anew(at);
            if P::FUTEXES && self.kernel.trees.may_lend() {
                return self.propagate(at);
            }
            self.move_donation(at);
        }
    }

    /// The thread that works for this one in the end, by calls, uses the leaf that it should.
    pub(in crate::manage) fn move_donation(&self, at: Ref<Thread<P>>) {
        let mut works = at;
        for _ in 0..DONATIONS {
            match self.server_of(works) {
                Some(server) => works = server,
                None => break,
            }
        }
        (self.kernel.variant.events.caller_changed)(self.cpu, self.cpu_of(works), works);
    }

    /// The thread that has the call of this one, and the right to answer it.
    pub(in crate::manage) fn server_of(&self, at: Ref<Thread<P>>) -> Option<Ref<Thread<P>>> {
        let thread = self.all.open(at);
        thread.server.get().filter(|_| thread.state.get() == State::Calling)
    }
}
