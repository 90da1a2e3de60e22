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
//! A CPU holds translations of the tables that it has loaded and of no others.

use crate::access::Ref;
use crate::cpu::Cpu;
use crate::manage::Manager;
use crate::object::Domain;
use crate::port::Port;
use crate::tlb::{Change, Shootdown, Ticket};

impl<P: Port> Cpu<P> {
    /// Whether this CPU may hold translations of a domain.
    fn has_loaded(&self, domain: Ref<Domain<P>>) -> bool {
        self.space.get() == Some(domain)
    }
}

impl<P: Port> Manager<'_, P> {
    /// Notes a change of page tables.
    pub(crate) fn change(&self, shootdown: &Shootdown) -> Change {
        if P::SMP { shootdown.change(self.cpu.number) } else { Change::on_one_cpu() }
    }

    /// Requests, behind the last change, that no CPU holds what was changed of an object's pages.
    /// `None`: there is one CPU.
    pub(crate) fn request(&self, domain: Ref<Domain<P>>, shootdown: &Shootdown) -> Option<Ticket> {
        P::SMP.then(|| shootdown.request(|by| self.request_flushes(domain, by)))
    }

    /// Asks all CPUs that have a domain's tables loaded, but for one. The number of the request.
    fn request_flushes(&self, domain: Ref<Domain<P>>, by: Option<u32>) -> u64 {
        let number = self.kernel.shootdowns.get() + 1;
        self.kernel.shootdowns.set(number);
        let cpus = self.kernel.cpus.get().iter();
        for cpu in cpus.filter(|cpu| cpu.has_loaded(domain) && Some(cpu.number) != by) {
            if cpu.number == self.cpu.number {
                self.kernel.port.reload(&cpu.local, &self.all.open(domain).space);
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
        let Some(ticket) = ticket.filter(|_| P::SMP) else { return true };
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

    /// Asks a CPU to flush its TLB, unless it has been asked and has not done so yet.
    fn ask_to_flush(&self, cpu: &Cpu<P>) {
        if !cpu.flush.replace(true) {
            self.cpu.kick(cpu);
        }
    }
}
