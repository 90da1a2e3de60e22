//! Global EDF on several CPUs, played by its definition: the scheduling tree has a tree for each
//! CPU and no such policy.

use crate::Time;
use crate::arrivals::{Arrivals, Jobs, Miss};
use analysis::Task;

/// Plays tasks on so many CPUs until an instant; the first job that is late, if one is. Of equal
/// deadlines the first task's comes first.
pub fn play(tasks: &[Task], cpus: usize, arrivals: &mut Arrivals, horizon: Time) -> Option<Miss> {
    let mut all: Vec<Jobs> = tasks.iter().map(|task| Jobs::new(task, arrivals)).collect();
    let mut now = 0;
    let mut ready: Vec<usize> = Vec::new();
    loop {
        for index in 0..all.len() {
            let jobs = &mut all[index];
            if jobs.next <= now {
                if let Some(miss) = jobs.arrive(arrivals) {
                    return Some(miss);
                }
                let key = |index: usize| (all[index].due, index);
                let place = ready.partition_point(|other| key(*other) < key(index));
                ready.insert(place, index);
            }
        }
        let run = ready.len().min(cpus);
        let arrival = all.iter().map(|jobs| jobs.next).min()?;
        let end = ready[..run].iter().map(|index| now + all[*index].left).min();
        let next = end.map_or(arrival, |end| end.min(arrival));
        if next > horizon {
            return all.iter().find_map(|jobs| jobs.end(horizon));
        }
        for index in &ready[..run] {
            all[*index].left -= next - now;
        }
        now = next;
        let mut late = None;
        ready.retain(|index| {
            let jobs = &all[*index];
            if jobs.left == 0 && late.is_none() {
                late = jobs.complete(now);
            }
            jobs.left > 0
        });
        if late.is_some() {
            return late;
        }
    }
}
