//! Global EDF on identical CPUs: sufficient tests. A set that fails both may still be schedulable.

use crate::error::require;
use crate::task::{Stream, Task, Work};
use crate::{AnalysisError, Steps, Time};

/// What a sufficient test says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sufficient {
    /// All deadlines are met; with the response-time bound of each task where the test has one,
    /// else its deadline, in ns.
    Fits(Vec<Time>),
    /// The test does not show it.
    NotShown,
}

/// The density test of Goossens, Funk and Baruah: with `density = C/min(D, T)` the sum is at most
/// `m - (m - 1) max density`. Sufficient; any deadlines. O(n).
pub fn density(tasks: &[Task], cpus: u32) -> Result<Sufficient, AnalysisError> {
    check(tasks, cpus)?;
    // 63 binary digits after the point, rounded up: never too small.
    let density = |task: &Task| {
        let within = Work::from(task.deadline.min(task.period));
        (Work::from(task.execution) << 63).div_ceil(within)
    };
    let densities = || tasks.iter().map(density);
    let (sum, most) = (densities().fold(0, Work::saturating_add), densities().max().unwrap_or(0));
    let others = most.saturating_mul(Work::from(cpus) - 1);
    let shown = most <= 1 << 63 && sum.saturating_add(others) <= Work::from(cpus) << 63;
    let deadlines = || tasks.iter().map(|task| task.deadline).collect();
    Ok(if shown { Sufficient::Fits(deadlines()) } else { Sufficient::NotShown })
}

/// The interference test of Bertogna and Cirinei for deadlines within periods: what others can do
/// between a job's arrival and its deadline, less for each task that is known to finish early.
/// Sufficient; better than [`density`] for many sets and worse for some. O(n^2) a round.
///
/// ```text
/// I_k = N C_k + min(C_k, max(0, D - N T_k - S_k)),  N = floor((D - D_k)/T_k) + 1 if D >= D_k
/// S   = D - C - floor(1/m sum over k of min(I_k, D - C + 1)) >= 0
/// ```
///
/// What comes `before` all tasks counts like a task, wherever it runs, with one occurrence more
/// that is left from before: a job waits only while every CPU is taken by something.
pub fn interference(
    tasks: &[Task],
    before: &[Stream],
    cpus: u32,
    steps: &mut Steps,
) -> Result<Sufficient, AnalysisError> {
    check(tasks, cpus)?;
    before.iter().try_for_each(|stream| stream.check("global EDF"))?;
    if let Some(late) = tasks.iter().find(|task| task.deadline > task.period) {
        let what = "global EDF with a deadline beyond the period, but for density";
        return Err(AnalysisError::Unsupported { name: late.name.clone(), what });
    }
    let mut slacks = vec![None::<Time>; tasks.len()];
    loop {
        let mut better = false;
        for index in 0..tasks.len() {
            steps.take(tasks.len() + before.len())?;
            let slack = slack(tasks, before, &slacks, index, cpus);
            better |= slack > slacks[index];
            slacks[index] = slacks[index].max(slack);
        }
        if slacks.iter().all(Option::is_some) {
            let bound = |(task, slack): (&Task, &Option<Time>)| task.deadline - slack.unwrap_or(0);
            return Ok(Sufficient::Fits(tasks.iter().zip(&slacks).map(bound).collect()));
        }
        if !better {
            return Ok(Sufficient::NotShown);
        }
    }
}

/// How long before its deadline a task is complete for sure, if the slacks of others are right.
fn slack(
    tasks: &[Task],
    before: &[Stream],
    slacks: &[Option<Time>],
    index: usize,
    cpus: u32,
) -> Option<Time> {
    let task = &tasks[index];
    let spare = task.deadline.checked_sub(task.execution)?;
    let most = Work::from(spare) + 1;
    let others = tasks.iter().zip(slacks).enumerate().filter(|(other, _)| *other != index);
    let interference = |(_, (other, slack)): (usize, (&Task, &Option<Time>))| {
        let jobs = match task.deadline.checked_sub(other.deadline) {
            Some(distance) => Work::from(distance / other.period) + 1,
            None => 0,
        };
        let before = Work::from(task.deadline)
            .saturating_sub(jobs * Work::from(other.period))
            .saturating_sub(slack.unwrap_or(0).into());
        let cost = Work::from(other.execution);
        jobs.saturating_mul(cost).saturating_add(cost.min(before)).min(most)
    };
    let first = |stream: &Stream| {
        let all = stream.work(task.deadline.saturating_add(stream.period));
        all.min(most)
    };
    let before: Work = before.iter().map(first).sum();
    let sum: Work = others.map(interference).fold(before, Work::saturating_add);
    let delay = sum / Work::from(cpus);
    spare.checked_sub(Time::try_from(delay).ok()?)
}

fn check(tasks: &[Task], cpus: u32) -> Result<(), AnalysisError> {
    require(cpus > 0, "global EDF", "number of CPUs", "above zero", 0)?;
    for task in tasks {
        task.check()?;
        if task.jitter > 0 || task.blocking > 0 {
            let what = "jitter or blocking under global EDF";
            return Err(AnalysisError::Unsupported { name: task.name.clone(), what });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(tasks: &[Task], cpus: u32) -> (bool, bool) {
        let fits = |found| matches!(found, Sufficient::Fits(_));
        let mut steps = Steps::new(100_000);
        (
            fits(density(tasks, cpus).unwrap()),
            fits(interference(tasks, &[], cpus, &mut steps).unwrap()),
        )
    }

    #[test]
    fn each_test_shows_what_the_other_does_not() {
        let heavy = [Task::new("a", 8, 10), Task::new("b", 1, 10), Task::new("c", 1, 10)];
        assert_eq!(shown(&heavy, 2), (true, true));
        // One heavy task uses up the density of both CPUs.
        let heavy = [Task::new("a", 19, 20), Task::new("b", 4, 10), Task::new("c", 1, 100)];
        assert_eq!(shown(&heavy, 2), (false, true));
        let light = vec![Task::new("a", 10, 100); 15];
        assert!(shown(&light, 2).0);
    }

    #[test]
    fn dhalls_effect_is_seen() {
        let mut tasks = vec![Task::new("light", 1, 10); 2];
        tasks.push(Task::new("heavy", 11, 11));
        assert_eq!(shown(&tasks, 2), (false, false));
    }

    #[test]
    fn what_they_do_not_cover_is_refused() {
        let task = [Task::new("a", 1, 10)];
        let steps = &mut Steps::new(1000);
        assert!(density(&task, 0).is_err());
        assert!(density(&task.clone().map(|task| task.jitter(1)), 1).is_err());
        assert!(interference(&task.map(|task| task.deadline(11)), &[], 1, steps).is_err());
        let most = Task::new("a", u64::MAX, u64::MAX);
        assert_eq!(shown(&[most.clone(), most.clone()], 1), (false, false));
        assert_eq!(shown(&[most.clone(), most], u32::MAX), (false, true));
    }
}
