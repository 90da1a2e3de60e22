//! The budget of a sporadic server: amounts, each with the instant from which on it may be used.
//! Together they are always the server's budget. What is used comes back one period after the
//! instant from which on it might be used; what is used too much is taken from the next amounts,
//! which come back later for it. Of budget that was delayed by others, one period's is made up for.

use abi::reservation::{Budget, LEAST_PART};

/// Amounts that a sporadic server has at once when it becomes ready, and one more until then. What
/// is more is joined to the last one, which comes later for it.
pub const REPLENISHMENTS: usize = 8;
/// The first is used up in parts, which are one amount more.
const PLACES: usize = REPLENISHMENTS + 1;

/// An amount of budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Replenishment {
    /// From when on it may be used.
    pub(super) at: u64,
    pub(super) amount: u64,
}

/// The amounts, the earliest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replenishments {
    list: [Replenishment; PLACES],
    count: u8,
}

impl Replenishments {
    /// No budget at all.
    pub(super) const NONE: Replenishments =
        Replenishments { list: [Replenishment { at: 0, amount: 0 }; PLACES], count: 0 };

    /// The whole budget, now.
    pub(super) fn new(now: u64, budget: u64) -> Replenishments {
        let mut new = Replenishments::NONE;
        (new.list[0], new.count) = (Replenishment { at: now, amount: budget }, 1);
        new
    }

    /// The budget is another one: of what is more a part may be used with the first amount, and the
    /// rest a period later, from an instant on; what is less is taken from the first ones, and a
    /// part of it from the last ones.
    pub(super) fn resize(
        &mut self,
        (now, [later, from]): (u64, [u64; 2]),
        [mut less, mut last]: [u64; 2],
        period: u64,
    ) {
        if self.count == 0 {
            return;
        }
        let first = self.list[0].at;
        self.list[0].amount += now;
        while last > 0 {
            let entry = &mut self.list[usize::from(self.count) - 1];
            let taken = last.min(entry.amount);
            last -= taken;
            entry.amount -= taken;
            if entry.amount == 0 {
                self.count -= 1;
            }
        }
        while less > 0 {
            let taken = less.min(self.list[0].amount);
            less -= taken;
            self.list[0].amount -= taken;
            if self.list[0].amount == 0 {
                self.drop_first(1);
            }
        }
        if later > 0 {
            let at = first.saturating_add(period).max(self.last()).max(from);
            self.push(Replenishment { at, amount: later });
        }
        self.join_small();
    }

    /// When the last amount comes.
    pub(super) fn last(&self) -> u64 {
        self.amounts().last().map_or(0, |entry| entry.at)
    }

    /// What may be used first.
    #[inline(always)]
    pub(super) fn head(&self) -> Replenishment {
        self.list[0]
    }

    /// The server becomes ready: what might have been used before is used from now on.
    pub(super) fn activate(&mut self, now: u64) {
        let due = self.amounts().iter().take_while(|entry| entry.at <= now).count();
        if due > 0 {
            let amount = self.list[..due].iter().map(|entry| entry.amount).sum();
            self.drop_first(due - 1);
            self.list[0] = Replenishment { at: now, amount };
            self.join_small();
        }
        if usize::from(self.count) == PLACES {
            let last = self.list[REPLENISHMENTS];
            self.count -= 1;
            self.list[REPLENISHMENTS - 1].amount += last.amount;
            self.list[REPLENISHMENTS - 1].at = last.at;
        }
    }

    /// So much has been used by what was chosen at an instant. As many steps as there are amounts.
    pub(super) fn charge(&mut self, time: u64, began: u64, limits: Budget) {
        // What was delayed by others for more than a period does not pile up.
        let oldest = began.saturating_sub(limits.period);
        let old = self.amounts().iter().take_while(|entry| entry.at <= oldest).count();
        if old > 0 {
            let amount = self.list[..old].iter().map(|entry| entry.amount).sum();
            self.drop_first(old - 1);
            self.list[0] = Replenishment { at: oldest, amount };
        }
        // Whole budgets put everything off alike.
        let delay = (time / limits.budget).saturating_mul(limits.period);
        if delay > 0 {
            let all = &mut self.list[..usize::from(self.count)];
            all.iter_mut().for_each(|entry| entry.at = entry.at.saturating_add(delay));
        }
        let mut rest = time % limits.budget;
        while rest > 0 {
            let Replenishment { at, amount } = self.list[0];
            let used = rest.min(amount);
            rest -= used;
            if used == amount {
                self.drop_first(1);
            } else {
                self.list[0].amount -= used;
            }
            self.push(Replenishment { at: at.saturating_add(limits.period), amount: used });
        }
    }

    /// Adds an amount at its place. Where there is no room it is joined to the next one, or the
    /// last one to it.
    fn push(&mut self, new: Replenishment) {
        let count = usize::from(self.count);
        let place = self.amounts().partition_point(|entry| entry.at < new.at);
        if place < count && (count == PLACES || self.list[place].at == new.at) {
            self.list[place].amount += new.amount;
        } else if count == PLACES {
            let amount = self.list[count - 1].amount + new.amount;
            self.list[count - 1] = Replenishment { at: new.at, amount };
        } else {
            self.list.copy_within(place..count, place + 1);
            self.list[place] = new;
            self.count += 1;
        }
    }

    /// An amount below the least budget waits for the next one: it is not worth two switches.
    pub(super) fn join_small(&mut self) {
        while self.count > 1 && self.list[0].amount < LEAST_PART {
            self.list[1].amount += self.list[0].amount;
            self.drop_first(1);
        }
    }

    fn drop_first(&mut self, count: usize) {
        self.list.copy_within(count.., 0);
        self.count -= count as u8;
    }

    /// All amounts.
    pub(super) fn amounts(&self) -> &[Replenishment] {
        &self.list[..usize::from(self.count)]
    }
}
