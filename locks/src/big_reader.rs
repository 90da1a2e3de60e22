//! The big-reader lock: cheap for readers, dear for writers (S1-08).
//!
//! Each CPU has a lock on its own line. To read is to take that one; to write is to take all, in
//! order, so that two writers meet at the first. Each is a ticket lock, so that neither a reader
//! nor a writer is overtaken by more than the others who came before it.

use crate::handoff::Handoff;
use crate::line::Line;
use crate::relax::Relax;
use crate::ticket::Ticket;
use core::array;

/// The lock, for at most `CPUS` CPUs, which is a power of two.
pub struct BigReader<const CPUS: usize> {
    locks: [Line<Ticket>; CPUS],
    cpus: usize,
}

impl<const CPUS: usize> BigReader<CPUS> {
    /// A lock for the CPUs `0..cpus`, free.
    pub fn new(cpus: usize) -> BigReader<CPUS> {
        const { assert!(CPUS.is_power_of_two()) };
        assert!(cpus <= CPUS, "a big-reader lock for {CPUS} CPUs cannot guard {cpus}");
        BigReader { locks: array::from_fn(|_| Line::new(Ticket::new())), cpus }
    }

    #[inline(always)]
    fn lock(&self, cpu: usize) -> &Ticket {
        debug_assert!(cpu < self.cpus, "CPU {cpu} is unknown to writers");
        &self.locks[cpu & (CPUS - 1)]
    }

    /// Waits until no writer is inside; touches nothing but the CPU's own line.
    #[inline(always)]
    pub fn read<R: Relax>(&self, cpu: usize) -> Handoff {
        self.lock(cpu).acquire::<R>()
    }

    /// Ends [`BigReader::read`].
    #[inline(always)]
    pub fn read_end(&self, cpu: usize) {
        self.lock(cpu).release();
    }

    /// Waits until no other CPU is inside.
    pub fn write<R: Relax>(&self) -> Handoff {
        let waits = self.locks[..self.cpus].iter().map(|lock| lock.acquire::<R>().waited());
        Handoff::of(Handoff::NO_CPU, waits.fold(false, |any, waited| any | waited))
    }

    /// Whether another CPU waits for the end of what [`BigReader::write`] began.
    #[inline]
    pub fn is_waited_for(&self) -> bool {
        self.locks[..self.cpus].iter().any(|lock| lock.is_waited_for())
    }

    /// Ends [`BigReader::write`].
    pub fn write_end(&self) {
        self.locks[..self.cpus].iter().for_each(|lock| lock.release());
    }
}
