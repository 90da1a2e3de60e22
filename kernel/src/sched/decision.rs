//! The full decision: the highest thread that can run. Threads that cannot run are removed from the
//! queue when a decision meets them (lazy dequeueing, S0-10).

use crate::access::Ref;
use crate::cost::CostEvent;
use crate::cpu::Cpu;
use crate::object::Thread;
use crate::port::Port;
use abi::trace::{Event, point};

/// Threads that one decision removes from the queue where there are several CPUs.
const REMOVED_AT_ONCE: u32 = 32;

impl<P: Port> Cpu<P> {
    /// Makes a full decision.
    pub fn reschedule(&self) {
        self.next.set(self.pick_next());
    }

    /// The decision: the highest runnable thread, which stays the first of its level.
    pub fn pick_next(&self) -> Ref<Thread<P>> {
        let first = self.search::<false>(0);
        if !self.resched.get() {
            self.know_highest(first);
            self.rearm_if_lower(first);
        }
        first
    }

    /// No ready thread is above this one, which was chosen.
    #[inline(always)]
    fn know_highest(&self, chosen: Ref<Thread<P>>) {
        self.highest.set(chosen.priority.get());
        if self.waits.has_followers() {
            self.know_followers(chosen.priority.get());
        }
    }

    /// Threads that are to follow a change of waits may go before one of this priority, which was
    /// chosen: that is settled on the way out.
    #[cold]
    #[inline(never)]
    fn know_followers(&self, priority: i16) {
        let urgency = self.waits.urgency();
        self.highest.set(priority.max(urgency));
        if priority <= urgency {
            self.chosen_behind.set(true);
            self.resched.set(true);
        }
    }

    /// The highest runnable thread, if `FLOORED` not below `floor`, else the idle thread; those
    /// met on the way that cannot run are removed (S0-10). With an interrupt pending after some
    /// removals it is the idle thread, and the decision is left to that interrupt's way out.
    fn search<const FLOORED: bool>(&self, floor: i16) -> Ref<Thread<P>> {
        let mut steps = self.settings.lazy_dequeues;
        let mut removed = 0;
        P::cost(CostEvent::Search);
        let found = loop {
            let Some(first) = self.ready.first() else { break self.idle };
            if FLOORED && first.priority.get() < floor {
                break self.idle;
            }
            if first.runnable() {
                break first;
            }
            if removed == 0 {
                self.note(Event::LazyDequeue, first, 0, 0);
            }
            P::cost(CostEvent::LazyDequeue);
            self.ready.remove(first);
            removed += 1;
            steps = steps.wrapping_sub(1);
            if steps == 0 {
                let pending = self.is_wanted() || self.leaves_search(removed);
                self.note(Event::Preempt, first, point::LAZY_DEQUEUE, u16::from(pending));
                if pending {
                    self.resched.set(true);
                    break self.idle;
                }
                steps = self.settings.lazy_dequeues;
            }
        };
        self.note(Event::LookUp, found, removed, 0);
        found
    }

    /// Whether a search has removed so many that it lets other CPUs in: it goes on at an interrupt
    /// that this CPU sends itself.
    fn leaves_search(&self, removed: u32) -> bool {
        let leaves = P::SMP && removed >= REMOVED_AT_ONCE;
        if leaves {
            self.send_ipi(self);
        }
        leaves
    }

    /// Whether the candidate can run on.
    pub(crate) fn goes_on(&self) -> bool {
        let next = self.next.get();
        let is_here = !P::SMP || next.cpu.get() == self.number;
        next != self.idle && next.runnable() && is_here
    }

    /// Makes the decision that was asked for, by priorities.
    pub(crate) fn settle(&self) {
        let (next, goes_on) = (self.next.get(), self.goes_on());
        let may_lose = !goes_on || next.priority.get() < self.highest.get();
        if may_lose && self.leaves_decision() {
            // The decision is made on the way out of that interrupt.
            self.resched.set(true);
            self.next.set(if goes_on { next } else { self.idle });
        } else if goes_on {
            if may_lose {
                self.give_way(next, false);
            } else {
                self.no_decision_left();
            }
            if !self.resched.get() {
                self.rearm_if_lower(self.next.get());
            }
        } else {
            self.reschedule();
        }
    }

    /// Gives the CPU to the highest thread: one of equal priority only if `to_equals`. `running` is
    /// the last of its level then; else it is the first, as long as its time slice lasts.
    pub fn give_way(&self, running: Ref<Thread<P>>, to_equals: bool) {
        if to_equals || !self.settings.eager {
            self.dequeue(running);
            if self.settings.eager {
                self.enqueue(running);
            }
        }
        let priority = running.priority.get();
        let other = self.search::<true>(priority);
        let rival = other.priority.get();
        if rival > priority || (to_equals && rival == priority && other != running) {
            self.enqueue_at(running, !to_equals);
            self.next.set(other);
        } else if to_equals && other == self.idle && self.resched.get() {
            // An interrupt has cut the search short: the decision is made on the way out.
            self.enqueue_at(running, false);
            self.next.set(other);
        } else {
            self.next.set(running);
        }
        if !self.resched.get() {
            // None above it can run, and what is due for a thread above this bound need not wait
            // for the next decision.
            self.know_highest(self.next.get());
        }
    }

    /// `to`, which is runnable, runs in the place of `running`, for the rest of its time slice at
    /// most: else a thread could go on in ever new threads. It goes behind its equals.
    pub fn yield_to(&self, running: Ref<Thread<P>>, to: Ref<Thread<P>>) {
        to.slice.set(self, to.slice.get(self).min(running.slice.get(self)));
        self.dequeue(running);
        self.enqueue(running);
        self.next.set(to);
    }
}
