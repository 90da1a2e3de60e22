//! The ticket lock, for one object or queue (S1-08): small, and first come first served.

use crate::handoff::Handoff;
use crate::relax::Relax;
use crate::sync::AtomicU32;
use crate::sync::Ordering::{Acquire, Relaxed, Release};

/// The lock. Every release is seen by all who wait, which is why few should.
pub struct Ticket {
    /// The ticket that the next comer draws.
    next: AtomicU32,
    /// The ticket that is served.
    owner: AtomicU32,
}

impl Ticket {
    /// A lock that is free.
    #[expect(clippy::new_without_default, reason = "locks are made on purpose, one by one")]
    pub fn new() -> Ticket {
        Ticket { next: AtomicU32::new(0), owner: AtomicU32::new(0) }
    }

    /// A lock that is free, for a static.
    #[cfg(all(not(test), not(feature = "loom")))]
    pub const fn fixed() -> Ticket {
        Ticket { next: AtomicU32::new(0), owner: AtomicU32::new(0) }
    }

    /// Waits until the lock is this CPU's.
    #[inline(always)]
    pub fn acquire<R: Relax>(&self) -> Handoff {
        let ticket = self.next.fetch_add(1, Relaxed);
        if self.owner.load(Acquire) == ticket {
            return Handoff::NONE;
        }
        while self.owner.load(Acquire) != ticket {
            R::relax();
        }
        Handoff::of(Handoff::NO_CPU, true)
    }

    /// Serves the next ticket.
    #[inline(always)]
    pub fn release(&self) {
        // The owner alone writes this word.
        let ticket = self.owner.load(Relaxed);
        self.owner.store(ticket.wrapping_add(1), Release);
    }

    /// Whether a CPU owns the lock.
    #[inline]
    pub fn is_held(&self) -> bool {
        self.owner.load(Relaxed) != self.next.load(Relaxed)
    }

    /// Whether another CPU waits for the lock, which this CPU owns.
    #[inline]
    pub fn is_waited_for(&self) -> bool {
        self.next.load(Relaxed).wrapping_sub(self.owner.load(Relaxed)) > 1
    }

    /// A lock whose tickets run out soon.
    #[cfg(all(test, not(feature = "loom")))]
    pub(crate) fn nearly_worn_out() -> Ticket {
        let last = u32::MAX - 2;
        Ticket { next: AtomicU32::new(last), owner: AtomicU32::new(last) }
    }
}
