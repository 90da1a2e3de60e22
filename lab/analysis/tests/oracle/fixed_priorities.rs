//! Fixed priorities.

use crate::schedule::{Job, longest, play, synchronous};
use crate::tasks::{Pattern, pattern, task};
use analysis::{Limits, Supply, Task, Verdict, Workload, fixed_priority};
use proptest::prelude::*;
use response_time_analysis::arrival::Sporadic;
use response_time_analysis::demand::RBF;
use response_time_analysis::time::{Duration, Service};
use response_time_analysis::wcet::Scalar;

/// Long enough for what small periods have as common multiple with a small cycle of supply.
const HORIZON: i64 = 12_000;

/// The longest response of a task, played: all are released at once after an instant at which
/// supply has just ended, and a job that blocks has just begun.
fn played(tasks: &[Task], index: usize, pattern: &Pattern) -> i64 {
    let task = &tasks[index];
    let mut jobs = synchronous(tasks, HORIZON);
    jobs.retain(|job| tasks[job.task].priority >= task.priority);
    if task.blocking > 0 {
        let left = task.blocking;
        jobs.push(Job { task: tasks.len(), arrival: 0, ready: 0, due: 0, left });
    }
    // First what blocks, then other tasks, then this one, its jobs in their order.
    let key = |job: &Job| (job.task != tasks.len(), job.task == index, job.arrival);
    let worst = |ticks| longest(&play(&jobs, HORIZON, |now| Pattern::on(ticks, now), key), index);
    pattern.ticks.iter().map(worst).max().unwrap()
}

/// Whether a bound is what was played on a whole CPU, and not below it on any other supply: the
/// worst phases of windows, jitter and blocking need not come together.
fn agrees(bound: u64, played: i64, pattern: &Pattern) -> bool {
    let bound = bound as i64;
    if pattern.supply.is_whole() { bound == played } else { bound >= played }
}

proptest! {
    #[test]
    fn bounds_are_what_is_played(
        tasks in prop::collection::vec(task(12), 1..4), pattern in pattern(),
    ) {
        let verdicts =
            fixed_priority::analyse(&Workload::of(&tasks), &pattern.supply, Limits::default());
        for (index, verdict) in verdicts.unwrap().iter().enumerate() {
            let deadline = tasks[index].deadline;
            match verdict {
                Verdict::Unbounded => {}
                Verdict::Fits { bound, slack } => {
                    prop_assert!(agrees(*bound, played(&tasks, index, &pattern), &pattern));
                    prop_assert_eq!(bound + slack, deadline);
                }
                Verdict::Late { bound, excess } => {
                    prop_assert!(agrees(*bound, played(&tasks, index, &pattern), &pattern));
                    prop_assert!(*bound > deadline && excess.demand > excess.supply.into());
                    prop_assert_eq!(pattern.supply.provided(excess.instant), excess.supply);
                }
                other => prop_assert!(false, "{other}"),
            }
        }
    }

    #[test]
    fn bounds_are_those_of_the_other_implementation(
        mut tasks in prop::collection::vec(task(0), 1..6),
    ) {
        for (task, priority) in tasks.iter_mut().zip(0..) {
            task.priority = priority;
            task.period *= 7;
        }
        let limit = Duration::from(100_000);
        let rbf = |task: &Task| RBF::new(
            Sporadic { min_inter_arrival: task.period.into(), jitter: Duration::zero() },
            Scalar::new(Service::from(task.execution)),
        );
        for (index, task) in tasks.iter().enumerate() {
            let above: Vec<_> = tasks[index + 1..].iter().map(rbf).collect();
            let own = response_time_analysis::fixed_priority::floating_nonpreemptive::
                TaskUnderAnalysis { rbf: &rbf(task), blocking_bound: task.blocking.into() };
            let theirs = response_time_analysis::fixed_priority::floating_nonpreemptive::
                dedicated_uniproc_rta(&own, &above, limit);
            let mut steps = analysis::Steps::new(1_000_000);
            let whole = Supply::whole();
            let ours =
                fixed_priority::response(&Workload::of(&tasks), index, &whole, &mut steps);
            let ours = ours.unwrap().map(|bound| Duration::from(bound.response));
            prop_assert_eq!(ours, theirs.ok());
        }
    }
}

#[test]
fn a_later_job_can_be_the_worst() {
    // Lehoczky's example of deadlines beyond periods: the fifth job of the second task.
    let tasks =
        [Task::new("a", 26, 70).priority(2), Task::new("b", 62, 100).deadline(118).priority(1)];
    let found = fixed_priority::analyse(&Workload::of(&tasks), &Supply::whole(), Limits::default());
    assert_eq!(found.unwrap()[1], Verdict::Fits { bound: 118, slack: 0 });
}
