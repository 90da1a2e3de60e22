//! Notices of missed deadlines and used-up budgets, against a plain list of what happened.

use super::*;
use abi::reservation::SHORTEST;
use proptest::prelude::*;

const LEAVES: usize = 4;
const BOTH: Events = Events { missed: true, overran: true };

/// A leaf as a plain model sees it.
#[derive(Clone, Copy, Default)]
struct Task {
    watches: bool,
    ready: bool,
    /// The deadline of a job that has not ended, and whether its miss was seen.
    job: Option<(u64, bool)>,
}

fn timed(tree: &mut Tree<'_>, class: NodeId, deadline: u64) -> NodeId {
    let leaf = leaf(tree, class, Share::Priority(5));
    let timing = Timing { deadline, period: SHORTEST };
    assert_eq!(tree.set_timing(leaf, Some(timing), 0), Ok(()));
    leaf
}

#[test]
fn a_miss_is_seen_at_the_deadline() {
    let mut storage = Storage::new(4);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::FixedPriority);
    let leaf = timed(&mut tree, class, 2 * MS);
    assert_eq!(tree.watch(leaf, BOTH, LEVELS - 1, 0), Ok(()));
    tree.wake(leaf, MS);
    assert_eq!(decide(&mut tree, MS).until, 3 * MS + 1, "the job may end at its deadline");
    assert_eq!(tree.take_notice(0), None);
    assert_eq!(decide(&mut tree, 3 * MS + 1).until, NEVER, "once for each job");
    let missed = Events { missed: true, overran: false };
    assert!(tree.has_notice(0));
    assert_eq!(tree.take_notice(0), Some((leaf, missed)));
    assert_eq!((tree.take_notice(0), tree.has_notice(0)), (None, false));
    assert_eq!(tree.inspect(leaf).expect("it exists").jobs.missed, 1, "before it has ended");
    tree.block(leaf, 5 * MS, true);
    let jobs = tree.inspect(leaf).expect("it exists").jobs;
    assert_eq!((jobs.missed, jobs.latest, tree.take_notice(0)), (1, 2 * MS, None));
}

/// What runs above who watches is not interrupted; then the miss is told.
#[test]
fn a_miss_is_as_urgent_as_who_watches() {
    let mut storage = Storage::new(6);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let class = class(&mut tree, Policy::FixedPriority);
    let leaf = timed(&mut tree, class, 2 * MS);
    let [high, low] =
        [40, 20].map(|priority| self::leaf(&mut tree, root, Share::Priority(priority)));
    assert_eq!(tree.watch(leaf, BOTH, 30, 0), Ok(()));
    tree.wake(leaf, 0);
    tree.wake(high, 0);
    assert_eq!(decide(&mut tree, 0), Pick { leaf: Some(high), until: NEVER });
    tree.wake(low, 3 * MS);
    tree.block(high, 3 * MS, true);
    assert_eq!(decide(&mut tree, 3 * MS), Pick { leaf: Some(low), until: NEVER });
    assert!(tree.take_notice(0).is_some_and(|(_, seen)| seen.missed));
    assert_eq!(tree.urgency_of_instants(leaf), Some(30), "its jobs are told of in time");
}

/// A class that is watched becomes more urgent; its leaf runs away.
#[test]
fn a_miss_of_what_runs_is_told_whatever_its_level() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::FixedPriority);
    let leaf = timed(&mut tree, class, 2 * MS);
    let level = tree.level_of_watch(leaf, leaf);
    assert_eq!(tree.watch(leaf, BOTH, level, 0), Ok(()));
    assert_eq!(tree.set_share(class, Share::Priority(11), 0), Ok(()));
    tree.wake(leaf, 0);
    assert_eq!(decide(&mut tree, 0).until, 2 * MS + 1);
    decide(&mut tree, 2 * MS + 1);
    assert!(tree.take_notice(0).is_some_and(|(_, seen)| seen.missed));
}

