//! Earliest deadline first, preemptive, on one CPU.

mod demand;
mod line;
mod response;

pub use demand::demand_test;
pub(crate) use line::fits as fits_by_shares;
pub use response::response;

use crate::task::{Stream, Workload, total};
use crate::utilisation::{LongRun, long_run};
use crate::verdict::Verdict;
use crate::{AnalysisError, Limits, Steps, Supply, Time};

/// The verdict on each task, in their order: by its response-time bound. Exact for independent
/// sporadic tasks on a supply whose bound can be met; else safe. Where a bound takes too long to
/// find, or there are reservations, and [`demand_test`] holds, it is the deadline. Fails on
/// parameters that mean nothing.
pub fn analyse(
    workload: &Workload,
    supply: &Supply,
    limits: Limits,
) -> Result<Vec<Verdict>, AnalysisError> {
    workload.check()?;
    let steps = || Steps::new(limits.test);
    let verdict = |index: usize| {
        let seen = workload.seen_by(Some(index));
        let demand = demand_test(&seen, supply, &mut steps());
        verdict(&seen, index, supply, &demand, &mut steps())
    };
    Ok((0..workload.tasks.len()).map(verdict).collect())
}

/// The verdict on one task where the demand test has said `demand`.
pub(crate) fn verdict(
    workload: &Workload,
    index: usize,
    supply: &Supply,
    demand: &Result<Option<crate::Excess>, AnalysisError>,
    steps: &mut Steps,
) -> Verdict {
    let deadline = workload.tasks[index].deadline;
    let found = response(workload, index, supply, steps);
    match (found, demand) {
        (Err(_), Ok(None)) => Verdict::Fits { bound: deadline, slack: 0 },
        (Err(AnalysisError::Unsupported { .. }), Err(error)) => Verdict::Unknown(error.clone()),
        (Err(AnalysisError::Unsupported { .. }), Ok(Some(excess))) => Verdict::Exceeded(*excess),
        (found, _) => Verdict::of(found, deadline),
    }
}

/// How far a busy period can reach.
enum Busy {
    /// More is demanded than supplied in the long run.
    Endless,
    /// Not beyond this length, in ns; or what comes later repeats what came before.
    Until(Time),
}

/// The longest busy period: when everything is done that is released as early as possible.
fn busy(workload: &Workload, supply: &Supply, steps: &mut Steps) -> Result<Busy, AnalysisError> {
    let tasks = workload.tasks.iter();
    if supply.is_for_one_task() && tasks.len() + workload.reservations.len() > 1 {
        let name = workload.tasks.first().map_or("reservation", |task| &task.name).to_string();
        let what = "several tasks in a soft constant-bandwidth server";
        return Err(AnalysisError::Unsupported { name, what });
    }
    let all: Vec<Stream> =
        tasks.clone().map(|task| task.stream()).chain(workload.interference.clone()).collect();
    match long_run(&all, &workload.reservations, supply) {
        LongRun::Exceeds => return Ok(Busy::Endless),
        LongRun::Repeats(common) => {
            // Demand grows evenly once the first deadline of each task is behind, supply once the
            // first gap is.
            let settled = tasks.map(|task| task.deadline).chain(supply.time_for(1)).max();
            let until = common.checked_add(settled.unwrap_or(0)).ok_or(AnalysisError::Horizon)?;
            return Ok(Busy::Until(until));
        }
        LongRun::Below => {}
    }
    let blocking = tasks.map(|task| task.blocking).max().unwrap_or(0);
    let mut length = 1;
    loop {
        steps.take(workload.terms() + supply.terms())?;
        let work = total(all.iter().map(|stream| stream.work(length)))
            .saturating_add(workload.reserved(length))
            .saturating_add(blocking.into());
        let next = supply.time_for(work).ok_or(AnalysisError::Horizon)?;
        if next <= length {
            return Ok(Busy::Until(length));
        }
        length = next;
    }
}
