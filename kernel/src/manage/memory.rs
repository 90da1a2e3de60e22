//! Mapping memory, page by page with preemption points.

use super::capabilities::slot;
use super::{Done, Manager};
use crate::access::{Life, Ref};
use crate::frames::Fresh;
use crate::object::capability::{Cap, Capability};
use crate::object::memory::{Frames, MAX_PAGES};
use crate::object::{Domain, Mapping, Memory, Thread};
use crate::port::{Mapped, Port, Space};
use abi::object::Resource;
use abi::{Error, Rights};
use cells::Cell;
use core::sync::atomic::Ordering::Relaxed;

/// A range to map, checked.
pub(crate) struct Range {
    pub at: u64,
    pub first: u64,
    pub pages: u64,
    pub rights: Rights,
}

impl<P: Port> Manager<'_, P> {
    pub(super) fn map(
        &self,
        me: Ref<Thread<P>>,
        own: Ref<Domain<P>>,
        args: &[u64; 6],
    ) -> Result<Done, Error> {
        let domain = self.all.open(own);
        let to = args[5] as u32;
        if let Ok(Capability::Mapping(cap)) = domain.slot(to) {
            return self.resume_map(me, own, to, cap, args[2]);
        }
        let target = self.domain_or_own(own, args[0])?;
        let memory = domain.named::<Memory<P>>(slot(args[1])?, Rights::NONE)?;
        let rights = Rights((args[5] >> 32) as u8);
        let range = Range { at: args[2], first: args[4], pages: args[3], rights };
        self.check_range(memory.at, &range)?;
        check_mapping_rights(rights, memory.rights)?;
        self.check_tables(target, range.at, range.pages)?;
        self.room(own, &self.kernel.mappings, to)?;
        let at = self.make_mapping(Some(own), target, memory.at, &range, memory.rights);
        let cap = Cap::new(at, Rights::ALL, 0);
        domain.put(&self.all, to, Capability::Mapping(cap));
        if self.preempted() {
            return Ok(Done::Preempted);
        }
        self.continue_map(own, to, cap)
    }

    fn check_range(&self, memory: Ref<Memory<P>>, range: &Range) -> Result<(), Error> {
        let size = self.all.open(memory).pages.get();
        if range.pages == 0 || range.pages > MAX_PAGES {
            return Err(Error::InvalidArgument);
        }
        if range.first >= size || range.pages > size - range.first {
            return Err(Error::InvalidArgument);
        }
        let aligned = range.at.is_multiple_of(P::PAGE) && range.at >= P::PAGE;
        if !aligned || range.at >= P::USER_TOP || range.pages * P::PAGE > P::USER_TOP - range.at {
            return Err(Error::BadAddress);
        }
        Ok(())
    }

    /// Checks that a domain may have the page tables that a range takes. Returns how many of them
    /// are missing.
    pub(crate) fn check_tables(
        &self,
        target: Ref<Domain<P>>,
        at: u64,
        pages: u64,
    ) -> Result<usize, Error> {
        let domain = self.all.open(target);
        let missing = domain.space.missing(self.kernel.port, at, pages);
        domain.quotas.check(Resource::Tables, missing as u32)?;
        Ok(missing)
    }

    /// Makes a mapping object, without pages yet.
    pub(crate) fn make_mapping(
        &self,
        owner: Option<Ref<Domain<P>>>,
        target: Ref<Domain<P>>,
        memory: Ref<Memory<P>>,
        range: &Range,
        limit: Rights,
    ) -> Ref<Mapping<P>> {
        let at = self.kernel.mappings.take(&self.all, owner);
        let mapping = self.all.open(at);
        mapping.memory.set(Some(memory));
        mapping.domain.set(Some(target));
        mapping.at.set(range.at);
        mapping.first.set(range.first);
        mapping.pages.set(range.pages);
        mapping.done.set(0);
        mapping.protected.set(range.pages);
        mapping.why.set(Error::Destroyed);
        mapping.limit.set(limit);
        mapping.rights.set(range.rights);
        self.all.open(memory).mappings.push_back(at);
        self.all.open(target).mappings.push_back(at);
        at
    }

    /// Goes on with a mapping that was preempted. Other threads have run in between: memory or
    /// domain may have ended, and the mapping with them.
    fn resume_map(
        &self,
        me: Ref<Thread<P>>,
        own: Ref<Domain<P>>,
        to: u32,
        cap: Cap<Mapping<P>>,
        at: u64,
    ) -> Result<Done, Error> {
        let mapping = self.all.open(cap.at);
        let dying = cap.is_dying();
        if !dying && cap.check(Rights::NONE).is_err() && self.is_restarted(me) {
            self.all.open(own).put(&self.all, to, Capability::Empty);
            return Err(Error::Destroyed);
        }
        let begun = dying || (cap.check(Rights::NONE).is_ok() && !mapping.is_complete());
        if !begun || mapping.at.get() != at {
            return Err(Error::SlotOccupied);
        }
        if dying {
            return self.undo_map(own, to, cap);
        }
        self.continue_map(own, to, cap)
    }

    /// Maps the pages that are missing. A mapping that meets a page in use, or the end of a quota
    /// that other threads have used meanwhile, is undone.
    fn continue_map(
        &self,
        own: Ref<Domain<P>>,
        to: u32,
        cap: Cap<Mapping<P>>,
    ) -> Result<Done, Error> {
        match self.map_pages(cap.at) {
            Ok(true) => Ok(Done::Nothing),
            Ok(false) => Ok(Done::Preempted),
            Err(error) => {
                self.all.open(cap.at).why.set(error);
                self.begin_destroy_slowly(cap.at);
                if self.preempted() {
                    return Ok(Done::Preempted);
                }
                self.undo_map(own, to, cap)
            }
        }
    }

    /// Undoes a dying mapping that is not completed, and says why.
    fn undo_map(&self, own: Ref<Domain<P>>, to: u32, cap: Cap<Mapping<P>>) -> Result<Done, Error> {
        let why = self.all.open(cap.at).why.get();
        if !self.destroy_mapping(cap.at) {
            return Ok(Done::Preempted);
        }
        self.all.open(own).put(&self.all, to, Capability::Empty);
        Err(why)
    }

    /// Maps pages until all are (`true`), an interrupt is pending (`false`), one is in use or a
    /// page table is too many.
    pub(crate) fn map_pages(&self, at: Ref<Mapping<P>>) -> Result<bool, Error> {
        let mapping = self.all.open(at);
        let (Some(memory), Some(target)) = (mapping.memory.get(), mapping.domain.get()) else {
            return Err(Error::WrongState);
        };
        loop {
            let page = mapping.done.get();
            let address = mapping.at.get() + page * P::PAGE;
            let Some(frame) = self.frame_of(memory, mapping.first.get() + page) else {
                return Ok(false);
            };
            let space = &self.all.open(target).space;
            match space.map(self.kernel.port, address, frame, mapping.rights.get()) {
                Mapped::Done => {}
                Mapped::InUse => return Err(Error::AddressInUse),
                Mapped::NoTable if self.add_tables(target, address)? => continue,
                Mapped::NoTable => return Ok(false),
            }
            mapping.done.set(page + 1);
            if page + 1 == mapping.pages.get() {
                return Ok(true);
            }
            if self.preempted() {
                return Ok(false);
            }
        }
    }

    /// The frame of one page, taken from the pool when it is first asked for. `None`: an
    /// interrupt is pending.
    fn frame_of(&self, memory: Ref<Memory<P>>, page: u64) -> Option<u64> {
        match self.all.open(memory).frames.get() {
            Frames::Contiguous(base) => Some(base + page * P::PAGE),
            Frames::Indexed(index) => {
                let entry = &self.kernel.port.frame(index)[page as usize];
                if entry.load(Relaxed) == 0 {
                    if !self.prepare(self.kernel.frames.next()) {
                        return None;
                    }
                    entry.store(self.kernel.frames.take(self.kernel.port), Relaxed);
                }
                Some(entry.load(Relaxed))
            }
        }
    }

    /// Zeroes a free frame that is about to come into use. False: an interrupt is pending; the next
    /// attempt, by any thread, goes on from there.
    #[inline(never)]
    pub(super) fn prepare(&self, fresh: Option<Fresh>) -> bool {
        let Some(fresh) = fresh else { return true };
        while fresh.step(self.kernel.port) {
            if self.preempted() {
                return false;
            }
        }
        true
    }

    /// Adds the page tables that an address lacks, one after another; the domain is charged for
    /// them. False: an interrupt is pending.
    pub(crate) fn add_tables(&self, target: Ref<Domain<P>>, at: u64) -> Result<bool, Error> {
        let (domain, kernel) = (self.all.open(target), self.kernel);
        while domain.space.missing(kernel.port, at, 1) > 0 {
            domain.quotas.check(Resource::Tables, 1)?;
            if !self.prepare(kernel.tables.next()) {
                return Ok(false);
            }
            self.add_table(target, at);
            if self.preempted() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn add_table(&self, target: Ref<Domain<P>>, at: u64) {
        let (domain, kernel) = (self.all.open(target), self.kernel);
        domain.quotas.charge(Resource::Tables, 1);
        domain.space.add_table(kernel.port, at, kernel.tables.take(kernel.port));
    }

    /// Maps one page, and adds the page tables that it lacks. False: its address is in use.
    pub(crate) fn map_page(
        &self,
        target: Ref<Domain<P>>,
        at: u64,
        frame: u64,
        rights: Rights,
    ) -> bool {
        loop {
            match self.all.open(target).space.map(self.kernel.port, at, frame, rights) {
                Mapped::Done => return true,
                Mapped::InUse => return false,
                Mapped::NoTable => self.add_table(target, at),
            }
        }
    }

    /// Changes the rights of a mapping's pages; the call is back when no CPU has the old ones. What
    /// it waits for then is the caller's own, so that callers do not begin anew for each other.
    pub(super) fn protect(
        &self,
        me: Ref<Thread<P>>,
        own: Ref<Domain<P>>,
        slot: u32,
        rights: Rights,
    ) -> Result<Done, Error> {
        let cap = self.all.open(own).named::<Mapping<P>>(slot, Rights::CONTROL)?;
        let mapping = self.all.open(cap.at);
        check_mapping_rights(rights, mapping.limit.get())?;
        let (Some(target), pages) = (mapping.domain.get(), mapping.pages.get()) else {
            return Err(Error::WrongState);
        };
        if mapping.done.get() != pages {
            return Err(Error::WrongState);
        }
        let caller = self.all.open(me);
        if !self.is_restarted(me) {
            caller.ticket.set(None);
            caller.protected.set(0);
        }
        let done = match P::SMP {
            true => self.protect_everywhere(caller, mapping, target, rights),
            false => self.protect_pages(mapping, target, rights, &caller.protected),
        };
        Ok(if done { Done::Nothing } else { Done::Preempted })
    }

    /// Changes the rights of the pages until no CPU has the old ones. False: not yet.
    fn protect_everywhere(
        &self,
        caller: &Thread<P>,
        mapping: &Mapping<P>,
        target: Ref<Domain<P>>,
        rights: Rights,
    ) -> bool {
        let requested = &caller.ticket;
        if requested.get().is_none() {
            if !self.protect_pages(mapping, target, rights, &caller.protected) {
                return false;
            }
            requested.set(self.request(target, &mapping.shootdown));
        }
        self.is_complete(target, &mapping.shootdown, requested.get())
    }

    /// Changes the rights of the pages behind those that this call has changed. False: it is to
    /// make room. How far it came is the caller's own: of two who change one mapping both get on,
    /// and a page has the rights of the one who came to it last.
    fn protect_pages(
        &self,
        mapping: &Mapping<P>,
        target: Ref<Domain<P>>,
        rights: Rights,
        done: &Cell<u64>,
    ) -> bool {
        let pages = mapping.pages.get();
        if done.get() == 0 {
            mapping.rights.set(rights);
            mapping.protected.set(0);
        }
        while done.get() < pages {
            let page = done.get();
            let address = mapping.at.get() + page * P::PAGE;
            self.protect_page(target, address, rights, &mapping.shootdown);
            mapping.note_rights(page, rights);
            done.set(page + 1);
            if page + 1 < pages && self.preempted() {
                return false;
            }
        }
        true
    }

    /// Undoes a dying mapping. False: an interrupt is pending.
    pub(crate) fn destroy_mapping(&self, at: Ref<Mapping<P>>) -> bool {
        assert!(at.life() == Life::Dying, "undone without being destroyed");
        let mapping = self.all.open(at);
        if let (Some(memory), Some(target)) = (mapping.memory.get(), mapping.domain.get()) {
            while mapping.done.get() > 0 {
                let page = mapping.done.get() - 1;
                let address = mapping.at.get() + page * P::PAGE;
                self.unmap_page(target, address, &mapping.shootdown);
                mapping.done.set(page);
                if page > 0 && self.preempted() {
                    return false;
                }
            }
            if !self.is_gone(target, &mapping.shootdown) {
                return false;
            }
            self.all.open(memory).mappings.remove(at);
            self.all.open(target).mappings.remove(at);
        }
        self.kernel.mappings.release(&self.all, at);
        true
    }
}

/// Checks the rights of a mapping: readable, not both writable and executable, within `limit`.
pub(crate) fn check_mapping_rights(rights: Rights, limit: Rights) -> Result<(), Error> {
    if rights.contains(Rights::WRITE.or(Rights::EXECUTE)) {
        return Err(Error::WriteExecute);
    }
    let known = Rights::READ.or(Rights::WRITE).or(Rights::EXECUTE);
    if !rights.contains(Rights::READ) || !known.contains(rights) {
        return Err(Error::InvalidArgument);
    }
    if limit.contains(rights) { Ok(()) } else { Err(Error::MissingRight) }
}
