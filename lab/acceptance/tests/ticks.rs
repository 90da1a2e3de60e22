//! The player and the analysis against schedules that are played tick by tick.

use acceptance::{Arrivals, Miss, Policy, arrange, play, play_globally};
use analysis::Task;
use analysis::tree::Class;
use proptest::prelude::*;

/// The least time that the scheduling tree has.
const TICK: u64 = 1_000_000;
/// A common multiple of all periods, in ticks.
const CYCLE: u64 = 120;
/// The shortest period that servers and frames are made for: theirs is 4 ticks.
const SHORTEST: u64 = 8 * TICK;

prop_compose! {
    /// A task with small numbers, which takes an even number of ticks.
    fn task()(
        period in prop::sample::select(vec![8, 10, 12, 20, 24, 30, 40]),
        share in 1..9u64, early in 0..6u64,
    ) -> Task {
        let execution = (period / share / 2).max(1) * 2;
        let deadline = (period - early).max(execution);
        Task::new("t", execution * TICK, period * TICK).deadline(deadline * TICK)
    }
}

/// Names and priorities by deadline.
fn named(mut tasks: Vec<Task>) -> Vec<Task> {
    tasks.sort_by_key(|task| std::cmp::Reverse(task.deadline));
    for (number, task) in (1..).zip(&mut tasks) {
        (task.name, task.priority) = (format!("t{number}"), number);
    }
    tasks
}

/// The first late job of tasks that are all released at tick `own`, each job of which runs by the
/// least key in the ticks that are supplied, so many at a time.
fn ticks<K: Ord>(
    tasks: &[Task],
    own: u64,
    end: u64,
    cpus: usize,
    supplied: impl Fn(u64) -> bool,
    key: impl Fn(&Task, u64, usize) -> K,
) -> Option<Miss> {
    let in_ticks = |time: u64| time / TICK;
    let mut left = vec![0; tasks.len()];
    let mut due = vec![0; tasks.len()];
    let miss = |index: usize, due: &[u64], complete: Option<u64>| {
        let complete = complete.map(|now| now * TICK);
        Some(Miss { task: tasks[index].name.clone(), due: due[index] * TICK, complete })
    };
    for now in 0..=end {
        for (index, task) in tasks.iter().enumerate() {
            if now >= own && (now - own).is_multiple_of(in_ticks(task.period)) {
                if left[index] > 0 {
                    return miss(index, &due, None);
                }
                (left[index], due[index]) =
                    (in_ticks(task.execution), now + in_ticks(task.deadline));
            }
        }
        if now == end || !supplied(now) {
            continue;
        }
        let mut ready: Vec<usize> = (0..tasks.len()).filter(|index| left[*index] > 0).collect();
        ready.sort_by_key(|index| key(&tasks[*index], due[*index], *index));
        for index in ready.into_iter().take(cpus) {
            left[index] -= 1;
            if left[index] == 0 && now + 1 > due[index] {
                return miss(index, &due, Some(now + 1));
            }
        }
    }
    (0..tasks.len())
        .find(|index| left[*index] > 0 && due[*index] <= end)
        .and_then(|index| miss(index, &due, None))
}

/// What the tree makes of the same, and whether the analysis accepts it.
fn arranged(policy: Policy, tasks: &[Task], end: u64) -> (bool, Option<Miss>) {
    let arranged = arrange(policy, tasks, 1, SHORTEST);
    let classes: Vec<&Class> = arranged.trees.iter().map(|tree| &tree.class).collect();
    let (own, rival) = arranged.critical;
    let played = play(&classes, &mut Arrivals::Critical { own, rival }, end * TICK);
    (arranged.is_accepted(), played.expect("it is played"))
}

fn urgent(task: &Task, _: u64, _: usize) -> std::cmp::Reverse<u32> {
    std::cmp::Reverse(task.priority)
}

fn halved(tasks: &[Task]) -> Vec<Task> {
    tasks.iter().map(|task| Task { execution: task.execution / 2, ..task.clone() }).collect()
}

proptest! {
    #[test]
    fn fixed_priorities_are_played_and_analysed_as_by_ticks(
        tasks in prop::collection::vec(task(), 1..6),
    ) {
        let tasks = named(tasks);
        let by_ticks = ticks(&tasks, 0, CYCLE, 1, |_| true, urgent);
        let (accepted, played) = arranged(Policy::FixedPriority, &tasks, CYCLE);
        prop_assert_eq!(accepted, by_ticks.is_none());
        prop_assert_eq!(played, by_ticks);
    }

    /// Jobs with one deadline may be late in either order.
    #[test]
    fn edf_is_played_and_analysed_as_by_ticks(tasks in prop::collection::vec(task(), 1..6)) {
        let tasks = named(tasks);
        let by_ticks = ticks(&tasks, 0, 2 * CYCLE, 1, |_| true, |_, due, index| (due, index));
        let (accepted, played) = arranged(Policy::Edf, &tasks, 2 * CYCLE);
        prop_assert_eq!(accepted, by_ticks.is_none());
        prop_assert_eq!(played.is_some(), by_ticks.is_some());
    }

    #[test]
    fn a_server_and_windows_are_played_and_analysed_as_by_ticks(
        tasks in prop::collection::vec(task(), 1..5),
    ) {
        let tasks = named(tasks);
        let half = halved(&tasks);
        // Two ticks at once, and from then on the last two of each period of four.
        let server = |now: u64| if now < 4 { now < 2 } else { now % 4 >= 2 };
        let by_ticks = ticks(&half, 2, CYCLE, 1, server, urgent);
        let (accepted, played) = arranged(Policy::PeriodicServer, &tasks, CYCLE);
        prop_assert_eq!(accepted, by_ticks.is_none());
        prop_assert_eq!(played, by_ticks);
        let by_ticks = ticks(&half, 2, CYCLE, 1, |now| now % 4 < 2, urgent);
        let (accepted, played) = arranged(Policy::Windows, &tasks, CYCLE);
        prop_assert_eq!(accepted, by_ticks.is_none());
        prop_assert_eq!(played, by_ticks);
    }

    #[test]
    fn global_edf_is_played_as_by_ticks(
        tasks in prop::collection::vec(task(), 2..8), cpus in 2..4usize,
    ) {
        let tasks = named(tasks);
        let key = |_: &Task, due: u64, index: usize| (due, index);
        let by_ticks = ticks(&tasks, 0, CYCLE, cpus, |_| true, key);
        let mut arrivals = Arrivals::Critical { own: 0, rival: 0 };
        let played = play_globally(&tasks, cpus, &mut arrivals, CYCLE * TICK);
        prop_assert_eq!(played, by_ticks);
    }
}
