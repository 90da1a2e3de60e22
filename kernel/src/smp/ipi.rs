//! Interrupts between CPUs (IPIs). They leave behind the critical section: a CPU notes inside the
//! kernel which others it is going to interrupt, and sends when it has left ([`Cpu::finish`]).

use crate::cpu::Cpu;
use crate::entry::Entry;
use crate::port::{Port, Space};
use crate::system::System;
use abi::trace::Event;

impl<P: Port> Cpu<P> {
    /// Interrupts another CPU once this one has left the kernel.
    pub(crate) fn kick(&self, other: &Cpu<P>) {
        self.kicks.set(self.kicks.get() | 1 << other.number);
    }

    /// Does what had to wait for the end of the section, on the timer and to other CPUs: called by
    /// a port outside the kernel (S1-06, S1-11).
    #[inline(always)]
    pub fn finish(&self) {
        if P::SMP {
            self.arm();
            if self.kicks.get() != 0 {
                self.send_all_kicks();
            }
        }
    }

    #[cold]
    fn send_all_kicks(&self) {
        let mut kicks = self.kicks.take();
        while kicks != 0 {
            self.note_nobody(Event::Kick, kicks.trailing_zeros(), 0);
            self.port().kick(kicks.trailing_zeros());
            kicks &= kicks - 1;
        }
    }
}

impl<S: System> Entry<S> {
    /// Another CPU has interrupted.
    pub(crate) fn kicked(&self) {
        let cpu = self.cpu;
        if cpu.flush.get() {
            // What follows is not only memory, and cannot be undone.
            self.upgrade_if(|| true);
            cpu.flush.set(false);
            // A CPU that idles loads the kernel's own tables.
            let domain = cpu.current.get().domain.get();
            self.section.exclusive().open(domain).space.flush(&cpu.local);
            cpu.space.set(Some(domain));
            cpu.flushed.set(self.kernel.shootdowns.get());
        }
        cpu.drain_remote_wakes::<S::Scheduler>();
        cpu.rearm();
    }
}
