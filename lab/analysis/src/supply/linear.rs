//! A line after a delay.

use crate::Time;
use crate::task::Work;

/// `max(0, (t - delay) budget/period)`, rounded down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear {
    pub(super) budget: Time,
    pub(super) period: Time,
    pub(super) delay: Work,
}

impl Linear {
    pub(super) fn provided(&self, length: Time) -> Time {
        let rest = Work::from(length).saturating_sub(self.delay);
        (rest * Work::from(self.budget) / Work::from(self.period)) as Time
    }

    /// `demand` is above zero.
    pub(super) fn time_for(&self, demand: Time) -> Option<Time> {
        let rest = Work::from(demand) * Work::from(self.period);
        Time::try_from(self.delay + rest.div_ceil(Work::from(self.budget))).ok()
    }
}
