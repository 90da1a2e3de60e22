//! What fits by its shares alone, in closed form: demand below a line, supply above one.
//!
//! ```text
//! dbf(t) <= sum of C_i/T_i (t + e + max(0, T_i + J_i - D_i)), and as much for interference
//! sbf(t) >= b/p (t - delay)
//! ```
//!
//! No job is due before the first deadline. If there the line of demand is not above that of supply
//! and it is no steeper, it is nowhere above. For tasks that have a whole CPU and whose deadlines
//! are not within their periods this is Liu and Layland's bound, which is exact; elsewhere it
//! decides what has room enough.

use crate::task::{Task, Work, Workload};
use crate::{Supply, Time};

/// Binary digits of a share behind the point.
const DIGITS: u32 = 63;

/// Whether the lines tell that everything fits. A bounded number of steps.
pub(crate) fn fits(workload: &Workload, supply: &Supply) -> bool {
    let Workload { tasks, interference, reservations, blur } = workload;
    if supply.is_for_one_task() && tasks.len() + reservations.len() > 1 {
        return false;
    }
    let first = tasks.iter().map(Task::first_due).min().unwrap_or(0);
    let Ok(first) = Time::try_from(first) else { return false };
    // A reservation has work due at any time.
    let first = if reservations.is_empty() { first } else { 0 };
    let late = |task: &Task| {
        let late = i128::from(task.period) - task.first_due();
        (task.execution, task.period, late.max(0).unsigned_abs() + Work::from(*blur), 0)
    };
    let streams = interference.iter();
    let streams = streams.map(|one| (one.cost, one.period, Work::from(one.jitter), one.cost));
    let reserved = reservations.iter().map(|one| (one.budget, one.period, Work::from(*blur), 0));
    let all = || tasks.iter().map(late).chain(streams.clone()).chain(reserved.clone());
    let shares = || all().map(|(part, whole, ..)| (part, whole));
    let ahead = all().try_fold(0, |sum: Work, (part, whole, late, burst)| {
        let late = late.checked_mul(share(part, whole))?;
        sum.checked_add(late)?.checked_add(Work::from(burst) << DIGITS)
    });
    let blocking = tasks.iter().map(|task| task.blocking).max().unwrap_or(0);
    let ahead = ahead.and_then(|ahead| ahead.checked_add(Work::from(blocking) << DIGITS));
    if (ahead, supply.delay()) == (Some(0), 0) && exactly(shares(), supply) == Some(true) {
        return true;
    }
    let demanded = shares().map(|(part, whole)| share(part, whole)).try_fold(0, Work::checked_add);
    let (period, budget) = supply.cycle();
    let supplied = (Work::from(budget) << DIGITS) / Work::from(period.max(1));
    let has = Work::from(first).checked_sub(supply.delay());
    let has = has.and_then(|time| time.checked_mul(supplied));
    let asked = demanded.and_then(|share| share.checked_mul(first.into())?.checked_add(ahead?));
    let is_below = |one: Option<Work>, other: Option<Work>| {
        one.zip(other).is_some_and(|(one, other)| one <= other)
    };
    is_below(demanded, Some(supplied)) && is_below(asked, has)
}

/// Rounded up.
fn share(part: Time, whole: Time) -> Work {
    (Work::from(part) << DIGITS).div_ceil(whole.max(1).into())
}

/// Whether shares together are at most the supply's, as fractions; nothing where their common
/// denominator is too great.
fn exactly(shares: impl Iterator<Item = (Time, Time)>, supply: &Supply) -> Option<bool> {
    let add = |(part, whole): (Work, Work), (more, of): (Time, Time)| {
        let (more, of) = reduced(more.into(), of.into());
        let shared = gcd(whole, of);
        let part = part.checked_mul(of / shared)?.checked_add(more.checked_mul(whole / shared)?)?;
        Some(reduced(part, whole.checked_mul(of / shared)?))
    };
    let (part, whole) = shares.into_iter().try_fold((0, 1), add)?;
    let (period, budget) = supply.cycle();
    Some(part.checked_mul(period.into())? <= whole.checked_mul(budget.into())?)
}

fn reduced(part: Work, whole: Work) -> (Work, Work) {
    let shared = gcd(part, whole).max(1);
    (part / shared, whole / shared)
}

fn gcd(mut one: Work, mut other: Work) -> Work {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