/// A miss has come, and waits for what is above it.
#[test]
fn a_miss_that_waits_is_not_lost_by_a_change() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::FixedPriority);
    let leaf = timed(&mut tree, class, 2 * MS);
    let high = tree.plain_leaf(0, 200);
    assert_eq!(tree.watch(leaf, BOTH, 10, 0), Ok(()));
    tree.wake(leaf, 0);
    decide(&mut tree, 0);
    tree.wake(high, MS);
    assert_eq!(decide(&mut tree, MS).leaf, Some(high));
    let overrun = Fallback { overrun: true, miss: false };
    assert_eq!(tree.set_background(leaf, overrun, 3 * MS), Ok(()));
    assert_eq!(decide(&mut tree, 3 * MS).leaf, Some(high));
    assert!(!tree.has_notice(0), "what runs is above it");
    tree.block(high, 4 * MS, true);
    decide(&mut tree, 4 * MS);
    assert!(tree.take_notice(0).is_some_and(|(_, seen)| seen.missed));
}

/// Of several notices the most urgent one is told first, and none before what is above it.
#[test]
fn notices_are_told_by_their_urgency() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::FixedPriority);
    let [low, high] = [15, 30].map(|level| {
        let leaf = timed(&mut tree, class, 2 * MS);
        assert_eq!(tree.watch(leaf, BOTH, level, 0), Ok(()));
        tree.wake(leaf, 0);
        leaf
    });
    let [middle, above] = [20, 40].map(|priority| tree.plain_leaf(0, priority));
    decide(&mut tree, 0);
    decide(&mut tree, 3 * MS);
    for (leaf, told) in [(above, None), (middle, Some(high)), (middle, None)] {
        tree.wake(leaf, 3 * MS);
        assert_eq!(decide(&mut tree, 3 * MS).leaf, Some(leaf));
        assert_eq!(tree.has_notice(0), told.is_some());
        assert_eq!(tree.take_notice(0).map(|(leaf, _)| leaf), told);
        tree.block(leaf, 3 * MS, true);
    }
    decide(&mut tree, 3 * MS);
    assert_eq!(tree.take_notice(0).map(|(leaf, _)| leaf), Some(low));
}

/// A leaf that has used its budget waits: its notice is told, though nothing runs.
#[test]
fn a_used_up_budget_is_told_while_a_cpu_idles() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::FixedPriority);
    let leaf = leaf(&mut tree, class, Share::Priority(5));
    let limit = Budget::new(Server::Periodic, MS, 10 * MS);
    assert_eq!(tree.set_budget(leaf, Some(limit), 0), Ok(()));
    assert_eq!(tree.watch(leaf, Events { missed: false, overran: true }, 0, 0), Ok(()));
    tree.wake(leaf, 0);
    decide(&mut tree, 0);
    assert_eq!(decide(&mut tree, MS).leaf, None);
    assert!(tree.take_notice(0).is_some_and(|(_, seen)| seen.overran));
}

/// A late job comes to the background when its leaf is chosen, not before.
#[test]
fn a_miss_that_nobody_watches_interrupts_nothing() {
    let mut storage = Storage::new(6);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let class = class(&mut tree, Policy::FixedPriority);
    let leaf = timed(&mut tree, class, 2 * MS);
    let high = self::leaf(&mut tree, root, Share::Priority(40));
    assert_eq!(tree.set_background(leaf, Fallback { overrun: false, miss: true }, 0), Ok(()));
    tree.wake(leaf, 0);
    assert_eq!(decide(&mut tree, 0), Pick { leaf: Some(leaf), until: 2 * MS + 1 });
    tree.wake(high, MS);
    assert_eq!(decide(&mut tree, MS), Pick { leaf: Some(high), until: NEVER });
    let other = self::leaf(&mut tree, root, Share::Priority(1));
    tree.wake(other, 3 * MS);
    tree.block(high, 3 * MS, true);
    assert_eq!(decide(&mut tree, 3 * MS).leaf, Some(other), "the late one is behind");
    tree.block(other, 4 * MS, true);
    assert_eq!(decide(&mut tree, 4 * MS).leaf, Some(leaf));
}

