//! What taking a lock found out by the way.

/// How a lock came to its new owner: for counters and traces (S1-15), free where unused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handoff {
    last: u32,
    waited: bool,
}

impl Handoff {
    /// Stands for "no CPU", or "not known".
    pub(crate) const NO_CPU: u32 = u32::MAX >> 1;

    /// Taking nothing.
    pub const NONE: Handoff = Handoff { last: Handoff::NO_CPU, waited: false };

    #[inline(always)]
    pub(crate) fn of(last: u32, waited: bool) -> Handoff {
        Handoff { last, waited }
    }

    /// The CPU that owned the lock before, if there was one and the lock knows.
    #[inline(always)]
    pub fn last_owner(self) -> Option<usize> {
        (self.last != Handoff::NO_CPU).then_some(self.last as usize)
    }

    /// Whether `cpu` owned the lock before, so that its lines need not have moved.
    #[inline(always)]
    pub fn is_from(self, cpu: usize) -> bool {
        self.last as usize == cpu
    }

    /// Whether the lock was not free.
    #[inline(always)]
    pub const fn waited(self) -> bool {
        self.waited
    }
}
