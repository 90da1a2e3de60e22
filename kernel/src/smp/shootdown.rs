//! TLB shootdown (S1-04): what is taken away in page tables is gone from the TLB of every CPU
//! before its frames are used for anything else.
//!
//! Each object whose pages may be changed has a [`Shootdown`]. Page tables change only with a
//! [`Change`], which the shootdown notes, and a change makes every earlier ticket of the object
//! worthless. Behind the last change a request is issued: CPUs that have the domain's tables loaded
//! are interrupted and flush their TLB, and its [`Ticket`] is complete when each has. The CPU that
//! made all changes has invalidated page by page and is left out; if a call went on from another
//! CPU there is no such CPU.
//!
//! A CPU holds translations of the tables that it has loaded and of no others ([`Cpu::loads`]).
//! Callers take pages away with [`Manager::unmap_page`] and [`Manager::protect_page`], and then wait
//! for a ticket; how TLBs are reached is the business of [`Space`] and of this file.

use crate::access::Ref;
use crate::cpu::Cpu;
use crate::entry::Entry;
use crate::kernel::Kernel;
use crate::manage::Manager;
use crate::object::Domain;
use crate::port::{Port, RemoteTlbs, Space};
use crate::system::System;
use abi::Rights;
use cells::Cell;

/// Proof that a change of page tables was noted: [`Shootdown::change`] makes it.
pub struct Change(());

/// A request that every CPU flushes its TLB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Requests are numbered in their order.
    number: u64,
    /// The CPU that need not, since it made all changes.
    by: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No TLB holds what was taken away.
    Complete,
    /// Something was changed since the last request; by one CPU, or by several.
    Changed { by: Option<u32> },
    /// The request was issued behind the last change.
    Requested(Ticket),
}

/// What became of the changes to an object's pages.
pub struct Shootdown(Cell<State>);

impl Shootdown {
    /// Nothing was changed.
    pub const fn new() -> Shootdown {
        Shootdown(Cell::new(State::Complete))
    }

    /// Notes a change that this CPU makes, and that it invalidates in its own TLB.
    pub fn change(&self, cpu: u32) -> Change {
        let by = match self.0.get() {
            State::Complete => Some(cpu),
            State::Changed { by } | State::Requested(Ticket { by, .. }) => {
                by.filter(|by| *by == cpu)
            }
        };
        self.0.set(State::Changed { by });
        Change(())
    }

    /// The request for the changes so far. `issue` is told which CPU need not flush, and returns
    /// the number.
    fn request(&self, issue: impl FnOnce(Option<u32>) -> u64) -> Ticket {
        let ticket = match self.0.get() {
            State::Complete => Ticket { number: 0, by: None },
            State::Changed { by } => Ticket { number: issue(by), by },
            State::Requested(ticket) => ticket,
        };
        self.0.set(State::Requested(ticket));
        ticket
    }

    /// Every CPU has done what a ticket asked for.
    fn complete(&self, ticket: Ticket) {
        if self.0.get() == State::Requested(ticket) {
            self.0.set(State::Complete);
        }
    }
}

impl Default for Shootdown {
    fn default() -> Self {
        Shootdown::new()
    }
}

impl<P: Port> Cpu<P> {
    /// This CPU loads a domain's tables, which flushes its TLB.
    fn loads(&self, kernel: &Kernel<P>, domain: Ref<Domain<P>>) {
        self.space.set(Some(domain));
        self.flushed.set(kernel.shootdowns.get());
    }

    /// Flushes this CPU's TLB.
    fn flush_tlb(&self, kernel: &Kernel<P>, domain: Ref<Domain<P>>, space: &P::Space) {
        space.flush(&self.local);
        self.loads(kernel, domain);
    }

    /// Whether this CPU may hold translations of a domain.
    fn has_loaded(&self, domain: Ref<Domain<P>>) -> bool {
        self.space.get() == Some(domain)
    }
}

impl<S: System> Entry<S> {
    /// The thread that this CPU switches to runs in a domain.
    pub(super) fn load_space(&self, domain: Ref<Domain<S::Port>>) {
        if !self.cpu.has_loaded(domain) {
            self.cpu.loads(self.kernel, domain);
        }
    }

