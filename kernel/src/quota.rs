//! Quotas: what a domain may create. Quotas sum to at most the pool, so a charge that fits the
//! quota finds a free slot, and nobody can exhaust another's resources.

use abi::Error;
use abi::object::Resource;
use cells::Cell;

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

    /// Whether `count` more fit.
    pub fn check(&self, resource: Resource, count: u32) -> Result<(), Error> {
        let left = self.limit(resource) - self.used(resource);
        if count <= left { Ok(()) } else { Err(Error::QuotaExceeded) }
    }

    /// Uses `count`, which [`Quotas::check`] has allowed.
    pub fn charge(&self, resource: Resource, count: u32) {
        let used = self.used(resource) + count;
        assert!(used <= self.limit(resource), "a charge beyond the quota");
        self.used[resource as usize].set(used);
    }

    /// Gives `count` back.
    pub fn refund(&self, resource: Resource, count: u32) {
        let used = self.used(resource);
        assert!(count <= used, "a refund of what was not charged");
        self.used[resource as usize].set(used - count);
    }
}
