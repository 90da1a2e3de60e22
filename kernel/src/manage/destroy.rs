//! Destroying objects.
//!
//! The generation bump that begins it makes every capability stale, in O(1). What follows is
//! done in steps with preemption points: the object is *dying*, and the thread that destroys it
//! issues its call again, with a capability that is one generation old. Should that thread
//! vanish, any holder of such a capability, or the end of the owning domain, finishes the work.

use super::{Done, Manager};
use crate::access::{Life, Ref, Slot};
use crate::object::capability::{Cap, Capability};
use crate::object::deadlines::TimerEntry;
use crate::object::kinds::kinds;
use crate::object::memory::Frames;
use crate::object::thread::State;
use crate::object::{
    Domain, Endpoint, Interrupt, Mapping, Memory, Notification, Pooled, Reservation, Thread, Timer,
    Train,
};
use crate::port::{Port, Space, Taken};
use abi::object::Resource;
use abi::trace::Event;
use abi::{Error, Rights};
use core::sync::atomic::Ordering::Relaxed;

impl<P: Port> Manager<'_, P> {
    pub(super) fn destroy(
        &self,
        me: Ref<Thread<P>>,
        own: Ref<Domain<P>>,
        slot: u32,
    ) -> Result<Done, Error> {
        let done = match self.destroy_named(me, own, slot) {
            // Another call has finished what this one has begun.
            Err(Error::Stale) if self.is_restarted(me) => true,
            done => done?,
        };
        if !done {
            return Ok(Done::Preempted);
        }
        let domain = self.all.open(own);
        if self.cpu.notes(Event::Destroy) {
            let kind = domain.slot(slot)?.kind();
            self.cpu.note(Event::Destroy, me, kind.map_or(0, |kind| kind as u32), 0);
        }
        domain.put(&self.all, slot, Capability::Empty);
        Ok(Done::Nothing)
    }

    /// Destroys the object in a slot, or goes on with that. False: not yet.
    fn destroy_named(
        &self,
        me: Ref<Thread<P>>,
        own: Ref<Domain<P>>,
        slot: u32,
    ) -> Result<bool, Error> {
        macro_rules! destroyed {
            ($capability:expr, $($(#[$doc:meta])* $kind:ident $badge:ident $may:ident
              $destroy:ident,)*) => {
                match $capability {
                    $(Capability::$kind(cap) => {
                        self.$may(me, cap)? && self.end(cap)? && self.$destroy(cap.at)
                    })*
                    Capability::Reply(_)
                    | Capability::Console(_)
                    | Capability::System(_)
                    | Capability::Empty => return Err(Error::WrongKind),
                }
            };
        }
        let capability = self.all.open(own).slot(slot)?;
        Ok(kinds!(destroyed capability,))
    }

    /// Most objects may be destroyed at once, if the capability allows it.
    #[inline(always)]
    fn may_end<T>(&self, _me: Ref<Thread<P>>, _cap: Cap<T>) -> Result<bool, Error> {
        Ok(true)
    }

    /// There are reservations where there may be a tree. The root of a CPU is never destroyed.
    #[inline(always)]
    fn may_end_reservation(
        &self,
        _me: Ref<Thread<P>>,
        cap: Cap<Reservation<P>>,
    ) -> Result<bool, Error> {
        match P::TREE && cap.at.index() >= self.kernel.trees.roots() {
            true => Ok(true),
            false => Err(Error::WrongKind),
        }
    }

    /// A thread that destroys itself gets ready for that first. False: not yet.
    #[inline(always)]
    fn may_end_thread(&self, me: Ref<Thread<P>>, cap: Cap<Thread<P>>) -> Result<bool, Error> {
        let itself = cap.at == me && cap.check(Rights::DESTROY).is_ok();
        if P::TRAINS && itself && self.all.open(me).inside.get().is_some() {
            // It has to come out first, and would not come back to be destroyed.
            return Err(Error::WrongState);
        }
        Ok(!itself || self.gets_ready_to_end(me))
    }

    /// No domain is destroyed by a thread within.
    #[inline(always)]
    fn may_end_domain(&self, me: Ref<Thread<P>>, cap: Cap<Domain<P>>) -> Result<bool, Error> {
        match self.domains_of(me).any(|domain| self.ancestors(domain).any(|at| at == cap.at)) {
            true => Err(Error::WrongState),
            false => Ok(true),
        }
    }

    /// There are trains where a port has them. No train is destroyed by a thread that is inside.
    #[inline(always)]
    fn may_end_train(&self, me: Ref<Thread<P>>, cap: Cap<Train<P>>) -> Result<bool, Error> {
        match P::TRAINS && !self.has_entered(me, cap.at) {
            true => Ok(true),
            false => Err(Error::WrongState),
        }
    }

    /// Begins a destruction that the capability allows, or goes on with one. Always true.
    #[inline(always)]
    fn end<T>(&self, cap: Cap<T>) -> Result<bool, Error> {
        if cap.is_dying() && cap.rights.contains(Rights::DESTROY) {
            return Ok(true);
        }
        self.begin_destroy(cap.check(Rights::DESTROY)?.at);
        Ok(true)
    }

    /// Makes every capability to an object stale.
    #[inline(always)]
    fn begin_destroy<T>(&self, at: Ref<T>) {
        at.pool_slot().begin_end(&self.all);
    }

    /// [`Manager::begin_destroy`], out of line.
    pub(super) fn begin_destroy_slowly<T>(&self, at: Ref<T>) {
        self.begin_end(at.pool_slot());
    }

    #[inline(never)]
    fn begin_end(&self, slot: &Slot) {
        slot.begin_end(&self.all);
    }

    pub(super) fn wake_all(&self, mut next: impl FnMut() -> Option<Ref<Thread<P>>>) -> bool {
        while let Some(thread) = next() {
            self.cancel(thread, Error::Destroyed);
            if self.preempted() {
                return false;
            }
        }
        true
    }

    #[inline(never)]
    fn destroy_endpoint(&self, at: Ref<Endpoint<P>>) -> bool {
        let endpoint = self.all.open(at);
        let done = self.wake_all(|| {
            (self.kernel.variant.senders.first)(endpoint).or(endpoint.receivers.head())
        });
        if done {
            if P::FUTEXES && !self.dismiss_servers(at) {
                return false;
            }
            endpoint.attached.set(&self.all, None);
            endpoint.given_up.set(0);
            self.kernel.endpoints.release(&self.all, at);
        }
        done
    }

    #[inline(never)]
    fn destroy_notification(&self, at: Ref<Notification<P>>) -> bool {
        let notification = self.all.open(at);
        let done = self.wake_all(|| notification.receivers.head());
        if done {
            notification.endpoint.set(&self.all, None);
            self.kernel.notifications.release(&self.all, at);
        }
        done
    }

    #[inline(never)]
    fn destroy_interrupt(&self, at: Ref<Interrupt<P>>) -> bool {
        let irq = self.all.open(at).irq.get();
        self.kernel.port.set_irq(irq, false);
        // The console's interrupts may come on the same line, whose CPU is the first one again.
        self.kernel.port.route_irq(irq, 0);
        self.kernel.irqs[irq as usize].set(None);
        self.kernel.interrupts.release(&self.all, at);
        true
    }

    #[inline(never)]
    fn destroy_timer(&self, at: Ref<Timer<P>>) -> bool {
        let waited = self.cpu_of_timer(at).deadlines.remove(TimerEntry::Timer(at)).is_some();
        self.cpu.rearm();
        if waited && self.preempted() {
            return false;
        }
        self.all.open(at).target.set(&self.all, None);
        self.kernel.timers.release(&self.all, at);
        true
    }

    fn destroy_memory(&self, at: Ref<Memory<P>>) -> bool {
        let memory = self.all.open(at);
        while let Some(mapping) = memory.mappings.head() {
            self.begin_destroy_slowly(mapping);
            if !self.destroy_mapping(mapping) || self.preempted() {
                return false;
            }
        }
        if let Frames::Indexed(index) = memory.frames.get() {
            while memory.pages.get() > 0 {
                let page = memory.pages.get() - 1;
                let frame = self.kernel.port.frame(index)[page as usize].swap(0, Relaxed);
                if frame != 0 {
                    self.kernel.frames.give(frame);
                }
                self.refund_frame(memory);
                memory.pages.set(page);
                if self.preempted() {
                    return false;
                }
            }
            self.kernel.frames.give(index);
            self.refund_frame(memory);
            memory.frames.set(Frames::Contiguous(0));
        }
        self.kernel.memories.release(&self.all, at);
        true
    }

    fn refund_frame(&self, memory: &Memory<P>) {
        if let Some(owner) = memory.owner().get() {
            self.all.open(owner).quotas.refund(Resource::Frames, 1);
        }
    }

    fn destroy_thread(&self, at: Ref<Thread<P>>) -> bool {
        let thread = self.all.open(at);
        // A thread that destroys itself does not come back to finish.
        let comes_back = at != self.cpu.current.get();
        self.stop(at);
        let waited = thread.state.get() != State::Ready;
        self.cancel(at, Error::Destroyed);
        self.dequeue(at);
        if waited && comes_back && self.preempted() {
            return false;
        }
        // Its heirs run behind it, not beside it.
        if !self.is_off_cpu(at) || (P::FUTEXES && !self.bequeath(at)) {
            return false;
        }
        let owed = thread.caller.get().is_some();
        self.abandon(at, Error::Destroyed);
        if owed && comes_back && self.preempted() {
            return false;
        }
        while P::TRAINS && !self.bring_home(at, Error::Destroyed) {
            if comes_back {
                return false;
            }
        }
        if P::TREE {
            self.kernel.trees.end_job(&self.all, at, self.kernel.port.now());
        }
        self.cpu.resched.set(true);
        self.kernel.port.forget(&self.cpu.local, &thread.context);
        let mapped = thread.buffer_at.get() != 0;
        if !self.unmap_buffer(at) || (mapped && comes_back && self.preempted()) {
            return false;
        }
        let target = self.all.open(thread.domain.get());
        target.threads.set(target.threads.get() - 1);
        if P::FUTEXES {
            self.forget_follower(at);
        }
        self.kernel.threads.release(&self.all, at);
        true
    }

    /// What ends with the calling thread and takes long, or is waited for, ends while it lives:
    /// once stopped it would not come back. False: not yet.
    fn gets_ready_to_end(&self, me: Ref<Thread<P>>) -> bool {
        self.gives_up_all(me) && (!P::SMP || self.unmap_buffer(me))
    }

    /// The calling thread gives up all that others wait for: what it owns, those that it helps, and
    /// the caller that it owes an answer. False: not yet.
    pub(crate) fn gives_up_all(&self, me: Ref<Thread<P>>) -> bool {
        if P::FUTEXES && !self.bequeath(me) {
            return false;
        }
        let owed = self.all.open(me).caller.get().is_some();
        self.abandon(me, Error::Destroyed);
        !(owed && self.preempted())
    }

    /// Unmaps a thread's message buffer. False: a CPU may still hold it.
    fn unmap_buffer(&self, at: Ref<Thread<P>>) -> bool {
        let thread = self.all.open(at);
        let domain = thread.domain.get();
        if thread.buffer_at.get() != 0 {
            self.unmap_page(domain, thread.buffer_at.get(), &thread.shootdown);
            thread.buffer_at.set(0);
        }
        self.is_gone(domain, &thread.shootdown)
    }

    /// Destroys a domain with everything in it or charged to it. Domains inside it come first.
    fn destroy_domain(&self, root: Ref<Domain<P>>) -> bool {
        loop {
            let at = self.innermost(root);
            if !self.sweep(at) {
                return false;
            }
            let domain = self.all.open(at);
            if let Some(parent) = domain.owner().get() {
                let parent = self.all.open(parent);
                parent.inner.remove(at);
                parent.quotas.reclaim(&domain.quotas);
            }
            domain.quotas.clear();
            domain.limit.set(&self.all, 0);
            self.kernel.domains.release(&self.all, at);
            if at == root {
                return true;
            }
            if self.preempted() {
                return false;
            }
        }
    }

    /// A domain inside `root` that has none inside itself: at most a few levels down.
    fn innermost(&self, root: Ref<Domain<P>>) -> Ref<Domain<P>> {
        let mut at = root;
        while let Some(inner) = self.all.open(at).inner.head() {
            self.begin_destroy_slowly(inner);
            at = inner;
        }
        at
    }

    /// Empties a domain: trains, threads, then mappings, other objects, capabilities and page
    /// tables. False: an interrupt is pending.
    fn sweep(&self, at: Ref<Domain<P>>) -> bool {
        let domain = self.all.open(at);
        let kernel = self.kernel;
        let own = |owner: &cells::Cell<Option<Ref<Domain<P>>>>| owner.get() == Some(at);
        // The calling thread, if it is to end too, waits while it lives.
        let me = self.cpu.current.get();
        if own(self.all.open(me).owner()) {
            if P::FUTEXES && !self.bequeath(me) {
                return false;
            }
            if P::SMP && !self.unmap_buffer(me) {
                return false;
            }
        }
        loop {
            let (stage, index) = domain.sweep.get();
            macro_rules! objects {
                ($pool:ident, $destroy:ident, $also:expr) => {
                    match kernel.$pool.get(index) {
                        Some(object) if object.life() != Life::Vacant => {
                            let body = self.all.open(object);
                            if own(body.owner()) || $also(object) {
                                self.begin_destroy_slowly(object);
                                if !self.$destroy(object) {
                                    return false;
                                }
                            }
                            true
                        }
                        Some(_) => true,
                        None => false,
                    }
                };
            }
            let more = match stage {
                0 if P::TRAINS => objects!(trains, destroy_train, |_| false),
                0 => false,
                1 => objects!(threads, destroy_thread, |thread| self.home_of(thread) == at),
                2 => objects!(mappings, destroy_mapping, |mapping: Ref<Mapping<P>>| {
                    self.all.open(mapping).domain.get() == Some(at)
                }),
                3 => objects!(endpoints, destroy_endpoint, |_| false),
                4 => objects!(notifications, destroy_notification, |_| false),
                5 => objects!(interrupts, destroy_interrupt, |_| false),
                6 => objects!(timers, destroy_timer, |_| false),
                7 => objects!(memories, destroy_memory, |_| false),
                8 if P::TREE => objects!(reservations, destroy_reservation, |_| false),
                8 => false,
                9 => self.sweep_slot(domain, index),
                10 if !self.is_unloaded(at) => return false,
                10 => match domain.space.take_table(kernel.port) {
                    Taken::Table(table) => {
                        kernel.tables.give(table);
                        true
                    }
                    Taken::Searching => true,
                    Taken::Nothing => false,
                },
                _ => return true,
            };
            domain.sweep.set(if more { (stage, index + 1) } else { (stage + 1, 0) });
            if self.preempted() {
                return false;
            }
        }
    }

    fn sweep_slot(&self, domain: &Domain<P>, index: u32) -> bool {
        let Some(cell) = domain.slots.get(index as usize) else { return false };
        let capability = cell.get();
        cell.set(&self.all, Capability::Empty);
        self.drop_capability(capability);
        true
    }
}
