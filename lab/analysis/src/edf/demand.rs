//! The demand bound function against the supply, by quick processor-demand analysis.
//!
//! ```text
//! for all t: b(t) + sum of (floor((t + e + J_i - D_i)/T_i) + 1) C_i + I(w) <= sbf(w), some w <= t
//! b(t) = the greatest B_i of tasks with D_i - J_i <= t, I(w) = interference within w
//! ```
//!
//! where the scheduler takes a task's deadlines for e later at most: the least t is the first that
//! such a deadline can have.

use super::{Busy, busy, line};
use crate::task::{Task, Work, Workload, total};
use crate::verdict::Excess;
use crate::{AnalysisError, Steps, Supply, Time};

/// Where demand exceeds supply, `None` if it does nowhere. Exact for independent sporadic tasks on
/// a supply whose bound can be met; safe with blocking and reservations. The instant is the first
/// one, or [`Excess::first`] is false because finding the first would take too long. What shares
/// alone decide takes no steps.
pub fn demand_test(
    workload: &Workload,
    supply: &Supply,
    steps: &mut Steps,
) -> Result<Option<Excess>, AnalysisError> {
    workload.check()?;
    if line::fits(workload, supply) {
        return Ok(None);
    }
    steps.take(workload.terms())?;
    let test = Test { workload, supply };
    let found = match busy(workload, supply, steps)? {
        Busy::Until(end) => match test.last(end) {
            Some(last) => test.backwards(last, steps)?,
            None => None,
        },
        Busy::Endless => Some(test.somewhere(steps)?),
    };
    Ok(found.map(|instant| test.excess(instant, steps)))
}

struct Test<'a> {
    workload: &'a Workload,
    supply: &'a Supply,
}

impl Test<'_> {
    /// The work that is due within an interval of length `end`, its end included, and the
    /// interference that comes within `until`.
    fn demand(&self, end: Time, until: Time) -> Work {
        let wide = self.seen(end);
        let due = |task: &Task| task.due(wide).saturating_mul(task.execution.into());
        let tasks = self.workload.tasks.iter();
        let blocked = tasks.clone().filter(|task| task.first_due() <= wide);
        let blocking = blocked.map(|task| task.blocking).max().unwrap_or(0);
        total(tasks.map(due))
            .saturating_add(self.workload.interference(until))
            .saturating_add(self.workload.reserved(wide.try_into().unwrap_or(Time::MAX)))
            .saturating_add(blocking.into())
    }

    /// Up to which deadline work may be done before a deadline at `end`.
    fn seen(&self, end: Time) -> i128 {
        let end = i128::from(end);
        let is_due = self.first_due().is_some_and(|first| first <= end);
        if is_due { end + i128::from(self.workload.blur) } else { end }
    }

    fn first_due(&self) -> Option<i128> {
        self.workload.tasks.iter().map(Task::first_due).min()
    }

    /// Whether too much is demanded by `end`; otherwise the earliest instant from which on no
    /// more is demanded than is by `end`, and supplied.
    fn covered_from(&self, end: Time, steps: &mut Steps) -> Result<Option<Time>, AnalysisError> {
        // Jobs are done before interference that comes later. Reservations have work due always.
        let mut until = if self.workload.reservations.is_empty() { 0 } else { end };
        loop {
            steps.take(self.workload.terms() + self.supply.terms())?;
            let covered = self.supply.time_for(self.demand(end, until));
            match covered.filter(|covered| *covered <= end) {
                Some(covered) if covered > until => until = covered,
                covered => return Ok(covered),
            }
        }
    }

    /// Looks from `end` back to zero for an instant with too much demand. Demand and supply never
    /// fall, so that from one instant whole stretches before it are known to be good.
    fn backwards(&self, end: Time, steps: &mut Steps) -> Result<Option<Time>, AnalysisError> {
        let mut instant = end;
        loop {
            let Some(covered) = self.covered_from(instant, steps)? else {
                return Ok(Some(instant));
            };
            let next = if covered < instant { Some(covered) } else { self.before(instant) };
            match next {
                None | Some(0) => return Ok(self.covered_from(0, steps)?.is_none().then_some(0)),
                Some(next) => instant = next,
            }
        }
    }

    /// Some instant with too much demand, which is there.
    fn somewhere(&self, steps: &mut Steps) -> Result<Time, AnalysisError> {
        let mut instant: Time = 1;
        while self.covered_from(instant, steps)?.is_some() {
            instant = instant.checked_mul(2).ok_or(AnalysisError::Horizon)?;
        }
        Ok(instant)
    }

    /// The last instant before `instant` that needs a look if `instant` is good.
    fn before(&self, instant: Time) -> Option<Time> {
        // Beside reservations demand also rises between jobs: on a whole CPU no faster than
        // supply, elsewhere it does while supply stands still.
        if !self.workload.reservations.is_empty() && !self.supply.is_whole() {
            return instant.checked_sub(1);
        }
        self.rise_before(instant.into()).and_then(|instant| Time::try_from(instant).ok())
    }

    /// The last instant up to `end` that needs a look.
    fn last(&self, end: Time) -> Option<Time> {
        let last = match self.workload.reservations.is_empty() {
            true => self.rise_before(i128::from(end) + 1).map(|last| last.max(0)),
            false => Some(end.into()),
        };
        last.and_then(|last| Time::try_from(last).ok())
    }

    fn rise_before(&self, instant: i128) -> Option<i128> {
        let last = instant - 1;
        let rise = |(first, period): (i128, Time)| {
            (first <= last).then(|| last - (last - first) % i128::from(period))
        };
        self.rises().filter_map(rise).max()
    }

    /// The first instant after `instant` that needs a look.
    fn after(&self, instant: Time) -> Option<Time> {
        let next = i128::from(instant) + 1;
        let rise = |(first, period): (i128, Time)| {
            let period = i128::from(period);
            let behind = (next - first).max(0);
            first + behind.unsigned_abs().div_ceil(period.unsigned_abs()) as i128 * period
        };
        self.rises().map(rise).min().and_then(|instant| Time::try_from(instant).ok())
    }

    /// Where too much can be demanded: the first instant and the distance of the others. Without
    /// reservations something is due only where jobs are, whenever interference begins.
    fn rises(&self) -> impl Iterator<Item = (i128, Time)> {
        let tasks = self.workload.tasks.iter().map(|task| (task.first_due(), task.period));
        let is_due = !self.workload.reservations.is_empty();
        let streams = self.workload.interference.iter().filter(move |_| is_due);
        let begins = |jitter: Time| 1 - i128::from(jitter);
        let blur = i128::from(self.workload.blur);
        // Where the first deadline is, all that the scheduler takes for earlier is due at once.
        let first = self.first_due().filter(|_| blur > 0).map(|first| (first, Time::MAX));
        let seen = tasks.map(move |(first, period)| (first - blur, period)).chain(first);
        seen.chain(streams.map(move |stream| (begins(stream.jitter), stream.period)))
    }

    /// The first instant with too much demand, given one.
    fn excess(&self, known: Time, steps: &mut Steps) -> Excess {
        let mut instant = 0;
        let first = loop {
            match self.covered_from(instant, steps) {
                Err(_) => break None,
                Ok(None) => break Some(instant),
                Ok(Some(_)) => {}
            }
            match self.after(instant) {
                Some(next) if next <= known => instant = next,
                _ => break None,
            }
        };
        let instant = first.unwrap_or(known);
        let demand = self.demand(instant, instant);
        let first = first.is_some() && self.workload.reservations.is_empty();
        Excess { instant, demand, supply: self.supply.provided(instant), first }
    }
}
