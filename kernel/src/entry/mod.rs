//! One entry into the kernel, for one kernel: the state, the CPU and the critical section.

mod events;

pub use events::*;

use crate::access::{CriticalSection, Guard, Ref};
use crate::cost::CostEvent;
use crate::cpu::Cpu;
use crate::kernel::Kernel;
use crate::manage::Manager;
use crate::object::thread::{State, flag};
use crate::object::{Object, Thread};
use crate::port::Port;
use crate::sched::Scheduling;
use crate::system::System;
use abi::call::ThreadState;
use abi::trace::{Event, point};
use locks::{Handoff, Holding, Kind, LockPolicy};

/// What guards the kernel `S` on several CPUs.
pub(crate) type Guards<S> = <<S as System>::Port as Port>::LockPolicy;

/// A kernel entry.
pub struct Entry<S: System> {
    /// Everything that is not per CPU.
    pub kernel: &'static Kernel<S::Port>,
    /// This CPU.
    pub cpu: &'static Cpu<S::Port>,
    /// Proof of being inside.
    pub section: CriticalSection<Guards<S>>,
}

impl<S: System> Entry<S> {
    /// Enters the kernel for any work.
    ///
    /// # Safety
    /// Interrupts are off, this is the CPU of `cpu`, and it has no other entry.
    #[inline(always)]
    pub unsafe fn enter(kernel: &'static Kernel<S::Port>, cpu: &'static Cpu<S::Port>) -> Entry<S> {
        // SAFETY: passed on to the caller.
        unsafe { Entry::enter_as(kernel, cpu, Kind::Writer) }
    }

    /// Enters the kernel for work of a kind: a reader holds what it touches.
    ///
    /// # Safety
    /// As for [`Entry::enter`].
    #[inline(always)]
    pub unsafe fn enter_as(
        kernel: &'static Kernel<S::Port>,
        cpu: &'static Cpu<S::Port>,
        kind: Kind,
    ) -> Entry<S> {
        // SAFETY: passed on to the caller.
        let core = unsafe { Entry::begin(kernel, cpu, kind) };
        // A thread that is leaving for another CPU is queued there.
        core.upgrade_if(|| !Guards::<S>::EXCLUSIVE && core.is_elsewhere(cpu.current.get()));
        cpu.next.set(cpu.current.get());
        core
    }

    /// Enters the kernel for a fast path, which decides without a candidate.
    ///
    /// # Safety
    /// As for [`Entry::enter`].
    #[inline(always)]
    pub unsafe fn enter_fast(
        kernel: &'static Kernel<S::Port>,
        cpu: &'static Cpu<S::Port>,
    ) -> Entry<S> {
        // SAFETY: passed on to the caller.
        unsafe { Entry::begin(kernel, cpu, Kind::Reader) }
    }

    /// Begins a section.
    ///
    /// # Safety
    /// As for [`Entry::enter`].
    #[inline(always)]
    unsafe fn begin(
        kernel: &'static Kernel<S::Port>,
        cpu: &'static Cpu<S::Port>,
        kind: Kind,
    ) -> Entry<S> {
        const { assert!(Guards::<S>::EXCLUSIVE || cells::SHARED, "what is not held is looked at") };
        let asked = Entry::<S>::asks(kernel.port);
        let handoff = Guards::<S>::begin(&kernel.guards, &cpu.guards, kind);
        // SAFETY: begun just now; dropping the core ends it.
        let section = unsafe { CriticalSection::begun(kind) };
        S::Port::cost(CostEvent::Enter);
        let core = Entry { kernel, cpu, section };
        core.took_lock(asked, handoff, kind);
        core
    }

    /// A reader that has done nothing yet, and holds nothing, goes on as a writer.
    #[inline(always)]
    pub(crate) fn upgrade_if(&self, needed: impl Fn() -> bool) {
        if (!self.section.is_exclusive() || Guards::<S>::SPECULATIVE) && needed() {
            self.restart_as_writer();
        }
    }

    #[cold]
    #[inline(never)]
    fn restart_as_writer(&self) {
        let (shared, local) = (&self.kernel.guards, &self.cpu.guards);
        self.unlocks();
        Guards::<S>::end(shared, local, Kind::Reader);
        let asked = Entry::<S>::asks(self.kernel.port);
        let handoff = Guards::<S>::begin(shared, local, Kind::Writer);
        self.section.holding().become_kind(Kind::Writer);
        self.took_lock(asked, handoff, Kind::Writer);
    }

