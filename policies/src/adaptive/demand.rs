//! What a server asks for, by what it has used.

/// The longest history, in control periods.
pub const HISTORY: usize = abi::adaptive::HISTORY as usize;

/// What was seen of a server in one control period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Periods of the server that it covers.
    pub jobs: u32,
    /// CPU time that jobs have used up to their deadlines, in nanoseconds.
    pub consumed: u64,
    /// What they lacked, in nanoseconds: CPU time behind deadlines, the tardiness of jobs that
    /// began in time, and of a class what its children had left at releases while they were ready.
    pub extra: u64,
}

/// The last uses of a server, as budgets: `h`, what it would have needed in each of its periods,
/// and `e`, what it lacked in each.
#[derive(Clone, Debug)]
pub struct Demand {
    needed: [u64; HISTORY],
    lacked: [u64; HISTORY],
    /// Control periods that it looks back, 1 to [`HISTORY`].
    length: usize,
    /// How many it has seen, `length` at most.
    count: usize,
    /// Where the next one goes.
    next: usize,
}

impl Demand {
    /// Nothing seen yet; to look back so many control periods, 1 to [`HISTORY`].
    pub fn new(length: usize) -> Demand {
        let length = length.clamp(1, HISTORY);
        Demand { needed: [0; HISTORY], lacked: [0; HISTORY], length, count: 0, next: 0 }
    }

    /// A control period under this budget is over. One without a period of the server tells
    /// nothing, and is left out. Quotients are rounded down: less than 1 ns is lost.
    pub fn push(&mut self, seen: Use, budget: u64) {
        if seen.jobs == 0 {
            return;
        }
        let jobs = u64::from(seen.jobs);
        let lacked = seen.extra / jobs;
        let needed = match seen.extra {
            0 => seen.consumed / jobs,
            _ => budget.saturating_add(lacked),
        };
        (self.needed[self.next], self.lacked[self.next]) = (needed, lacked);
        self.next = (self.next + 1) % self.length;
        self.count = (self.count + 1).min(self.length);
    }

    /// The mean of what it needed, rounded down; nothing as long as nothing was seen.
    pub fn mean(&self) -> Option<u64> {
        let sum = self.needed().iter().map(|needed| u128::from(*needed)).sum::<u128>();
        Some(saturated(sum.checked_div(self.count as u128)?))
    }

    /// The budget that it asks for, in nanoseconds: `mean(h) + MAD(h)/2 + mean(e)`, where MAD is
    /// the mean absolute deviation from the mean. Rounded once, upwards: less than 1 ns above the
    /// exact value. Nothing as long as nothing was seen. O([`HISTORY`]).
    pub fn wanted(&self) -> Option<u64> {
        // Everything times 2 n^2, so that one division remains: below 2^74.
        let n = self.count as u128;
        let needed = self.needed().iter().map(|needed| u128::from(*needed));
        let lacked = self.lacked[..self.count].iter().map(|lacked| u128::from(*lacked));
        let sum = needed.clone().sum::<u128>();
        let deviation = needed.map(|needed| (n * needed).abs_diff(sum)).sum::<u128>();
        let total = 2 * n * (sum + lacked.sum::<u128>()) + deviation;
        (n > 0).then(|| saturated(total.div_ceil(2 * n * n)))
    }

    fn needed(&self) -> &[u64] {
        &self.needed[..self.count]
    }
}

fn saturated(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}
