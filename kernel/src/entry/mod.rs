//! One entry into the kernel, for one kernel: the state, the CPU and the critical section.

mod notes;
mod scheduling;

use crate::access::{CriticalSection, Guard, Ref};
use crate::cost::CostEvent;
use crate::cpu::Cpu;
use crate::kernel::Kernel;
use crate::object::thread::State;
use crate::object::{Lockable, Thread};
use crate::port::Port;
use crate::sched::Scheduler;
use crate::system::System;
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
        // A thread that is leaving for another CPU is queued there, and those that are to follow a
        // change of waits may be of any.
        core.upgrade_if(|| {
            let open = !Guards::<S>::EXCLUSIVE;
            open && (core.is_elsewhere(cpu.current.get()) || cpu.waits.has_followers())
        });
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
        let kind = if S::Scheduler::TREE { Kind::Writer } else { kind };
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

    /// A reader that has done nothing yet, and holds nothing, goes on as a writer; so does a
    /// section that may be undone.
    #[inline(always)]
    pub(crate) fn upgrade_if(&self, needed: impl Fn() -> bool) {
        if (!self.section.is_exclusive() || self.cpu.is_undoable()) && needed() {
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
        if S::Port::SMP && !self.cpu.is_undoable() {
            S::Port::cost(CostEvent::Lock(handoff));
        }
        self.locked(asked, handoff, kind);
    }

    /// Opens an object that this section holds.
    #[inline(always)]
    pub fn hold<T: Lockable<S::Port>>(&self, at: Ref<T>) -> Guard<'_, T, Guards<S>> {
        debug_assert!(self.holds(at), "object {} is touched and not held", at.index());
        self.section.hold(at)
    }

    fn holds<T: Lockable<S::Port>>(&self, at: Ref<T>) -> bool {
        self.section.is_exclusive() || self.section.holding().has(T::lock(at.header()))
    }

    /// Opens a thread that runs on this CPU, for what only its CPU touches.
    #[inline(always)]
    pub fn own(&self, at: Ref<Thread<S::Port>>) -> Guard<'_, Thread<S::Port>, Guards<S>> {
        self.section.hold(at)
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
        body.wait_in(state);
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
