//! Quotas: what a domain may create. Quotas sum to at most the pool, so a charge that fits the
//! quota finds a free slot, and no domain can exhaust another's resources.

use crate::assertion::assert_cold;
use abi::Error;
use abi::object::Resource;
use cells::Cell;

/// A number of each resource, in the order of [`Resource::ALL`].
pub type Counts = [u32; Resource::COUNT];

/// How many resources there are. The compiler does not see it: it would write each loop out.
#[inline(always)]
fn count() -> usize {
    core::hint::black_box(Resource::COUNT)
}

/// A domain's quotas and what it has used of them.
#[derive(Default)]
pub struct Quotas {
    limit: [Cell<u32>; Resource::COUNT],
    used: [Cell<u32>; Resource::COUNT],
}

impl Quotas {
    /// Nothing may be created.
    pub const fn new() -> Quotas {
        Quotas {
            limit: [const { Cell::new(0) }; Resource::COUNT],
            used: [const { Cell::new(0) }; Resource::COUNT],
        }
    }

    /// How many of a resource may be created.
    pub fn limit(&self, resource: Resource) -> u32 {
        self.limit[resource as usize].get()
    }

    /// How many of a resource are in use.
    pub fn used(&self, resource: Resource) -> u32 {
        self.used[resource as usize].get()
    }

    /// Sets a limit, which must not be below what is in use.
    pub fn set_limit(&self, resource: Resource, limit: u32) {
        assert!(self.used(resource) <= limit, "a quota below its use");
        self.limit[resource as usize].set(limit);
    }

    /// The limit and the use of each resource, with a number of it.
    fn each<'a>(
        &'a self,
        counts: &'a Counts,
    ) -> impl Iterator<Item = (&'a Cell<u32>, &'a Cell<u32>, u32)> {
        let pairs = self.limit.iter().zip(&self.used);
        pairs.zip(counts).take(count()).map(|((limit, used), count)| (limit, used, *count))
    }

    /// Sets all limits, none of which may be below what is in use.
    pub fn set_limits(&self, limits: &Counts) {
        for (limit, used, new) in self.each(limits) {
            assert!(used.get() <= new, "a quota below its use");
            limit.set(new);
        }
    }

    /// Whether so many more of each resource fit.
    pub fn check_all(&self, counts: &Counts) -> Result<(), Error> {
        let fits = self.each(counts).all(|(limit, used, count)| count <= limit.get() - used.get());
        if fits { Ok(()) } else { Err(Error::QuotaExceeded) }
    }

    /// Uses so many of each resource, which [`Quotas::check_all`] has allowed.
    pub fn charge_all(&self, counts: &Counts) {
        for (limit, used, count) in self.each(counts) {
            let now = used.get() + count;
            assert_cold!(now <= limit.get(), "a charge beyond the quota");
            used.set(now);
        }
    }

    /// Takes back what a domain that is gone was given.
    pub fn reclaim(&self, gone: &Quotas) {
        for (used, limit) in self.used.iter().zip(&gone.limit).take(count()) {
            assert!(limit.get() <= used.get(), "a refund of what was not charged");
            used.set(used.get() - limit.get());
        }
    }

    /// Nothing is in use any more, and nothing may be created.
    pub fn clear(&self) {
        for (limit, used) in self.limit.iter().zip(&self.used).take(count()) {
            limit.set(0);
            used.set(0);
        }
    }

    /// Whether `count` more fit.
    pub fn check(&self, resource: Resource, count: u32) -> Result<(), Error> {
        let left = self.limit(resource) - self.used(resource);
        if count <= left { Ok(()) } else { Err(Error::QuotaExceeded) }
    }

    /// Uses `count`, which [`Quotas::check`] has allowed.
    pub fn charge(&self, resource: Resource, count: u32) {
        let used = self.used(resource) + count;
        assert_cold!(used <= self.limit(resource), "a charge beyond the quota");
        self.used[resource as usize].set(used);
    }

    /// Gives `count` back.
    pub fn refund(&self, resource: Resource, count: u32) {
        let used = self.used(resource);
        assert_cold!(count <= used, "a refund of what was not charged");
        self.used[resource as usize].set(used - count);
    }
}
