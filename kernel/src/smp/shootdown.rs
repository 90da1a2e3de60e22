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
//! A CPU holds translations of the tables that it has loaded and of no others. Callers take pages
//! away with `Manager::unmap_page` and `Manager::protect_page` and wait for a ticket; how TLBs
//! are reached is the business of [`Space`] and of this file.

use crate::access::Ref;
use crate::cpu::Cpu;
use crate::manage::Manager;
use crate::object::Domain;
use crate::port::{Port, RemoteTlbs, Space};
use crate::tlb::{Change, Shootdown, Ticket};
use abi::Rights;

impl<P: Port> Cpu<P> {
    /// Whether this CPU may hold translations of a domain.
    fn has_loaded(&self, domain: Ref<Domain<P>>) -> bool {
        self.space.get() == Some(domain)
    }
}

impl<P: Port> Manager<'_, P> {
    /// Notes a change of page tables.
    #[inline(always)]
    fn change(&self, shootdown: &Shootdown) -> Change {
        match P::Space::REMOTE {
            RemoteTlbs::None => Change::on_one_cpu(),
            RemoteTlbs::Interrupted => shootdown.change(self.cpu.number),
        }
    }

    /// Removes a page of an object.
    #[inline(always)]
    pub(crate) fn unmap_page(&self, domain: Ref<Domain<P>>, at: u64, shootdown: &Shootdown) {
        let change = self.change(shootdown);
        self.all.open(domain).space.unmap(self.kernel.port, at, change);
    }

    /// Changes the rights of a page of an object.
    #[inline(always)]
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

    /// Requests, behind the last change, that no CPU holds what was changed of an object's pages.
    /// `None`: there is one CPU.
    pub(crate) fn request(&self, domain: Ref<Domain<P>>, shootdown: &Shootdown) -> Option<Ticket> {
        let others = P::Space::REMOTE != RemoteTlbs::None;
        others.then(|| shootdown.request(|by| self.request_flushes(domain, by)))
    }

    /// Asks all CPUs that have a domain's tables loaded, but for one. The number of the request.
    fn request_flushes(&self, domain: Ref<Domain<P>>, by: Option<u32>) -> u64 {
        let number = self.kernel.shootdowns.get() + 1;
        self.kernel.shootdowns.set(number);
        let cpus = self.kernel.cpus.get().iter();
        for cpu in cpus.filter(|cpu| cpu.has_loaded(domain) && Some(cpu.number) != by) {
            if cpu.number == self.cpu.number {
                self.all.open(domain).space.flush(&cpu.local);
                cpu.flushed.set(number);
            } else {
                self.ask_to_flush(cpu);
            }
        }
        number
    }

    /// Whether no CPU holds any more what was changed before a request. If not, there is nothing to
    /// do but wait.
    pub(crate) fn is_complete(
        &self,
        domain: Ref<Domain<P>>,
        shootdown: &Shootdown,
        ticket: Option<Ticket>,
    ) -> bool {
        let Some(ticket) = ticket.filter(|_| P::Space::REMOTE != RemoteTlbs::None) else {
            return true;
        };
        let holds = |cpu: &Cpu<P>| {
            let flushed = cpu.flushed.get() >= ticket.number || Some(cpu.number) == ticket.by;
            cpu.has_loaded(domain) && !flushed
        };
        let complete = !self.kernel.cpus.get().iter().any(holds);
        match complete {
            true => shootdown.complete(ticket),
            false => self.cpu_relax(),
        }
        complete
    }

    /// Whether no CPU holds what was taken away of an object's pages; requests it if that is new.
    pub(crate) fn is_gone(&self, domain: Ref<Domain<P>>, shootdown: &Shootdown) -> bool {
        self.is_complete(domain, shootdown, self.request(domain, shootdown))
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

    /// Asks a CPU to flush its TLB, unless it has been asked and has not done so yet. Before that,
    /// the thread that it runs leaves trains that are ending.
    pub(crate) fn ask_to_flush(&self, cpu: &Cpu<P>) {
        if !cpu.flush.replace(true) {
            self.cpu.send_ipi(cpu);
        }
    }
}