    /// Flushes this CPU's TLB, if another one has asked for that.
    pub(super) fn flush_if_asked(&self) {
        let cpu = self.cpu;
        if cpu.flush.get() {
            // What follows is not only memory, and cannot be undone.
            self.upgrade_if(|| true);
            cpu.flush.set(false);
            // A CPU that idles loads the kernel's own tables.
            let domain = self.own(cpu.current.get()).domain.get();
            cpu.flush_tlb(self.kernel, domain, &self.hold(domain).space);
        }
    }
}

impl<P: Port> Manager<'_, P> {
    /// Notes a change of page tables.
    fn change(&self, shootdown: &Shootdown) -> Change {
        match P::Space::REMOTE {
            RemoteTlbs::None => Change(()),
            RemoteTlbs::Interrupted => shootdown.change(self.cpu.number),
        }
    }

    /// Removes a page of an object.
    pub(crate) fn unmap_page(&self, domain: Ref<Domain<P>>, at: u64, shootdown: &Shootdown) {
        let change = self.change(shootdown);
        self.all.open(domain).space.unmap(self.kernel.port, at, change);
    }

    /// Changes the rights of a page of an object.
    pub(crate) fn protect_page(
        &self,
        domain: Ref<Domain<P>>,
        at: u64,
        rights: Rights,
        shootdown: &Shootdown,
    ) {
        let change = self.change(shootdown);
        self.all.open(domain).space.protect(self.kernel.port, at, rights, change);
    }

    /// Asks all CPUs that have a domain's tables loaded, but for one. The number of the request.
    fn request_flushes(&self, domain: Ref<Domain<P>>, by: Option<u32>) -> u64 {
        let number = self.kernel.shootdowns.get() + 1;
        self.kernel.shootdowns.set(number);
        let cpus = self.kernel.cpus.get().iter();
        for cpu in cpus.filter(|cpu| cpu.has_loaded(domain) && Some(cpu.number) != by) {
            if cpu.number == self.cpu.number {
                cpu.flush_tlb(self.kernel, domain, &self.all.open(domain).space);
            } else {
                self.ask_to_flush(cpu);
            }
        }
        number
    }

    /// Whether the caller waits with a ticket.
    pub(crate) fn waits(&self, ticket: &Cell<Option<Ticket>>) -> bool {
        P::Space::REMOTE != RemoteTlbs::None && ticket.get().is_some()
    }

    /// Whether no TLB holds what was changed of an object's pages before the caller's ticket, which
    /// is issued if the caller has none. If one does, there is nothing to do but wait.
    pub(crate) fn is_gone_for(
        &self,
        ticket: &Cell<Option<Ticket>>,
        domain: Ref<Domain<P>>,
        shootdown: &Shootdown,
    ) -> bool {
        if P::Space::REMOTE == RemoteTlbs::None {
            return true;
        }
        let issue = || shootdown.request(|by| self.request_flushes(domain, by));
        let issued = ticket.get().unwrap_or_else(issue);
        ticket.set(Some(issued));
        let holds = |cpu: &Cpu<P>| {
            let flushed = cpu.flushed.get() >= issued.number || Some(cpu.number) == issued.by;
            cpu.has_loaded(domain) && !flushed
        };
        let complete = !self.kernel.cpus.get().iter().any(holds);
        match complete {
            true => shootdown.complete(issued),
            false => self.cpu_relax(),
        }
        complete
    }

    /// [`Manager::is_gone_for`] a caller that waits for the last change, whichever call makes it.
    pub(crate) fn is_gone(&self, domain: Ref<Domain<P>>, shootdown: &Shootdown) -> bool {
        self.is_gone_for(&Cell::new(None), domain, shootdown)
    }

    /// Whether no CPU has the tables of a domain loaded in which no thread runs any more. One that
    /// idles since it ran there is asked to load the kernel's own.
    pub(crate) fn is_unloaded(&self, domain: Ref<Domain<P>>) -> bool {
        if !P::SMP {
            return true;
        }
        let cpus = self.kernel.cpus.get().iter();
        let loaded = cpus.filter(|cpu| cpu.has_loaded(domain));
        let asked = loaded.inspect(|cpu| self.ask_to_flush(cpu)).count();
        if asked > 0 {
            self.cpu_relax();
        }
        asked == 0
    }

    /// Asks a CPU to flush its TLB, unless it has been asked and has not done so yet.
    fn ask_to_flush(&self, cpu: &Cpu<P>) {
        if !cpu.flush.replace(true) {
            self.cpu.kick(cpu);
        }
    }
}
