//! A plain simulator of fixed priorities on one CPU, in steps of a unit, in which nothing but
//! `fixed` takes time. Mutexes serve in order of arrival, without inheritance.

use rtsim::{Activation, Instruction, Task, TaskSet, Time};
use std::collections::VecDeque;

/// A task while it is simulated.
struct Live<'s> {
    task: &'s Task,
    /// Releases that no job has begun with.
    released: VecDeque<u64>,
    /// The release of the job that is under way, the next instruction, and what is left of one
    /// that takes time.
    job: Option<(u64, usize, Option<u64>)>,
    waits: bool,
    responses: Vec<u64>,
}

/// A mutex: its owner, and who waits.
#[derive(Default)]
struct Mutex {
    owner: Option<usize>,
    queue: VecDeque<usize>,
}

/// The response times of each task, in units.
pub fn responses(set: &TaskSet) -> Vec<Vec<u64>> {
    let live = |task| Live {
        task,
        released: VecDeque::new(),
        job: None,
        waits: false,
        responses: Vec::new(),
    };
    let mut tasks: Vec<Live> = set.tasks.iter().map(live).collect();
    let mut mutexes: Vec<Mutex> = set.objects.iter().map(|_| Mutex::default()).collect();
    for now in 0..set.duration {
        for live in &mut tasks {
            let Task { phase, activation, .. } = *live.task;
            let is_release = match activation {
                Activation::Period(period) => now >= phase && (now - phase).is_multiple_of(period),
                _ => now == phase,
            };
            if is_release {
                live.released.push_back(now);
            }
            if live.job.is_none() {
                live.job = live.released.pop_front().map(|release| (release, 0, None));
            }
        }
        // What takes no time happens until a task computes, or none can run.
        while let Some(index) = most_urgent(&tasks) {
            if computes(&mut tasks, index) {
                break;
            }
            go_on(&mut tasks, &mut mutexes, index, now);
        }
    }
    tasks.into_iter().map(|live| live.responses).collect()
}

fn most_urgent(tasks: &[Live]) -> Option<usize> {
    let ready = (0..tasks.len()).filter(|&index| tasks[index].job.is_some() && !tasks[index].waits);
    ready.min_by_key(|&index| tasks[index].task.priority)
}

/// Whether the task spends a unit on its instruction.
fn computes(tasks: &mut [Live], index: usize) -> bool {
    let task = tasks[index].task;
    let Some((_, at, left)) = &mut tasks[index].job else { return false };
    let Some(Instruction::Compute(Time::Fixed(length))) = task.code.get(*at) else { return false };
    let units = left.get_or_insert(*length);
    let spends = *units > 0;
    *units -= u64::from(spends);
    spends
}

/// An instruction that takes no time, or the end of one, or that of the job.
fn go_on(tasks: &mut [Live], mutexes: &mut [Mutex], index: usize, now: u64) {
    let Some((release, at, _)) = tasks[index].job else { return };
    tasks[index].job = Some((release, at + 1, None));
    match tasks[index].task.code.get(at) {
        None => {
            tasks[index].responses.push(now - release);
            tasks[index].job = tasks[index].released.pop_front().map(|next| (next, 0, None));
        }
        Some(Instruction::Lock(mutex)) => {
            let mutex = &mut mutexes[mutex.object];
            match mutex.owner {
                None => mutex.owner = Some(index),
                Some(_) => {
                    mutex.queue.push_back(index);
                    tasks[index].waits = true;
                }
            }
        }
        Some(Instruction::Unlock(mutex)) => {
            let mutex = &mut mutexes[mutex.object];
            mutex.owner = mutex.queue.pop_front();
            if let Some(next) = mutex.owner {
                tasks[next].waits = false;
            }
        }
        Some(_) => {}
    }
}
