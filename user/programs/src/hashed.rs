//! Wait queues as a hash table of addresses keeps them, for comparison: each bucket is a chain of
//! what waits for any address that falls into it, taken from a pool when a wait begins (S2H-C02).
//! A program that knows the function picks addresses that fall into one bucket.

/// Buckets: as many as there are for a CPU elsewhere.
const BUCKETS: usize = 256;
/// Waiters at most.
pub const MOST: usize = 1024;
const NONE: u16 = u16::MAX;

/// The table.
pub struct Table {
    first: [u16; BUCKETS],
    /// The address that each waits for, and the next of its chain, or of those that are free.
    waiters: [(u32, u16); MOST],
    free: u16,
}

impl Table {
    /// Without waiters.
    pub fn new() -> Table {
        let mut waiters = [(0, NONE); MOST];
        for (next, waiter) in (1..).zip(&mut waiters[..MOST - 1]) {
            waiter.1 = next;
        }
        Table { first: [NONE; BUCKETS], waiters, free: 0 }
    }

    fn bucket(address: u32) -> usize {
        (address.wrapping_mul(0x9e37_79b9) >> 24) as usize
    }

    /// The first `count` addresses from `from` on that fall into the bucket of `from`.
    pub fn colliding(from: u32, count: usize) -> impl Iterator<Item = u32> {
        let same = move |at: &u32| Table::bucket(*at) == Table::bucket(from);
        (0..).map(move |n| from + 8 * n).filter(same).take(count)
    }

    /// A waiter goes behind all others of its bucket. False: there is no memory for it.
    pub fn wait(&mut self, address: u32) -> bool {
        let Some(waiter) = self.waiters.get(usize::from(self.free)) else { return false };
        let new = core::mem::replace(&mut self.free, waiter.1);
        self.waiters[usize::from(new)] = (address, NONE);
        let mut at = self.first[Table::bucket(address)];
        if at == NONE {
            self.first[Table::bucket(address)] = new;
            return true;
        }
        while self.waiters[usize::from(at)].1 != NONE {
            at = self.waiters[usize::from(at)].1;
        }
        self.waiters[usize::from(at)].1 = new;
        true
    }

    /// The first that waits for an address goes. False: none does.
    pub fn wake(&mut self, address: u32) -> bool {
        let (mut before, mut at) = (NONE, self.first[Table::bucket(address)]);
        while at != NONE && self.waiters[usize::from(at)].0 != address {
            (before, at) = (at, self.waiters[usize::from(at)].1);
        }
        let Some((_, next)) = self.waiters.get(usize::from(at)).copied() else { return false };
        match before {
            NONE => self.first[Table::bucket(address)] = next,
            before => self.waiters[usize::from(before)].1 = next,
        }
        self.waiters[usize::from(at)].1 = core::mem::replace(&mut self.free, at);
        true
    }
}

impl Default for Table {
    fn default() -> Self {
        Table::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiters_of_one_bucket_are_told_apart() {
        let mut table = Table::new();
        let addresses = [0, 1, 2].map(|n| Table::colliding(0x1000, 3).nth(n).unwrap());
        assert!(addresses.iter().all(|at| table.wait(*at)));
        assert!(table.wake(addresses[2]) && !table.wake(addresses[2]));
        assert!(table.wake(addresses[0]) && table.wake(addresses[1]) && !table.wake(0x1000));
        assert!((0..MOST).all(|_| table.wait(8)) && !table.wait(8), "the pool has an end");
    }
}
