//! A schedule, played tick by tick.

use analysis::Task;

/// A job: arrived, ready from then on, due, and what is left of it.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub task: usize,
    pub arrival: i64,
    pub ready: i64,
    pub due: i64,
    pub left: u64,
}

/// The jobs of a task whose first one arrives at `first` and which are ready no earlier than 0:
/// those that arrive before 0 have all the jitter that they can.
pub fn jobs(index: usize, task: &Task, first: i64, horizon: i64) -> Vec<Job> {
    let job = |arrival: i64| Job {
        task: index,
        arrival,
        ready: arrival.max(0),
        due: arrival + task.deadline as i64,
        left: task.execution,
    };
    (first..horizon).step_by(task.period as usize).map(job).collect()
}

/// All tasks with their first jobs ready at 0.
pub fn synchronous(tasks: &[Task], horizon: i64) -> Vec<Job> {
    let jobs = |(index, task)| self::jobs(index, task, -(task_jitter(task)), horizon);
    tasks.iter().enumerate().flat_map(jobs).collect()
}

fn task_jitter(task: &Task) -> i64 {
    task.jitter as i64
}

/// Plays jobs until `horizon`: in each tick with supply, the ready job with the least `key` runs.
/// Tells of each job that is complete when it is.
pub fn play<K: Ord>(
    jobs: &[Job],
    horizon: i64,
    supplied: impl Fn(u64) -> bool,
    key: impl Fn(&Job) -> K,
) -> Vec<(Job, i64)> {
    let (mut waiting, mut ready, mut complete) = (jobs.to_vec(), Vec::<Job>::new(), Vec::new());
    waiting.sort_by_key(|job| -job.ready);
    for now in 0..horizon {
        while waiting.last().is_some_and(|job| job.ready <= now) {
            ready.extend(waiting.pop());
        }
        if !supplied(now as u64) {
            continue;
        }
        let Some(next) = (0..ready.len()).min_by_key(|index| key(&ready[*index])) else { continue };
        ready[next].left -= 1;
        if ready[next].left == 0 {
            complete.push((ready.swap_remove(next), now + 1));
        }
    }
    complete
}

/// The longest response of a task.
pub fn longest(complete: &[(Job, i64)], task: usize) -> i64 {
    let of = complete.iter().filter(|(job, _)| job.task == task);
    of.map(|(job, end)| end - job.arrival).max().unwrap_or(0)
}
