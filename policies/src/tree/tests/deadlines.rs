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
    /// When the last job was released, or should have been.
    regular: Option<u64>,
    ready: bool,
}

proptest! {
    /// Sporadic jobs, some early, some late: the first in the list of the earliest deadline runs.
    #[test]
    fn the_earliest_deadline_runs(
        times in prop::array::uniform6((1u64..40, 1u64..40)),
        steps in prop::collection::vec((0u8..4, 0..LEAVES, 0..10 * SHORTEST), 1..200),
    ) {
        let mut storage = Storage::new(LEAVES + 2);
        let mut tree = storage.tree();
        let class = class(&mut tree, Policy::EarliestDeadline);
        let leaves = [(); LEAVES].map(|()| leaf(&mut tree, class, Share::Deadline));
        let mut tasks = times.map(|(deadline, period)| {
            let timing = Timing { deadline: deadline * SHORTEST, period: period * SHORTEST };
            Task { timing, deadline: 0, open: false, regular: None, ready: false }
        });
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
                        let next = task.regular.map_or(0, |regular| regular + task.timing.period);
                        let regular = now.max(next);
                        task.regular = Some(regular);
                        (task.open, task.deadline) = (true, regular + task.timing.deadline);
                    }
                    queue.push(at);
                }
                2 if task.ready => {
                    let ends = time % 3 > 0;
                    tree.block(leaves[at], now, ends);
                    task.ready = false;
                    task.open = !ends;
                    queue.retain(|other| *other != at);
                }
                _ => now += time,
            }
            let first = queue.iter().min_by_key(|leaf| tasks[**leaf].deadline);
            let expected = Pick { leaf: first.map(|first| leaves[*first]), until: NEVER };
            prop_assert_eq!(decide(&mut tree, now), expected);
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
