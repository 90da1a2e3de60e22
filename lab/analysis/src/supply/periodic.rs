//! The periodic resource model.

use crate::Time;
use crate::task::Work;

/// Nothing for `gap`, then `budget` at the beginning of each period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Periodic {
    period: Work,
    budget: Work,
    gap: Work,
}

impl Periodic {
    /// The longest gap is from a budget that was delivered at once to one that comes as late as
    /// `response` allows.
    pub(super) fn new(period: Time, budget: Time, response: Time) -> Periodic {
        let [period, budget, response] = [period, budget, response].map(Work::from);
        Periodic { period, budget, gap: period - budget + response - budget }
    }

    /// The same, its budget delivered at whatever time of the period, and all later by `shift`.
    pub(super) fn later(period: Time, budget: Time, shift: Time) -> Periodic {
        let periodic = Periodic::new(period, budget, period);
        Periodic { gap: periodic.gap + Work::from(shift), ..periodic }
    }

    pub(super) fn provided(&self, length: Time) -> Time {
        let rest = Work::from(length).saturating_sub(self.gap);
        let provided = rest / self.period * self.budget + self.budget.min(rest % self.period);
        provided as Time
    }

    /// `demand` is above zero.
    pub(super) fn time_for(&self, demand: Time) -> Option<Time> {
        let before = Work::from(demand) - 1;
        let time = self.gap + before / self.budget * self.period + before % self.budget + 1;
        Time::try_from(time).ok()
    }

    pub(super) fn cycle(&self) -> (Time, Time) {
        (self.period as Time, self.budget as Time)
    }

    pub(super) fn delay(&self) -> Work {
        self.gap
    }
}