#[test]
fn a_job_that_ends_late_is_seen_without_a_decision() {
    let mut storage = Storage::new(4);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::FixedPriority);
    let leaf = timed(&mut tree, class, MS);
    assert_eq!(tree.watch(leaf, BOTH, LEVELS - 1, 0), Ok(()));
    tree.wake(leaf, 0);
    tree.block(leaf, MS, true);
    assert_eq!(tree.take_notice(0), None, "in time");
    tree.wake(leaf, MS);
    tree.block(leaf, 3 * MS, true);
    assert!(tree.take_notice(0).is_some_and(|(_, seen)| seen.missed));
}

#[test]
fn a_used_up_budget_is_seen() {
    for server in Server::ALL {
        let mut storage = Storage::new(4);
        let mut tree = storage.tree();
        let class = class(&mut tree, Policy::FixedPriority);
        let leaf = leaf(&mut tree, class, Share::Priority(5));
        let limit = Budget::new(server, MS, 10 * MS);
        assert_eq!(tree.set_budget(leaf, Some(limit), 0), Ok(()));
        assert_eq!(tree.watch(leaf, BOTH, LEVELS - 1, 0), Ok(()));
        tree.wake(leaf, 0);
        run(&mut tree, 0, MS - 2 * US);
        assert_eq!(tree.take_notice(0), None, "{server:?}");
        run(&mut tree, MS - 2 * US, 2 * MS);
        let overran = Events { missed: false, overran: true };
        assert_eq!(tree.take_notice(0), Some((leaf, overran)), "{server:?}");
    }
}

#[test]
fn a_node_that_goes_takes_its_notice_along() {
    let mut storage = Storage::new(4);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::FixedPriority);
    let leaf = timed(&mut tree, class, MS);
    assert_eq!(tree.watch(leaf, BOTH, LEVELS - 1, 0), Ok(()));
    tree.wake(leaf, 0);
    decide(&mut tree, 2 * MS);
    assert!(tree.has_notice(0));
    assert_eq!(tree.remove_node(leaf, 2 * MS), Ok(()));
    tree.check();
    assert_eq!(tree.take_notice(0), None);
    assert_eq!(tree.watch(leaf, BOTH, LEVELS - 1, 2 * MS), Err(TreeError::NoSuchNode));
    assert_eq!(tree.watch(tree.root(0), BOTH, LEVELS - 1, 2 * MS), Err(TreeError::NoSuchNode));
}

