//! Earliest deadline: the order of jobs, against a list; sets that fit miss no deadline.

use super::random::Dice;
use super::*;
use abi::reservation::SHORTEST;
use proptest::prelude::*;

const LEAVES: usize = 6;

#[derive(Clone, Copy)]
struct Task {
    timing: Timing,
    /// The deadline of the job that is released, and whether it goes on.
    deadline: u64,
    open: bool,
    /// When the last job was released, or should have been, and before when a release is early.
    regular: u64,
    next: u64,
    /// When the job was released; or where it is none yet, when the one that is found can have
    /// been at the earliest, `NEVER` for a start-up.
    released: u64,
    unsure: Option<u64>,
    ready: bool,
    /// Jobs that have ended, and those of them that were late.
    ended: u64,
    missed: u64,
}

impl Task {
    fn new(deadline: u64, period: u64) -> Task {
        let timing = Timing { deadline: deadline * SHORTEST, period: period * SHORTEST };
        let (open, unsure, ready) = (false, None, false);
        let (deadline, regular, next, released, ended, missed) = (0, 0, 0, 0, 0, 0);
        Task { timing, deadline, open, regular, next, released, unsure, ready, ended, missed }
    }

    fn release(&mut self, at: u64) {
        self.regular = at.max(self.next);
        (self.open, self.released) = (true, at);
        self.next = self.regular + self.timing.period;
        self.deadline = self.regular + self.timing.deadline;
    }

    fn end(&mut self, now: u64) {
        if self.unsure.is_some() {
            self.next = self.regular;
        } else if self.open {
            self.ended += 1;
            self.missed += u64::from(now > self.deadline);
        }
        (self.open, self.unsure) = (false, None);
    }
}

proptest! {
    /// Sporadic jobs, some early, some late: the first in the list of the earliest deadline runs.
    #[test]
    fn the_earliest_deadline_runs(
        times in prop::array::uniform6((1u64..40, 1u64..40)),
        steps in prop::collection::vec((0u8..7, 0..LEAVES, 0..10 * SHORTEST), 1..200),
    ) {
        let mut storage = Storage::new(LEAVES + 2);
        let mut tree = storage.tree();
        let class = class(&mut tree, Policy::EarliestDeadline);
        let leaves = [(); LEAVES].map(|()| leaf(&mut tree, class, Share::Deadline));
        let mut tasks = times.map(|(deadline, period)| Task::new(deadline, period));
        for (leaf, task) in leaves.iter().zip(&tasks) {
            prop_assert_eq!(tree.set_timing(*leaf, Some(task.timing), 0), Ok(()));
        }
        let (mut now, mut queue) = (0, Vec::<usize>::new());
        for (kind, at, time) in steps {
            let task = &mut tasks[at];
            match kind {
                0 | 1 if !task.ready => {
                    tree.wake(leaves[at], now);
                    task.ready = true;
                    if !task.open {
                        task.release(now);
                    }
                    queue.push(at);
                }
                3 if !task.ready => {
                    let earliest = (time % 2 > 0).then_some(now);
                    match earliest {
                        Some(since) => tree.start_again(leaves[at], since, now),
                        None => tree.start(leaves[at], now),
                    };
                    task.ready = true;
                    if !task.open {
                        task.release(now);
                        task.unsure = Some(earliest.unwrap_or(NEVER));
                    }
                    queue.push(at);
                }
                4 | 5 => {
                    // The next job is there: it is said since when, or not.
                    let said = (kind == 4).then_some(now.saturating_sub(time));
                    tree.next_job(leaves[at], said, now);
                    let (before, earliest) = match (task.unsure, task.open) {
                        (Some(from), _) => (from.min(now), Some(from)),
                        (None, true) => (task.released, None),
                        (None, false) => (now, None),
                    };
                    task.end(now);
                    let released = said.or(earliest).unwrap_or(task.next).clamp(before, now);
                    task.release(released);
                }
                2 if task.ready => {
                    let ends = time % 3 > 0;
                    tree.block(leaves[at], now, ends);
                    task.ready = false;
                    if ends {
                        task.end(now);
                    }
                    queue.retain(|other| *other != at);
                }
                _ => now += time,
            }
            let first = queue.iter().min_by_key(|leaf| tasks[**leaf].deadline);
            let expected = Pick { leaf: first.map(|first| leaves[*first]), until: NEVER };
            prop_assert_eq!(decide(&mut tree, now), expected);
        }
        for (at, task) in leaves.into_iter().zip(tasks) {
            let jobs = tree.inspect(at).expect("it exists").jobs;
            let is_late = task.open && task.unsure.is_none() && now > task.deadline;
            let expected = (task.ended, task.missed + u64::from(is_late));
            prop_assert_eq!((jobs.ended, jobs.missed), expected);
        }
    }

    /// Jobs of tasks that use the CPU up meet their deadlines, all of them.
    #[test]
    fn what_fits_misses_nothing(seed in any::<u64>(), count in 1..=LEAVES) {
        let mut dice = Dice(seed);
        let mut storage = Storage::new(LEAVES + 2);
        let mut tree = storage.tree();
        let class = class(&mut tree, Policy::EarliestDeadline);
        // Each has its part of the whole.
        let periods = [(); LEAVES].map(|()| MS + dice.below(9 * MS));
        let tasks: Vec<(NodeId, u64, u64)> = periods[..count]
            .iter()
            .map(|period| {
                let leaf = leaf(&mut tree, class, Share::Deadline);
                let timing = Timing { deadline: *period, period: *period };
                assert_eq!(tree.set_timing(leaf, Some(timing), 0), Ok(()));
                (leaf, *period, period / count as u64)
            })
            .collect();
        let (mut now, mut jobs) = (0, vec![0; count]);
        while now < 100 * MS {
            let mut next = NEVER;
            for ((leaf, period, work), jobs) in tasks.iter().zip(&mut jobs) {
                let released = now.div_ceil(*period);
                if tree.service(*leaf) == *jobs * work {
                    tree.block(*leaf, now, true);
                    if now >= *jobs * period {
                        tree.wake(*leaf, now);
                        *jobs += 1;
                    }
                }
                let regular = released * period;
                next = next.min(if regular > now { regular } else { now + period });
            }
            let pick = decide(&mut tree, now);
            let left = tasks.iter().zip(&jobs).find(|((leaf, ..), _)| Some(*leaf) == pick.leaf);
            let left = left.map(|((leaf, _, work), jobs)| jobs * work - tree.service(*leaf));
            now = next.min(now.saturating_add(left.unwrap_or(NEVER)));
            tree.account(0, now);
        }
        for (leaf, period, _) in tasks {
            let jobs = tree.inspect(leaf).expect("it exists").jobs;
            prop_assert!(jobs.missed == 0 && jobs.ended + 2 >= 100 * MS / period, "{jobs:?}");
        }
    }
}
