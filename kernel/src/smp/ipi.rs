//! Interrupts between CPUs (IPIs). They leave behind the critical section: a CPU notes inside the
//! kernel which others it is going to interrupt, and sends when it has left ([`Cpu::finish`]).

use crate::cpu::Cpu;
use crate::entry::Entry;
use crate::port::{Port, Space};
use crate::system::System;
use abi::trace::Event;

impl<P: Port> Cpu<P> {
    /// Interrupts another CPU once this one has left the kernel.
    pub(crate) fn send_ipi(&self, other: &Cpu<P>) {
        self.pending_ipis.set(self.pending_ipis.get() | 1 << other.number);
    }

    /// Does what had to wait for the end of the section, on the timer and to other CPUs: called by
    /// a port outside the kernel (S1-06, S1-11).
    #[inline(always)]
    pub fn finish(&self) {
        if P::SMP {
            self.arm();
            if self.pending_ipis.get() != 0 {
                self.send_ipis();
            }
        }
    }

    #[cold]
    fn send_ipis(&self) {
        let mut pending = self.pending_ipis.take();
        while pending != 0 {
            self.note_event(Event::Ipi, pending.trailing_zeros(), 0);
            self.port().send_ipi(pending.trailing_zeros());
            pending &= pending - 1;
        }
    }
}

impl<S: System> Entry<S> {
    /// Another CPU has interrupted.
    pub(crate) fn take_ipi(&self) {
        self.do_requests();
        self.cpu.rearm();
    }

    /// Does what other CPUs have asked for before its interrupt is taken: the timer's goes first,
    /// and may have many deadlines to serve.
    #[inline(always)]
    pub(crate) fn do_early_requests(&self) {
        if self.cpu.flush.get() || !self.cpu.remote_wakes.is_empty() {
            self.do_requests_now();
        }
    }

    #[cold]
    #[inline(never)]
    fn do_requests_now(&self) {
        self.do_requests();
    }

    #[inline(always)]
    fn do_requests(&self) {
        let cpu = self.cpu;
        if cpu.flush.get() {
            // What follows is not only memory, and cannot be undone.
            self.upgrade_if(|| true);
            cpu.flush.set(false);
            if S::Port::TRAINS && self.manage().leaves_ended_trains(cpu.current.get()) {
                // Another interrupt goes first.
                cpu.flush.set(true);
                cpu.send_ipi(cpu);
            }
            // A CPU that idles loads the kernel's own tables.
            let domain = cpu.current.get().domain.get();
            self.section.exclusive().open(domain).space.flush(&cpu.local);
            cpu.space.set(Some(domain));
            cpu.flushed.set(self.kernel.shootdowns.get());
        }
        cpu.drain_remote_wakes::<S::Scheduler>();
    }
}