proptest! {
    /// Each job that is late is told of once, if it was watched from its release on.
    #[test]
    fn each_late_job_is_told_of_once(
        times in prop::array::uniform4(1u64..10),
        steps in prop::collection::vec((0u8..6, 0..LEAVES, 1..4 * SHORTEST), 1..150),
    ) {
        let mut storage = Storage::new(LEAVES + 2);
        let mut tree = storage.tree();
        let class = class(&mut tree, Policy::FixedPriority);
        let leaves = times.map(|time| timed(&mut tree, class, time * SHORTEST));
        let mut tasks = [Task::default(); LEAVES];
        let (mut now, mut next) = (0, [0; LEAVES]);
        for (kind, at, time) in steps {
            let task = &mut tasks[at];
            match kind {
                0 if !task.ready => {
                    tree.wake(leaves[at], now);
                    task.ready = true;
                    if task.job.is_none() {
                        let regular = now.max(next[at]);
                        next[at] = regular + SHORTEST;
                        task.job = Some((regular + times[at] * SHORTEST, !task.watches));
                    }
                }
                1 if task.ready => {
                    let ends = time % 3 > 0;
                    tree.block(leaves[at], now, ends);
                    task.ready = false;
                    if ends {
                        task.job = None;
                    }
                }
                2 => {
                    task.watches = time % 4 > 0;
                    let wanted = Events { missed: task.watches, overran: false };
                    prop_assert_eq!(tree.watch(leaves[at], wanted, LEVELS - 1, now), Ok(()));
                    if let Some((deadline, seen)) = &mut task.job {
                        *seen = !task.watches || now > *deadline;
                    }
                }
                _ => now += time,
            }
            decide(&mut tree, now);
            let mut expected = Vec::new();
            for (task, leaf) in tasks.iter_mut().zip(leaves) {
                if let Some((deadline, seen)) = &mut task.job
                    && now > *deadline
                    && !core::mem::replace(seen, true)
                {
                    expected.push(leaf);
                }
            }
            let mut told: Vec<_> = core::iter::from_fn(|| tree.take_notice(0)).collect();
            told.sort_by_key(|(leaf, _)| *leaf);
            let missed = Events { missed: true, overran: false };
            let expected: Vec<_> = expected.into_iter().map(|leaf| (leaf, missed)).collect();
            prop_assert_eq!(told, expected);
        }
    }

    /// Whatever their levels and what runs above them: each leaf of which a job was late is told
    /// of, no notice before what is more urgent, and none later than that.
    #[test]
    fn each_miss_is_told_behind_what_is_above_it(
        levels in prop::array::uniform4(0u16..60),
        steps in prop::collection::vec((0u8..8, 0..LEAVES, 1..4 * SHORTEST), 1..150),
    ) {
        let mut storage = Storage::new(LEAVES + 2);
        let mut tree = storage.tree();
        let class = class(&mut tree, Policy::FixedPriority);
        let leaves = levels.map(|level| {
            let leaf = timed(&mut tree, class, 3 * SHORTEST);
            assert_eq!(tree.watch(leaf, BOTH, level, 0), Ok(()));
            leaf
        });
        let above = [5, 20, 35, 50].map(|priority| tree.plain_leaf(0, priority));
        let (mut now, mut told) = (0, [false; LEAVES]);
        let ends = leaves.into_iter().chain(above).map(|leaf| (leaf, None));
        let steps = steps.into_iter().map(|step| (leaves[0], Some(step)));
        for (leaf, step) in steps.chain(ends) {
            match step {
                None => tree.block(leaf, now, true),
                Some((0, at, _)) => drop(tree.wake(leaves[at], now)),
                Some((1, at, time)) => tree.block(leaves[at], now, time % 3 > 0),
                Some((2, at, _)) => drop(tree.wake(above[at], now)),
                Some((3, at, _)) => tree.block(above[at], now, true),
                Some((4, at, time)) => {
                    let fallback = Fallback { overrun: time % 2 > 0, miss: time % 3 > 0 };
                    prop_assert_eq!(tree.set_background(leaves[at], fallback, now), Ok(()));
                }
                Some((_, _, time)) => now += time,
            }
            loop {
                let pick = tree.pick(0, now);
                tree.check();
                let runs = pick.leaf.map_or(0, |leaf| tree.priority_below_root(leaf));
                let behind = tree.cpus[0].behind != NIL;
                let is_due = |at: usize| {
                    let node = &tree.nodes[leaves[at].index()];
                    let urgency = levels[at].max(10) as i16;
                    node.watch.has_seen() && (urgency >= runs || behind)
                };
                prop_assert_eq!(tree.has_notice(0), (0..LEAVES).any(is_due));
                match tree.take_notice(0) {
                    Some((leaf, _)) => {
                        let at = leaves.iter().position(|other| *other == leaf);
                        told[at.expect("it exists")] = true;
                    }
                    None if pick.until > now => break,
                    None => {}
                }
            }
        }
        for (leaf, told) in leaves.into_iter().zip(told) {
            let late = tree.inspect(leaf).expect("it exists").jobs.missed > 0;
            prop_assert!(!late || told, "a miss is lost");
        }
    }
}