    /// The section has the lock, which was asked for at this instant.
    #[inline(always)]
    fn took_lock(&self, asked: u64, handoff: Handoff, kind: Kind) {
        let local = &self.cpu.guards;
        if S::Port::SMP && !(Guards::<S>::SPECULATIVE && Guards::<S>::is_speculating(local)) {
            S::Port::cost(CostEvent::Lock(handoff));
        }
        self.locked(asked, handoff, kind);
    }

    /// Opens an object that this section holds.
    #[inline(always)]
    pub fn hold<T: Object<S::Port>>(&self, at: Ref<T>) -> Guard<'_, T, Guards<S>> {
        debug_assert!(self.holds(at), "object {} is touched and not held", at.index());
        self.section.hold(at)
    }

    fn holds<T: Object<S::Port>>(&self, at: Ref<T>) -> bool {
        let holding = self.section.holding();
        self.section.is_exclusive() || at.member().lock().is_none_or(|lock| holding.has(lock))
    }

    /// Opens a thread that runs on this CPU, for what only its CPU touches.
    #[inline(always)]
    pub fn own(&self, at: Ref<Thread<S::Port>>) -> Guard<'_, Thread<S::Port>, Guards<S>> {
        self.section.hold(at)
    }

    /// A full scheduling decision.
    pub fn sched(&self) {
        self.cpu.next.set(self.cpu.look_up());
    }

    fn is_stopped(thread: Ref<Thread<S::Port>>) -> bool {
        thread.member().has(flag::SUSPENDED)
    }

    /// Whether a thread that became ready can run in the place of the candidate. One of another
    /// CPU runs there.
    #[inline(always)]
    fn takes_over(&self, thread: Ref<Thread<S::Port>>) -> bool {
        if Self::is_stopped(thread) {
            return false;
        }
        if self.is_elsewhere(thread) {
            self.wake_remotely(thread);
            return false;
        }
        true
    }

    /// Queues a thread that became runnable, behind its equals.
    #[inline(always)]
    pub fn enqueue(&self, thread: Ref<Thread<S::Port>>) {
        if self.cpu.enqueue::<false, true>(thread) {
            self.note(Event::Insert, thread, self.cpu.queue_number(), self.cpu.ready.length());
        }
    }

    /// Queues a thread that has or had the CPU, before its equals: its turn is not over.
    #[inline(always)]
    pub fn enqueue_first(&self, thread: Ref<Thread<S::Port>>) {
        self.enqueue_as::<true>(thread);
    }

    /// Queues a thread that runs in the place of one that has left the queue.
    #[inline(always)]
    pub fn enqueue_instead(&self, thread: Ref<Thread<S::Port>>) {
        self.enqueue_as::<false>(thread);
    }

    #[inline(always)]
    fn enqueue_as<const MORE: bool>(&self, thread: Ref<Thread<S::Port>>) {
        if self.cpu.enqueue::<true, MORE>(thread) {
            self.note(Event::Insert, thread, self.cpu.queue_number(), self.cpu.ready.length());
        }
    }

    /// Removes a thread from the ready queue, if it is queued.
    #[inline(always)]
    pub fn dequeue(&self, thread: Ref<Thread<S::Port>>) {
        if self.cpu.ready.remove(thread) {
            self.note(Event::Remove, thread, self.cpu.queue_number(), self.cpu.ready.length());
        }
    }

    /// `thread` became ready; the candidate goes on if it is not lower.
    #[inline(always)]
    pub fn wake(&self, thread: Ref<Thread<S::Port>>) {
        self.note(Event::Wake, thread, 0, 0);
        if Self::is_stopped(thread) {
            return;
        }
        match self.is_elsewhere(thread) {
            true => self.wake_remotely(thread),
            false => S::Scheduling::wakes(self, thread),
        }
    }

    /// [`Entry::wake`], out of line.
    #[inline(never)]
    pub fn wake_slowly(&self, thread: Ref<Thread<S::Port>>) {
        self.wake(thread);
    }

    /// `thread` became ready, or is, and the candidate makes room for it.
    #[inline(always)]
    pub fn give(&self, thread: Ref<Thread<S::Port>>) {
        self.note(Event::Wake, thread, 0, 0);
        if Self::is_stopped(thread) {
            return;
        }
        match self.is_elsewhere(thread) {
            true => self.wake_remotely(thread),
            false => S::Scheduling::gives(self, thread),
        }
    }

    /// The candidate `me` waits for the reply of `callee`, which became ready.
    #[inline(always)]
    pub fn call_over(&self, callee: Ref<Thread<S::Port>>, me: Ref<Thread<S::Port>>) {
        self.note(Event::Wake, callee, 0, 0);
        if !self.takes_over(callee) {
            self.queue(me);
        } else {
            self.blocks(me, ThreadState::Calling);
            S::Scheduling::calls(self, callee, me);
            self.donation(me, self.cpu.next.get());
        }
    }

    /// The candidate `me` waits to receive; `to`, to which it has sent, became ready.
    #[inline(always)]
    pub fn answer_over(&self, to: Ref<Thread<S::Port>>, me: Ref<Thread<S::Port>>) {
        self.note(Event::Wake, to, 0, 0);
        if !self.takes_over(to) {
            self.wait(me);
        } else {
            self.blocks(me, ThreadState::Receiving);
            S::Scheduling::answers(self, to, me);
            self.donation(me, self.cpu.next.get());
        }
    }

    /// The candidate waits to receive and nobody takes over from it.
    #[inline(always)]
    pub fn wait(&self, me: Ref<Thread<S::Port>>) {
        self.blocks(me, ThreadState::Receiving);
        S::Scheduling::waits(self, me);
    }

    /// The candidate waits to send, or for an answer, and nobody takes over from it.
    #[inline(always)]
    pub fn queue(&self, me: Ref<Thread<S::Port>>) {
        self.blocks(me, ThreadState::Sending);
        S::Scheduling::queues(self, me);
    }

    /// A thread blocks, or waits for something else from now on. One that is ready does so by
    /// itself alone: its CPU may run it meanwhile.
    #[inline(always)]
    pub(crate) fn wait_in(&self, thread: Ref<Thread<S::Port>>, state: State) {
        let body = self.hold(thread);
        debug_assert!(
            body.state.get() != State::Ready || thread == self.cpu.current.get(),
            "a ready thread is blocked by another one"
        );
        body.state.wait_in(state);
    }

    /// The candidate `me` is blocked.
    #[inline(always)]
    pub(crate) fn blocks(&self, me: Ref<Thread<S::Port>>, state: ThreadState) {
        S::Port::cost(CostEvent::Block(me.index()));
        self.note(Event::Block, me, 0, state as u16);
    }

    /// `next`, which runs in the place of `me`, does so on the time of `me` if it is lower (S0-09).
    /// The idle thread is as low as can be, and nobody's time is its.
    #[inline(always)]
    pub(crate) fn donation(&self, me: Ref<Thread<S::Port>>, next: Ref<Thread<S::Port>>) {
        let below = next.member().priority.get() < me.member().priority.get();
        if S::TRACED && next != self.cpu.idle && below {
            self.note(Event::Donate, next, me.index(), 0);
        }
    }

    /// Opens everything, for work outside the message path.
    pub fn manage(&self) -> Manager<'_, S::Port> {
        Manager { kernel: self.kernel, cpu: self.cpu, all: self.section.exclusive() }
    }

    /// Settles who runs and returns it, on the way out.
    #[inline(always)]
    pub fn leave(self) -> Ref<Thread<S::Port>> {
        if self.cpu.resched.get() {
            self.settle();
        }
        let next = self.cpu.next.get();
        let current = self.cpu.current.replace(next);
        if current != next {
            S::Port::cost(CostEvent::Switch(next.index()));
            self.switches(next, current);
        }
        self.goes_over(current, next);
        next
    }

    /// The CPU goes over to `next`.
    #[inline(always)]
    pub(crate) fn switches(&self, next: Ref<Thread<S::Port>>, from: Ref<Thread<S::Port>>) {
        self.note(Event::Switch, next, from.index(), next.member().priority.get() as u16);
    }

    #[cold]
    fn settle(&self) {
        self.cpu.resched.set(false);
        let next = self.cpu.next.get();
        let goes_on = next != self.cpu.idle && next.member().runnable() && !self.is_elsewhere(next);
        let may_lose = !goes_on || next.member().priority.get() < self.cpu.highest.get();
        if may_lose && self.cpu.poll(point::DECISION) {
            // The decision is made on the way out of that interrupt.
            self.cpu.resched.set(true);
            self.cpu.next.set(if goes_on { next } else { self.cpu.idle });
        } else if goes_on {
            if may_lose {
                self.cpu.yield_cpu(next, false);
            }
            if !self.cpu.resched.get() {
                self.cpu.rearm_if_lower(self.cpu.next.get());
            }
        } else {
            self.sched();
        }
        // Other CPUs that ask for a decision leave the tick to it.
        if S::Port::SMP && !self.cpu.ticks() && self.cpu.is_waited_for() {
            self.cpu.start_tick();
        }
    }
}

impl<S: System> Drop for Entry<S> {
    #[inline(always)]
    fn drop(&mut self) {
        self.unlocks();
        let holding = self.section.holding();
        holding.let_go();
        Guards::<S>::end(&self.kernel.guards, &self.cpu.guards, holding.kind());
        self.was_undone();
    }
}
