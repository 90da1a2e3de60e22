//! Changes of ready queues, each noted in the trace: of this CPU's for messages, and of any CPU's
//! for management.

use crate::access::{Exclusive, Ref};
use crate::cpu::Cpu;
use crate::cpu::notes::Notes;
use crate::object::Thread;
use crate::object::thread::Turn;
use crate::port::Port;
use abi::trace::Event;

/// Where a thread goes among its equals.
#[derive(PartialEq, Eq)]
enum Place {
    /// Before them.
    First,
    /// Behind them; it goes on if it runs.
    Last,
    /// Behind them, also if it runs.
    GivesWay,
}

impl<P: Port> Cpu<P> {
    /// Queues a runnable thread, `FIRST` or last of its level; false if it was queued already. The
    /// tick starts, unless there are no `MORE` runnable threads than before. The idle thread is
    /// never queued. The caller notes it.
    #[inline(always)]
    fn insert<const FIRST: bool, const MORE: bool>(&self, thread: Ref<Thread<P>>) -> bool {
        // One that is leaving for another CPU is queued there when it has left.
        let leaves = P::SMP && thread.cpu.get() != self.number;
        if thread == self.idle || leaves {
            return false;
        }
        if MORE && !self.ticks() {
            self.start_tick();
        }
        let joins = if FIRST { self.ready.insert_first(thread) } else { self.ready.insert(thread) };
        self.raise(thread.priority.get());
        joins
    }

    /// Queues a runnable thread, as the `first` of its level or the last, out of line.
    #[inline(never)]
    pub fn enqueue_at(&self, thread: Ref<Thread<P>>, first: bool) {
        let joins = match first {
            true => self.insert::<true, true>(thread),
            false => self.insert::<false, true>(thread),
        };
        if joins {
            self.note(Event::Insert, thread, self.queue_number(), self.ready.length());
        }
    }

    /// [`Cpu::enqueue_at`] behind its equals.
    #[inline(always)]
    pub fn enqueue(&self, thread: Ref<Thread<P>>) {
        self.enqueue_at(thread, false);
    }

    /// Removes a thread, if it is queued.
    pub fn dequeue(&self, thread: Ref<Thread<P>>) {
        if self.ready.remove(thread) {
            self.note(Event::Remove, thread, self.queue_number(), self.ready.length());
        }
    }

    /// A thread of this priority became runnable.
    #[inline(always)]
    pub fn raise(&self, priority: i16) {
        self.highest.set(self.highest.get().max(priority));
    }

    /// Whether a thread is queued beside the one that is to run.
    #[inline(always)]
    pub(crate) fn is_waited_for(&self) -> bool {
        !self.ready.is_empty() && !self.ready.holds_only(self.next.get())
    }
}

impl<P: Port> Cpu<P> {
    /// Queues a thread that became runnable, behind its equals.
    #[inline(always)]
    pub(super) fn push<N: Notes>(&self, thread: Ref<Thread<P>>) {
        let joins = self.insert::<false, true>(thread);
        self.note_insert::<N>(thread, joins);
    }

    /// Queues a thread that has or had the CPU, before its equals: its turn is not over.
    #[inline(always)]
    pub(super) fn push_first<N: Notes>(&self, thread: Ref<Thread<P>>) {
        let joins = self.insert::<true, true>(thread);
        self.note_insert::<N>(thread, joins);
    }

    /// Queues a thread that runs in the place of one that has left the queue.
    #[inline(always)]
    pub(super) fn push_instead<N: Notes>(&self, thread: Ref<Thread<P>>) {
        let joins = self.insert::<true, false>(thread);
        self.note_insert::<N>(thread, joins);
    }

    #[inline(always)]
    fn note_insert<N: Notes>(&self, thread: Ref<Thread<P>>, joins: bool) {
        if joins {
            let length = self.ready.length();
            self.note_if::<N>(Event::Insert, thread, self.queue_number(), length);
        }
    }

    /// Removes a thread from the ready queue, if it is queued.
    #[inline(always)]
    pub(super) fn remove<N: Notes>(&self, thread: Ref<Thread<P>>) {
        if self.ready.remove(thread) {
            let length = self.ready.length();
            self.note_if::<N>(Event::Remove, thread, self.queue_number(), length);
        }
    }
}

