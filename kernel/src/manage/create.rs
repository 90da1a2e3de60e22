//! Making objects: phase one checks slot, quota and arguments, then nothing can fail.

use super::capabilities::slot;
use super::futex::identity;
use super::{Done, Manager};
use crate::access::{Life, Ref};
use crate::object::capability::{Cap, Capability};
use crate::object::inherit::NO_CEILING;
use crate::object::memory::{Frames, MAX_PAGES};
use crate::object::thread::{Begins, Continuation, Turn, flag};
use crate::object::{Domain, Endpoint, Notification, Pooled, Thread, Weak};
use crate::pool::Pool;
use crate::port::{Context, Port, Space};
use crate::quota::Counts;
use abi::object::Resource;
use abi::trace::Event;
use abi::{Error, PRIORITIES, Rights};

/// Domains nest at most this deep, so that finding a domain's ancestors is bounded.
const MAX_DEPTH: usize = 8;

/// Unhandled faults that the console is told of, per domain of the manifest: writing takes the
/// kernel's time.
const FAULT_REPORTS: u32 = 16;

impl<P: Port> Manager<'_, P> {
    /// Checks that `own` can have one more object of a kind, named by the empty slot `to`. A
    /// domain that is being destroyed cannot: the sweep would not come back for it.
    pub(super) fn room<T: Pooled<P>>(
        &self,
        own: Ref<Domain<P>>,
        pool: &'static Pool<T>,
        to: u32,
    ) -> Result<(), Error> {
        self.room_for(own, T::RESOURCE, to)?;
        pool.check()
    }

    #[inline(never)]
    fn room_for(&self, own: Ref<Domain<P>>, resource: Resource, to: u32) -> Result<(), Error> {
        if own.life() != Life::Live {
            return Err(Error::WrongState);
        }
        let domain = self.all.open(own);
        domain.empty(to)?;
        domain.quotas.check(resource, 1)
    }

    pub(super) fn create_endpoint(
        &self,
        own: Ref<Domain<P>>,
        to: u32,
        notification: u64,
    ) -> Result<Done, Error> {
        self.room(own, &self.kernel.endpoints, to)?;
        let domain = self.all.open(own);
        let attached = match notification {
            0 => None,
            word => Some(domain.named::<Notification<P>>(slot(word)?, Rights::RECEIVE)?.at),
        };
        if let Some(notification) = attached {
            // Signals go to one endpoint: those who wait on an earlier one would sleep for ever.
            let endpoint = self.all.open(notification).endpoint.get();
            if endpoint.and_then(|weak| weak.get()).is_some() {
                return Err(Error::WrongState);
            }
        }
        let at = self.kernel.endpoints.take(&self.all, Some(own));
        self.attach(at, attached);
        domain.put_slowly(&self.all, to, Capability::Endpoint(Cap::new(at, Rights::ALL, 0)));
        Ok(Done::Nothing)
    }

    /// Ties an endpoint and a notification together.
    pub(crate) fn attach(
        &self,
        endpoint: Ref<Endpoint<P>>,
        notification: Option<Ref<Notification<P>>>,
    ) {
        self.all.open(endpoint).attached.set(&self.all, notification.map(Weak::new));
        if let Some(notification) = notification {
            self.all.open(notification).endpoint.set(&self.all, Some(Weak::new(endpoint)));
        }
    }

    pub(super) fn create_notification(&self, own: Ref<Domain<P>>, to: u32) -> Result<Done, Error> {
        self.room(own, &self.kernel.notifications, to)?;
        let at = self.kernel.notifications.take(&self.all, Some(own));
        self.reset_notification(at);
        self.all.open(own).put_slowly(
            &self.all,
            to,
            Capability::Notification(Cap::new(at, Rights::ALL, 0)),
        );
        Ok(Done::Nothing)
    }

    /// Readies a notification's pool slot.
    pub(crate) fn reset_notification(&self, at: Ref<Notification<P>>) {
        let notification = self.all.open(at);
        notification.bits.set(0);
        notification.endpoint.set(&self.all, None);
    }

    pub(super) fn create_timer(
        &self,
        own: Ref<Domain<P>>,
        to: u32,
        target: u64,
    ) -> Result<Done, Error> {
        self.room(own, &self.kernel.timers, to)?;
        let domain = self.all.open(own);
        let target = domain.named::<Notification<P>>(slot(target)?, Rights::SEND)?;
        let at = self.kernel.timers.take(&self.all, Some(own));
        let timer = self.all.open(at);
        timer.target.set(&self.all, Some(Weak::new(target.at)));
        timer.badge.set(&self.all, target.badge);
        domain.put_slowly(&self.all, to, Capability::Timer(Cap::new(at, Rights::ALL, 0)));
        Ok(Done::Nothing)
    }

    pub(super) fn create_memory(
        &self,
        own: Ref<Domain<P>>,
        to: u32,
        pages: u64,
    ) -> Result<Done, Error> {
        if pages == 0 || pages > MAX_PAGES {
            return Err(Error::InvalidArgument);
        }
        self.room(own, &self.kernel.memories, to)?;
        let domain = self.all.open(own);
        let frames = pages as u32 + 1;
        domain.quotas.check(Resource::Frames, frames)?;
        if !self.prepare(self.kernel.frames.next()) {
            return Ok(Done::Preempted);
        }
        domain.quotas.charge(Resource::Frames, frames);
        let at = self.kernel.memories.take(&self.all, Some(own));
        let memory = self.all.open(at);
        memory.pages.set(pages);
        memory.frames.set(Frames::Indexed(self.kernel.frames.take(self.kernel.port)));
        domain.put_slowly(&self.all, to, Capability::Memory(Cap::new(at, Rights::ALL, 0)));
        Ok(Done::Nothing)
    }

    pub(super) fn create_thread(
        &self,
        own: Ref<Domain<P>>,
        args: &[u64; 6],
    ) -> Result<Done, Error> {
        let to = slot(args[0])?;
        self.room(own, &self.kernel.threads, to)?;
        let domain = self.all.open(own);
        let target = self.domain_or_own(own, args[1])?;
        let limit = domain.max_priority.get().min(self.all.open(target).max_priority.get());
        let priority = checked_priority(args[2], limit)?;
        let handler = match args[4] {
            0 => None,
            word => Some(domain.named::<Endpoint<P>>(slot(word)?, Rights::SEND)?),
        };
        let missing = self.check_buffer(target, args[3])?;
        let unprepared = args[3] != 0 && !self.prepare_buffer(target, args[3], missing)?;
        if unprepared || self.makes_room() {
            return Ok(Done::Preempted);
        }
        let at = self.kernel.threads.take(&self.all, Some(own));
        self.set_up_thread(at, target, priority, args[3]);
        let thread = self.all.open(at);
        thread.handler.set(handler.map(|cap| Weak::new(cap.at)));
        thread.handler_badge.set(handler.map_or(0, |cap| cap.badge));
        domain.put(&self.all, to, Capability::Thread(Cap::new(at, Rights::ALL, 0)));
        Ok(Done::Nothing)
    }

    /// Checks that a message buffer can be mapped at `at` in `target`; 0 is none. Returns how many
    /// page tables are missing for it.
    pub(crate) fn check_buffer(&self, target: Ref<Domain<P>>, at: u64) -> Result<usize, Error> {
        if at == 0 {
            return Ok(0);
        }
        if !at.is_multiple_of(P::PAGE) || at >= P::USER_TOP {
            return Err(Error::BadAddress);
        }
        let missing = self.check_tables(target, at, 1)?;
        if missing == 0 && self.all.open(target).space.is_mapped(self.kernel.port, at) {
            return Err(Error::AddressInUse);
        }
        Ok(missing)
    }

    /// Readies page tables and frame of the next thread's message buffer. False: an interrupt is
    /// pending.
    fn prepare_buffer(
        &self,
        target: Ref<Domain<P>>,
        at: u64,
        missing: usize,
    ) -> Result<bool, Error> {
        let next = self.kernel.threads.free_slot();
        let buffer = next.map(|thread| self.all.open(thread).fresh_buffer());
        if missing > 0 && (self.makes_room() || !self.add_tables(target, at)?) {
            return Ok(false);
        }
        Ok(self.prepare(buffer))
    }

    /// Readies a thread's pool slot: suspended, all registers zero, its buffer mapped.
    pub(crate) fn set_up_thread(
        &self,
        at: Ref<Thread<P>>,
        target: Ref<Domain<P>>,
        priority: u8,
        buffer_at: u64,
    ) {
        let thread = self.all.open(at);
        let domain = self.all.open(target);
        domain.threads.set(domain.threads.get() + 1);
        thread.context.reset();
        thread.reset();
        thread.mark(flag::SUSPENDED | flag::FULL);
        let priority = i16::from(priority);
        thread.base_priority.set(&self.all, priority);
        thread.own_priority.set(&self.all, priority);
        thread.priority.set(&self.all, self.kernel.variant.effective(priority));
        if P::FUTEXES {
            thread.inherit.ceiling.set(NO_CEILING);
            thread.inherit.serves.set(0);
        }
        if P::TREE {
            thread.begins.set(&self.all, Begins::Started);
            thread.reservation.set(&self.all, domain.reservation.get());
        }
        thread.domain.set(&self.all, target);
        thread.set_caller(None);
        thread.server.set(None);
        if P::SMP {
            thread.cpu.set(&self.all, self.first_cpu(domain));
        }
        thread.slice.set(&self.all, self.cpu.slice());
        thread.turn.set(&self.all, Turn::NONE);
        let mut outgoing = thread.outgoing.get();
        outgoing.then = Continuation::Nothing;
        thread.outgoing.set(outgoing);
        thread.buffer_at.set(buffer_at);
        self.begin_time(at.index());
        self.cpu.note(Event::Thread, at, target.index(), priority as u16);
        if buffer_at != 0 {
            let frame = thread.fresh_buffer().finish(self.kernel.port);
            let rights = Rights::READ.or(Rights::WRITE);
            let mapped = self.map_page(target, buffer_at, frame, rights);
            assert!(mapped, "the buffer's address was free");
        } else {
            thread.zeroing.set(0);
        }
    }

    pub(super) fn create_domain(
        &self,
        me: Ref<Thread<P>>,
        own: Ref<Domain<P>>,
        to: u32,
        args: &[u64; 6],
    ) -> Result<Done, Error> {
        self.room(own, &self.kernel.domains, to)?;
        if self.ancestors(own).count() >= MAX_DEPTH {
            return Err(Error::InvalidArgument);
        }
        let parent = self.all.open(own);
        let max_priority = checked_priority(args[2], parent.max_priority.get())?;
        let cpus = if args[3] == 0 { parent.cpus.get() } else { args[3] };
        if cpus & !parent.cpus.get() != 0 {
            return Err(Error::CpuNotAllowed);
        }
        if P::TREE {
            self.check_cpus(parent.reservation.get(), cpus)?;
        }
        let words = self.all.open(me).context.words();
        let mut quotas: Counts = [0; Resource::COUNT];
        for (four, word) in quotas.chunks_mut(4).zip(words) {
            for (index, quota) in four.iter_mut().enumerate() {
                *quota = u32::from((word >> (16 * index)) as u16);
            }
        }
        // The quota of slots comes on top of the domain's own table.
        let table = u32::try_from(args[1]).unwrap_or(u32::MAX);
        let slots = &mut quotas[Resource::Slots as usize];
        *slots = slots.saturating_add(table);
        parent.quotas.check_all(&quotas)?;
        parent.quotas.check(Resource::Domains, quotas[Resource::Domains as usize] + 1)?;
        let at = self.kernel.domains.free_slot().ok_or(Error::PoolExhausted)?;
        if args[1] == 0 || args[1] > self.all.open(at).slots.len() as u64 {
            return Err(Error::InvalidArgument);
        }
        if self.makes_room() {
            return Ok(Done::Preempted);
        }
        let at = self.kernel.domains.take(&self.all, Some(own));
        parent.quotas.charge_all(&quotas);
        self.set_up_domain(at, max_priority, (table, cpus), &quotas);
        parent.inner.push_back(at);
        if P::TRACE & Event::Domain.bit() != 0 {
            self.cpu.note(Event::Domain, me, at.index(), self.outermost(own).index() as u16);
        }
        parent.put_slowly(&self.all, to, Capability::Domain(Cap::new(at, Rights::ALL, 0)));
        Ok(Done::Nothing)
    }

    /// Readies a domain's pool slot; its capability table is charged to it at once.
    pub(crate) fn set_up_domain(
        &self,
        at: Ref<Domain<P>>,
        max_priority: u8,
        (slots, cpus): (u32, u64),
        quotas: &Counts,
    ) {
        let domain = self.all.open(at);
        domain.quotas.set_limits(quotas);
        domain.quotas.charge(Resource::Slots, slots);
        domain.limit.set(&self.all, slots);
        domain.max_priority.set(max_priority);
        domain.cpus.set(cpus);
        domain.reports.set(FAULT_REPORTS);
        if P::FUTEXES {
            domain.key.set(&self.all, identity::key_of_domain(self.kernel.secret, at));
        }
        if P::TREE {
            domain.reservation.set(self.inherited(domain));
        }
        domain.name.set([0; 2]);
        domain.sweep.set((0, 0));
    }

    /// The domain and those that own it, from the inside out.
    pub(super) fn ancestors(
        &self,
        domain: Ref<Domain<P>>,
    ) -> impl Iterator<Item = Ref<Domain<P>>> + '_ {
        core::iter::successors(Some(domain), |at| self.all.open(*at).owner().get())
    }

    /// The domain of the manifest that the domain is in, or is.
    #[inline(never)]
    pub(crate) fn outermost(&self, domain: Ref<Domain<P>>) -> Ref<Domain<P>> {
        self.ancestors(domain).last().unwrap_or(domain)
    }
}

/// A priority argument that is at most `limit`.
pub(in crate::manage) fn checked_priority(word: u64, limit: u8) -> Result<u8, Error> {
    if word >= PRIORITIES as u64 {
        return Err(Error::InvalidArgument);
    }
    if word > u64::from(limit) { Err(Error::PriorityTooHigh) } else { Ok(word as u8) }
}
