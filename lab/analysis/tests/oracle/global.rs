//! Global EDF.

use crate::played_servers::Dice;
use crate::schedule::Job;
use analysis::global::{Sufficient, density, interference};
use analysis::{Random, Steps, Task};
use proptest::prelude::*;

const HORIZON: i64 = 1_000;

/// The longest responses on several CPUs.
fn played(tasks: &[Task], cpus: usize, dice: &mut Dice) -> Vec<i64> {
    let arrivals = (0..).zip(tasks).flat_map(|(index, task)| dice.jobs(index, task, HORIZON));
    let (mut jobs, mut worst) = (arrivals.collect::<Vec<Job>>(), vec![0; tasks.len()]);
    for now in 0..HORIZON {
        let mut ready: Vec<usize> = (0..jobs.len()).filter(|job| jobs[*job].ready <= now).collect();
        ready.sort_by_key(|job| (jobs[*job].due, jobs[*job].arrival));
        let mut running = vec![false; tasks.len()];
        let mut free = cpus;
        for job in ready {
            if free > 0 && !std::mem::replace(&mut running[jobs[job].task], true) {
                free -= 1;
                jobs[job].left -= 1;
                if jobs[job].left == 0 {
                    let response = &mut worst[jobs[job].task];
                    *response = (*response).max(now + 1 - jobs[job].arrival);
                }
            }
        }
        jobs.retain(|job| job.left > 0);
    }
    worst
}

prop_compose! {
    fn constrained()(period in 4..14u64, share in 1..6u64, early in 0..3u64) -> Task {
        let execution = (period / share).max(1);
        Task::new("a", execution, period).deadline((period - early).max(execution))
    }
}

proptest! {
    #[test]
    fn what_is_shown_holds(
        tasks in prop::collection::vec(constrained(), 2..7), cpus in 2..4u32, seed in any::<u64>(),
    ) {
        let mut steps = Steps::new(1_000_000);
        let shown = [density(&tasks, cpus), interference(&tasks, &[], cpus, &mut steps)];
        let played = played(&tasks, cpus as usize, &mut Dice(Random::of(seed)));
        for found in shown {
            if let Sufficient::Fits(bounds) = found.unwrap() {
                for ((task, bound), played) in tasks.iter().zip(bounds).zip(&played) {
                    prop_assert!(bound <= task.deadline && *played <= bound as i64);
                }
            }
        }
    }
}