impl<P: Port> Cpu<P> {
    /// Queues a runnable thread on the CPU that it belongs to, as the `first` of its level or the
    /// last. Another CPU is interrupted if the
    /// thread takes precedence there, or if there is no tick that would give the thread its turn.
    pub(super) fn enqueue_on(&self, cpu: &Cpu<P>, thread: Ref<Thread<P>>, first: bool) {
        if self.is_same(cpu) {
            return self.enqueue_at(thread, first);
        }
        // A thread that was woken from elsewhere is queued by the interrupt that is on its way.
        if thread.is_woken_remotely() {
            return;
        }
        let joins = if first { cpu.ready.insert_first(thread) } else { cpu.ready.insert(thread) };
        if joins {
            self.note(Event::Insert, thread, cpu.queue_number(), cpu.ready.length());
        }
        let (current, priority) = (cpu.current.get(), thread.priority.get());
        cpu.raise(priority);
        if thread == current {
            return;
        }
        if priority > current.priority.get() {
            self.ask_for_decision(cpu);
        } else if cpu.begin_tick() {
            self.send_ipi(cpu);
        }
    }

    /// Removes a thread from the ready queue of the CPU that it belongs to, if it is queued.
    #[inline(never)]
    pub(super) fn dequeue_from(&self, cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        if thread.is_woken_remotely() {
            cpu.remote_wakes.remove(thread);
        }
        if cpu.ready.remove(thread) {
            self.note(Event::Remove, thread, cpu.queue_number(), cpu.ready.length());
        }
    }

    /// Gives a thread another effective priority, and its place in the ready queue of its CPU.
    pub(super) fn requeue_on(
        &self,
        cpu: &Cpu<P>,
        all: &Exclusive<'_>,
        thread: Ref<Thread<P>>,
        priority: i16,
    ) {
        let queued = thread.queued() || (thread.is_woken_remotely() && thread.runnable());
        let place = self.place_behind(cpu, thread, priority);
        self.dequeue_from(cpu, thread);
        thread.priority.set(all, priority);
        // What runs gives way at once to equals whose turn it is.
        let runs = self.is_same(cpu) && thread == self.next.get() && thread.runnable();
        let gives_way = runs && place == Place::GivesWay;
        if queued || gives_way {
            self.enqueue_on(cpu, thread, place == Place::First);
        }
        if gives_way {
            self.next.set(self.idle);
            self.resched.set(true);
        }
    }

    /// Where a thread that is about to have this priority goes among its equals. If it falls back
    /// to the level from which it was raised, it has the turn there that it had then, unless its
    /// time slice has ended since.
    fn place_behind(&self, cpu: &Cpu<P>, thread: Ref<Thread<P>>, priority: i16) -> Place {
        let (before, turn) = (thread.priority.get(), thread.turn.get(self));
        if priority > before {
            if turn.is_none() {
                let runs = thread == cpu.current.get() && thread.runnable();
                let has_turn = runs || cpu.ready.is_first(thread);
                let used = if has_turn { 0 } else { Turn::OVER };
                thread.turn.set(self, Turn { level: before as u32, used });
            }
            return Place::Last;
        }
        let level = priority as u32;
        if turn.is_none() || level > turn.level {
            return Place::Last;
        }
        thread.turn.set(self, Turn::NONE);
        match (level == turn.level, turn.used == Turn::OVER) {
            (true, false) => Place::First,
            (true, true) => Place::GivesWay,
            (false, _) => Place::Last,
        }
    }

    /// A CPU is to make a full decision. Another one is interrupted for that, unless an interrupt
    /// that it decides behind is on its way.
    pub(crate) fn ask_for_decision(&self, cpu: &Cpu<P>) {
        if !cpu.resched.replace(true) && !self.is_same(cpu) {
            self.send_ipi(cpu);
        }
    }

    /// Whether a CPU is this one.
    pub(crate) fn is_same(&self, cpu: &Cpu<P>) -> bool {
        !P::SMP || cpu.number == self.number
    }
}
