//! The timer of a CPU: one instant is programmed, for the first deadline or the tick, whichever is
//! first. Deadlines of threads below the one that runs are deferred (docs/design/0016).

use super::{Cpu, NEAR};
use crate::access::Ref;
use crate::object::Thread;
use crate::object::deadlines::{NEVER, TimerEntry};
use crate::port::Port;
use crate::tree::ANY;
use abi::trace::Event;

/// In place of the instant that is armed, while the timer's interrupt does its work.
const SERVING: u64 = 0;
/// The floor if no deadline is deferred: the priority of the idle thread.
pub(super) const NONE_DEFERRED: i16 = -1;
/// The floor if the timer is programmed for no deadline: above all priorities.
const ALL_DEFERRED: i16 = i16::MAX;

/// Whether a decision is left to deadlines that are as urgent as what is ready.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DeadlinesFirst {
    /// It is not, or was until some were served.
    No,
    /// The timer is programmed for an instant that is past: its interrupt is on its way.
    Armed,
    /// That has come and served none, since an interrupt that waits goes first. The decision is
    /// made without them.
    Tried,
}

impl<P: Port> Cpu<P> {
    /// A full decision has picked a thread: deadlines that were deferred and are not lower than it
    /// interrupt at once.
    #[inline(always)]
    pub(crate) fn rearm_if_lower(&self, picked: Ref<Thread<P>>) {
        if picked.priority.get() < self.floor.get() {
            self.rearm_above(picked);
        }
    }

    /// Whether another CPU has added a deadline here that this one would look at too late: behind
    /// its instant if it is more urgent than the thread that runs, else behind the tick point too.
    /// The tick starts then, so that lower deadlines do not interrupt more than once a tick.
    pub(crate) fn overlooks(&self, at: u64, priority: i16) -> bool {
        let running = self.urgency_of_running(self.current.get());
        // A decision to come programs the timer, and its interrupt is on its way.
        let is_to_decide = self.floor.get() == ALL_DEFERRED && self.resched.get();
        // Where a tree orders threads, an equal one may belong to what is more urgent.
        if priority > running || (priority == running && self.trees.exist()) {
            return !is_to_decide && self.armed.get() > at;
        }
        // An equal one is not among those that the timer is programmed for exactly either.
        self.floor.set(self.floor.get().max(running + 1));
        self.raise(running);
        let tick_point = self.next_tick(self.port.now());
        self.deferred_until.set(tick_point);
        // A deadline shortly behind the tick point shares its interrupt.
        let late = !is_to_decide && self.armed.get() > at.max(tick_point.saturating_add(NEAR));
        if late {
            // It may run: one that was served early leaves this point of the grid out.
            self.begin_tick();
        }
        late
    }

    /// Programs the timer for the first deadline or tick, if that has changed. Deadlines that are
    /// deferred stay so, unless the candidate is as low as their sleepers.
    #[inline(never)]
    pub fn rearm(&self) {
        if self.armed.get() == SERVING {
            return;
        }
        if self.floor.get() != NONE_DEFERRED {
            return self.rearm_deferred();
        }
        self.program(self.tick_at.get(), self.deadlines.first());
    }

    /// [`Cpu::rearm`] while deadlines are deferred. A decision to come does it itself: what is due
    /// would interrupt before the interrupt that the decision was left to, again and again.
    #[cold]
    #[inline(never)]
    fn rearm_deferred(&self) {
        if self.floor.get() != ALL_DEFERRED || !self.resched.get() {
            self.rearm_above(self.next.get());
        }
    }

    /// Programs the timer while deadlines are deferred, for the thread that runs next.
    #[cold]
    #[inline(never)]
    fn rearm_above(&self, next: Ref<Thread<P>>) {
        self.defer_below(next, self.port.now());
    }

    /// Whether lower deadlines are to stay deferred.
    #[inline(always)]
    fn defers(&self, now: u64) -> bool {
        P::SMP && now < self.deferred_until.get()
    }

    /// Whether no deadline is due that could be deferred, nor will be as long as that is so.
    #[inline(always)]
    fn none_to_defer(&self, now: u64) -> bool {
        let first = self.deadlines.first();
        first > now && (!P::SMP || first >= self.deferred_until.get())
    }

    /// Programs the timer for the first deadline, or if some are to be deferred for those that are
    /// not below the thread that runs next. The others are looked at again at the next tick point,
    /// should a message give the CPU to a lower thread.
    #[inline(always)]
    fn defer_below(&self, next: Ref<Thread<P>>, now: u64) {
        let (tick, first) = (self.tick_at.get(), self.deadlines.first());
        let floor = self.urgency_of_running(next);
        let urgent = self.deadlines.first_from(floor);
        if self.none_to_defer(now) || (first == urgent && !self.defers(now)) {
            self.floor.set(NONE_DEFERRED);
            return self.program(tick, first);
        }
        self.floor.set(floor);
        // A switch to a lower thread is a full decision now, under strict priorities.
        self.raise(floor - 1);
        self.program(tick.min(self.next_tick(now)), urgent);
    }

    /// A decision of a tree is about to be made. Whether it is left to the timer's interrupt, since
    /// deadlines that were deferred are as urgent as what is ready: so these are served before
    /// anything as urgent runs.
    #[inline(always)]
    pub(crate) fn serves_deadlines_first(&self) -> bool {
        self.floor.get() != NONE_DEFERRED && self.leaves_decision_to_deadlines()
    }

