//! Response times under EDF: Spuri's analysis, for any supply.
//!
//! A job of task i that arrives `a` after the beginning of a busy period, with `a >= -J_i`, is due
//! at `y = a + D_i`, and complete at the least w with
//!
//! ```text
//! sbf(w) >= b(y) + (floor((a + J_i)/T_i) + 1) C_i
//!           + sum over k of min(ceil((w + J_k)/T_k), floor((y + e - D_k + J_k)/T_k) + 1) C_k
//! ```
//!
//! where the scheduler takes y for e later at most. The response is w - a. Its maximum lies where
//! y, or y + e, is a deadline of some task whose first job is released with the busy period. All
//! jobs with an equal deadline count as earlier.

use super::{Busy, busy};
use crate::task::{Task, Work, Workload, total};
use crate::verdict::{Bound, Excess};
use crate::{AnalysisError, Steps, Supply, Time};

/// The response-time bound of task `index` of a workload, `None` if there is none.
pub fn response(
    workload: &Workload,
    index: usize,
    supply: &Supply,
    steps: &mut Steps,
) -> Result<Option<Bound>, AnalysisError> {
    workload.check()?;
    let task = &workload.tasks[index];
    if !workload.reservations.is_empty() {
        let what = "response times beside a constant-bandwidth server";
        return Err(AnalysisError::Unsupported { name: task.name.clone(), what });
    }
    let Busy::Until(busy) = busy(workload, supply, steps)? else { return Ok(None) };
    let job = |arrival| Job { workload, index, task, arrival };
    // Arrivals in the busy period are at -J_i + `offset`.
    let jitter = i128::from(task.jitter);
    let (mut worst, mut worst_job) = (0, job(-jitter));
    let blur = i128::from(workload.blur);
    let others = workload.tasks.iter().map(|other| (other, blur));
    for (other, blur) in others.chain([(task, 0)]) {
        let period = i128::from(other.period);
        let distance = other.first_due() - task.first_due() - blur;
        let mut offset = if distance < 0 { distance.rem_euclid(period) } else { distance };
        while offset < i128::from(busy) + jitter {
            let job = job(offset - jitter);
            let response = i128::from(job.end(supply, steps)?) - job.arrival;
            if response > worst {
                (worst, worst_job) = (response, job);
            }
            offset += period;
        }
    }
    let response = Time::try_from(worst).map_err(|_| AnalysisError::Horizon)?;
    let late = response > task.deadline;
    Ok(Some(Bound { response, excess: late.then(|| worst_job.excess(supply)) }))
}

/// The job under analysis.
struct Job<'a> {
    workload: &'a Workload,
    index: usize,
    task: &'a Task,
    arrival: i128,
}

impl Job<'_> {
    fn due(&self) -> i128 {
        self.arrival + i128::from(self.task.deadline)
    }

    /// The latest deadline that the scheduler can take for earlier than its own.
    fn last_before(&self) -> i128 {
        self.due() + i128::from(self.workload.blur)
    }

    /// What does not depend on when it is complete: its own predecessors, and blocking.
    fn fixed(&self) -> Work {
        let released = self.arrival + i128::from(self.task.jitter);
        let jobs = (released / i128::from(self.task.period)) as Work + 1;
        let blocked = |task: &&Task| task.first_due() <= self.last_before();
        let blocking = self.workload.tasks.iter().filter(blocked).map(|task| task.blocking).max();
        let blocking = blocking.unwrap_or(0).max(self.task.blocking);
        jobs.saturating_mul(self.task.execution.into()).saturating_add(blocking.into())
    }

    /// The work of others that comes before it, if it is complete at `end`.
    fn others(&self, end: Time) -> Work {
        let (others, due) = (self.workload.tasks.iter().enumerate(), self.last_before());
        let work = |(index, task): (usize, &Task)| {
            let jobs = task.due(due).min(task.stream().released(end));
            if index == self.index { 0 } else { jobs.saturating_mul(task.execution.into()) }
        };
        total(others.map(work)).saturating_add(self.workload.interference(end))
    }

    fn end(&self, supply: &Supply, steps: &mut Steps) -> Result<Time, AnalysisError> {
        let (fixed, mut end) = (self.fixed(), 0);
        loop {
            steps.take(self.workload.terms() + supply.terms())?;
            let work = fixed.saturating_add(self.others(end));
            let next = supply.time_for(work).ok_or(AnalysisError::Horizon)?;
            if next <= end {
                return Ok(end);
            }
            end = next;
        }
    }

    /// Why it is late: what is demanded by its deadline.
    fn excess(&self, supply: &Supply) -> Excess {
        let instant = Time::try_from(self.due()).unwrap_or(0);
        let demand = self.fixed().saturating_add(self.others(instant));
        Excess { instant, demand, supply: supply.provided(instant), first: false }
    }
}
