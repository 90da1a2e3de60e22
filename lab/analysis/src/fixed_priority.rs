//! Fixed priorities, preemptive: response-time analysis over the busy period.
//!
//! Job q = 0, 1, ... of the busy period of task i, in which all jobs of more urgent and equal
//! tasks arrive as early as they can, is complete at the least w with
//!
//! ```text
//! sbf(w) >= B_i + (q + 1) C_i + sum over hep(i) of ceil((w + J_k)/T_k) C_k
//! R_q = w + J_i - q T_i
//! ```
//!
//! and the busy period ends at the first w <= (q + 1) T_i - J_i. So deadlines may exceed periods.
//! Tasks of equal priority count as more urgent, whatever the order among them.

use crate::task::{Stream, Task, Work, Workload, total};
use crate::utilisation::{LongRun, long_run};
use crate::verdict::{Bound, Excess, Verdict};
use crate::{AnalysisError, Limits, Steps, Supply, Time};

/// The verdict on each task, in their order. Exact for independent sporadic tasks of different
/// priorities on a supply whose bound can be met; else safe. Fails on parameters that mean
/// nothing.
pub fn analyse(
    workload: &Workload,
    supply: &Supply,
    limits: Limits,
) -> Result<Vec<Verdict>, AnalysisError> {
    workload.check()?;
    let verdict = |(index, task): (usize, &Task)| {
        let found = response(workload, index, supply, &mut Steps::new(limits.test));
        Verdict::of(found, task.deadline)
    };
    Ok(workload.tasks.iter().enumerate().map(verdict).collect())
}

/// The response-time bound of task `index` of a workload, `None` if there is none.
pub fn response(
    workload: &Workload,
    index: usize,
    supply: &Supply,
    steps: &mut Steps,
) -> Result<Option<Bound>, AnalysisError> {
    workload.check()?;
    let task = &workload.tasks[index];
    let unsupported = |what| Err(AnalysisError::Unsupported { name: task.name.clone(), what });
    if !workload.reservations.is_empty() {
        return unsupported("a constant-bandwidth server under fixed priorities");
    }
    if supply.is_for_one_task() && workload.tasks.len() > 1 {
        return unsupported("several tasks in a soft constant-bandwidth server");
    }
    Level::of(workload, index).response(supply, steps)
}

/// A task and what delays it.
struct Level<'a> {
    task: &'a Task,
    /// Tasks of at least its priority, and interference.
    before: Vec<Stream>,
}

impl Level<'_> {
    fn of(workload: &Workload, index: usize) -> Level<'_> {
        let task = &workload.tasks[index];
        let before =
            |(other, before): &(usize, &Task)| *other != index && before.priority >= task.priority;
        let tasks = workload.tasks.iter().enumerate().filter(before);
        let tasks = tasks.map(|(_, task)| task.at_its_limit().stream());
        Level { task, before: tasks.chain(workload.interference.iter().copied()).collect() }
    }

    /// The work that must be done by `end` for job `job` to be complete.
    fn demand(&self, job: Work, end: Time) -> Work {
        let own = (job + 1).saturating_mul(self.task.execution.into());
        let before = total(self.before.iter().map(|stream| stream.work(end)));
        own.saturating_add(self.task.blocking.into()).saturating_add(before)
    }

    /// When job `job` is complete: the least fixed point not before `from`, which is not behind
    /// it.
    fn end(
        &self,
        job: Work,
        from: Time,
        supply: &Supply,
        steps: &mut Steps,
    ) -> Result<Time, AnalysisError> {
        let mut end = from;
        loop {
            steps.take(self.before.len() + supply.terms())?;
            let next = supply.time_for(self.demand(job, end)).ok_or(AnalysisError::Horizon)?;
            if next <= end {
                return Ok(end);
            }
            end = next;
        }
    }

    fn response(&self, supply: &Supply, steps: &mut Steps) -> Result<Option<Bound>, AnalysisError> {
        let own = [self.task.stream()];
        let all: Vec<Stream> = self.before.iter().copied().chain(own).collect();
        let period = Work::from(self.task.period);
        // A workload that takes exactly its supply never ends its busy period, but repeats.
        let last = match long_run(&all, &[], supply) {
            LongRun::Exceeds => return Ok(None),
            LongRun::Repeats(common) => Work::from(common) / period - 1,
            LongRun::Below => Work::MAX,
        };
        let (mut job, mut end, mut worst) = (0, 0, (0, 0));
        loop {
            end = self.end(job, end, supply, steps)?;
            let arrived = job * period;
            let response = Work::from(end) + Work::from(self.task.jitter) - arrived;
            worst = worst.max((response, job));
            if Work::from(end) + Work::from(self.task.jitter) <= arrived + period || job == last {
                break;
            }
            job += 1;
        }
        let (response, job) = worst;
        let response = Time::try_from(response).map_err(|_| AnalysisError::Horizon)?;
        let late = response > self.task.deadline;
        Ok(Some(Bound { response, excess: late.then(|| self.excess(job, supply)) }))
    }

    /// Why job `job` is late: what is demanded by its deadline.
    fn excess(&self, job: Work, supply: &Supply) -> Excess {
        let due = job * Work::from(self.task.period) + Work::from(self.task.deadline);
        let instant = due.saturating_sub(self.task.jitter.into()) as Time;
        let supplied = supply.provided(instant);
        Excess { instant, demand: self.demand(job, instant), supply: supplied, first: false }
    }
}