    #[cold]
    #[inline(never)]
    fn leaves_decision_to_deadlines(&self) -> bool {
        match self.deadlines_first.get() {
            DeadlinesFirst::No => {}
            first => return first == DeadlinesFirst::Armed,
        }
        let floor = self.highest_in_tree();
        let leaves = self.deadlines.is_due(self.port.now(), floor);
        if leaves {
            self.deadlines_first.set(DeadlinesFirst::Armed);
            // Nothing programs the timer for anything else before the decision is made.
            self.floor.set(ALL_DEFERRED);
            self.program(self.tick_at.get(), self.deadlines.first_from(floor));
        }
        leaves
    }

    /// How urgent a deadline is at least that is as urgent as what is ready below the root.
    #[inline(always)]
    pub(crate) fn highest_in_tree(&self) -> i16 {
        self.trees.highest_ready(self.number).min(ANY)
    }

    /// How urgent a deadline of a thread is: as the thread.
    #[inline(always)]
    pub(crate) fn urgency_of_sleeper(&self, thread: Ref<Thread<P>>) -> i16 {
        match self.trees.exist() {
            true => self.trees.urgency_of_sleeper(self, thread),
            false => thread.priority.get(),
        }
    }

    /// How urgent a deadline is at least that interrupts this thread, which runs, or is to.
    #[inline(always)]
    pub(crate) fn urgency_of_running(&self, thread: Ref<Thread<P>>) -> i16 {
        let priority = thread.priority.get();
        // The idle thread, which is below all others, has no leaf.
        match self.trees.exist() && priority >= 0 {
            true => {
                let leaf = self.trees.runs_in(self, self.number, thread);
                self.trees.urgency_of_running(self.number, leaf)
            }
            false => priority,
        }
    }

    /// Programs the timer for a tick or a deadline, whichever is first.
    #[inline(never)]
    fn program(&self, tick: u64, first: u64) {
        let at = if first.saturating_sub(NEAR) < tick { first } else { tick };
        if at != self.armed.replace(at) {
            if P::TRACE != 0 && at != NEVER && self.ring.wants(Event::Arm) {
                let wait = at.saturating_sub(self.port.now());
                self.note_event(Event::Arm, u32::try_from(wait).unwrap_or(u32::MAX), 0);
            }
            // What is not memory waits for the end of the section (S1-06).
            match P::SMP {
                true => self.arming.set(true),
                false => self.port.arm((at != NEVER).then_some(at)),
            }
        }
    }

    /// Programs the timer if that was put off: called outside the kernel.
    pub(crate) fn arm(&self) {
        if self.arming.get() {
            self.arming.set(false);
            // A decision may have been left to the interrupt that this takes back. Where it is left
            // to deadlines, this brings their interrupt; another one would put off what they do.
            if self.resched.get() && self.deadlines_first.get() != DeadlinesFirst::Armed {
                self.send_ipi(self);
            }
            let at = self.armed.get();
            self.port.arm((at != NEVER).then_some(at));
        }
    }

    /// Adds a deadline. A timer is as urgent as the thread that sets it is then.
    #[inline(never)]
    pub fn sleep(&self, at: u64, sleeper: TimerEntry<P>) {
        let priority = self.urgency_of_sleeper(match sleeper {
            TimerEntry::Thread(thread) => thread,
            TimerEntry::Timer(_) => self.current.get(),
        });
        self.deadlines.insert(at, sleeper, priority);
        if self.floor.get() == NONE_DEFERRED || at < self.armed.get() {
            self.rearm();
        }
    }

    /// Whether the timer will not interrupt.
    pub fn is_disarmed(&self) -> bool {
        self.armed.get() == NEVER
    }

    /// What the timer is programmed for, the tick point to come, and from which priority on
    /// deadlines are not deferred.
    pub(crate) fn programmed(&self) -> (u64, u64, i16) {
        (self.armed.get(), self.tick_at.get(), self.floor.get())
    }

    /// The timer has interrupted: nothing is armed any more, and will not be before
    /// [`Cpu::timer_served`].
    pub fn timer_fired(&self) {
        self.armed.set(SERVING);
    }

    /// The timer's interrupt has done its work. What was due by `now` and is not served is
    /// deferred, or interrupts again at once: that is for the thread that runs next to tell, and
    /// known behind the decision if there is one to come. With several CPUs an interrupt that has
    /// `served` nothing was for a tick point, or for a deadline that is lower or was taken back
    /// elsewhere: lower ones wait for the next tick point now, else each of many that are taken
    /// back would interrupt.
    #[inline(always)]
    pub fn timer_served(&self, now: u64, served: bool) {
        self.armed.set(NEVER);
        if P::SMP && !served {
            self.deferred_until.set(self.next_tick(now));
        }
        if self.none_to_defer(now) {
            self.floor.set(NONE_DEFERRED);
            return self.program(self.tick_at.get(), self.deadlines.first());
        }
        self.floor.set(ALL_DEFERRED);
        match self.resched.get() {
            true => {}
            false if P::SMP => self.defer_below(self.next.get(), now),
            false => self.rearm_above(self.next.get()),
        }
    }
}
