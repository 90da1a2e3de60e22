//! Service curves, played by the rules of ledger S4-03 with a quantum of one tick.

use crate::played_servers::Dice;
use crate::schedule::Job;
use analysis::{Granularity, Random, ServiceCurve, Steps, Task};
use proptest::prelude::*;

const HORIZON: usize = 600;
/// Slopes are in thousandths of a CPU, service in thousandths of a tick.
const UNIT: u64 = 1_000;

/// A leaf: its curve, what it had under the real-time criterion, and its curves of deadlines and
/// eligible instants by tick.
struct Leaf {
    first: u64,
    bend: u64,
    rest: u64,
    had: u64,
    deadlines: Vec<u64>,
    eligible: Vec<u64>,
    was_ready: bool,
}

impl Leaf {
    fn new((first, bend, rest): (u64, u64, u64)) -> Leaf {
        let never = vec![u64::MAX; 20 * HORIZON];
        let (deadlines, eligible) = (never.clone(), never);
        Leaf { first, bend, rest, had: 0, deadlines, eligible, was_ready: false }
    }

    fn curve(&self, time: u64) -> u64 {
        let first = time.min(self.bend);
        first * self.first + (time - first) * self.rest
    }

    fn wake(&mut self, now: usize) {
        let is_concave = self.first > self.rest;
        let moves = self.deadlines[now] >= self.had;
        for time in now..self.deadlines.len() {
            let after = (time - now) as u64;
            let fresh = self.curve(after) + self.had;
            let line = after * self.rest + self.had;
            if is_concave {
                self.deadlines[time] = self.deadlines[time].min(fresh);
                self.eligible[time] = self.deadlines[time];
            } else if moves {
                (self.deadlines[time], self.eligible[time]) = (fresh, line);
            }
        }
    }

    fn deadline(&self) -> usize {
        self.deadlines.partition_point(|service| *service < self.had + UNIT)
    }
}

/// The longest responses; what no leaf must have now is left idle.
fn played(leaves: &mut [Leaf], tasks: &[Task], dice: &mut Dice) -> Vec<i64> {
    let horizon = HORIZON as i64;
    let arrivals = (0..).zip(tasks).flat_map(|(index, task)| dice.jobs(index, task, horizon));
    let (mut jobs, mut worst) = (arrivals.collect::<Vec<Job>>(), vec![0; tasks.len()]);
    jobs.sort_by_key(|job| job.arrival);
    for now in 0..HORIZON {
        let mut best: Option<(usize, usize)> = None;
        for (index, leaf) in leaves.iter_mut().enumerate() {
            let ready = jobs.iter().any(|job| job.task == index && job.ready <= now as i64);
            if ready && !leaf.was_ready {
                leaf.wake(now);
            }
            leaf.was_ready = ready;
            if ready && leaf.eligible[now] >= leaf.had {
                let candidate = (leaf.deadline(), index);
                best = Some(best.map_or(candidate, |best| best.min(candidate)));
            }
        }
        let Some((_, index)) = best else { continue };
        leaves[index].had += UNIT;
        let place = jobs.iter().position(|job| job.task == index).unwrap();
        jobs[place].left -= 1;
        if jobs[place].left == 0 {
            let job = jobs.remove(place);
            worst[index] = worst[index].max(now as i64 + 1 - job.arrival);
        }
    }
    worst
}

proptest! {
    #[test]
    fn no_job_takes_longer_than_the_distance(
        parts in prop::collection::vec((0..=10u64, 1..30u64, 1..=10u64), 1..4),
        tasks in prop::collection::vec((1..5u64, 8..60u64), 4), seed in any::<u64>(),
    ) {
        // Slopes that fit together whatever they are: tenths of an equal share.
        let share = UNIT / 10 / parts.len() as u64;
        let slopes = |(first, bend, rest): &(u64, u64, u64)| (first * share, *bend, rest * share);
        let parts: Vec<_> = parts.iter().map(slopes).collect();
        let curve = |(first, bend, rest): &(u64, u64, u64)| {
            ServiceCurve::new(first * 1_000_000, *bend, rest * 1_000_000).unwrap()
        };
        let curves: Vec<ServiceCurve> = parts.iter().map(curve).collect();
        prop_assert_eq!(ServiceCurve::WHOLE.admit(&curves), None);
        let task = |(execution, period): &(u64, u64)| Task::new("a", *execution, *period);
        let tasks: Vec<Task> = tasks.iter().map(task).take(parts.len()).collect();
        let mut leaves: Vec<Leaf> = parts.iter().map(|part| Leaf::new(*part)).collect();
        let played = played(&mut leaves, &tasks, &mut Dice(Random::of(seed)));
        let granularity = Granularity { quantum: 1, non_preemptive: 1 };
        for ((curve, task), played) in curves.iter().zip(&tasks).zip(played) {
            let bound = curve.response(task, granularity, 0, &mut Steps::new(10_000)).unwrap();
            if let Some(bound) = bound {
                prop_assert!(played <= bound.response as i64, "{played}, {bound:?}, {curve:?}");
            }
        }
    }
}
