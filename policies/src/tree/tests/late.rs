//! What is told late comes out as if it had been told in time, as long as nothing in the same child
//! of the root could have run since.

use super::super::levels::Levels;
use super::random::Dice;
use super::*;
use proptest::prelude::{any, prop_assert_eq, proptest};

/// Classes that may be inside others.
const POLICIES: [Policy; 3] =
    [Policy::FixedPriority, Policy::EarliestDeadline, Policy::ServiceCurves];

/// A class in which there are classes and leaves of all kinds; the same for the same dice.
fn fill(tree: &mut Tree<'_>, dice: &mut Dice) -> Vec<NodeId> {
    let policy = dice.one_of(&Policy::ALL);
    let own = class(tree, policy);
    if policy == Policy::Partitions {
        let frame = Frame::new(&dice.windows(), dice.below(2 * MS));
        assert_eq!(frame.and_then(|frame| tree.set_frame(own, frame, 0)), Ok(()));
    }
    let (mut classes, mut leaves) = (vec![own], Vec::new());
    for _ in 0..16 {
        let parent = dice.one_of(&classes);
        let policy = (dice.below(3) == 0).then(|| dice.one_of(&POLICIES));
        let share = dice.share(tree.policy(parent));
        let Ok(at) = tree.create(parent, policy, share) else { continue };
        if dice.below(2) == 0 {
            let _ = tree.set_budget(at, dice.budget(), 0);
        }
        match policy {
            Some(_) => classes.push(at),
            None => {
                let _ = tree.set_timing(at, dice.timing(), 0);
                leaves.push(at);
            }
        }
    }
    leaves
}

/// What can be seen of all nodes, and in which order the leaves run that are ready.
fn seen(tree: &Tree<'_>) -> Vec<(Option<NodeState>, Option<Job>, u64)> {
    let all = (0..24).map(NodeId);
    all.map(|at| (tree.inspect(at), tree.job(at, 0), tree.service(at))).collect()
}

proptest! {
    #[test]
    fn what_is_told_late_comes_out_as_in_time(seed in any::<u64>(), rounds in 1u64..20) {
        let (mut prompt, mut late) = (Storage::new(24), Storage::new(24));
        let (mut prompt, mut late) = (prompt.tree(), late.tree());
        let root = prompt.root(0);
        let above = leaf(&mut prompt, root, Share::Priority(400));
        prop_assert_eq!(leaf(&mut late, root, Share::Priority(400)), above);
        let leaves = fill(&mut prompt, &mut Dice(seed));
        prop_assert_eq!(&fill(&mut late, &mut Dice(seed)), &leaves);
        let (mut dice, mut now) = (Dice(!seed), 0);
        for _ in 0..rounds {
            // What runs is above the class, in which leaves become ready meanwhile.
            prompt.wake(above, now);
            late.wake(above, now);
            prop_assert_eq!(decide(&mut prompt, now), decide(&mut late, now));
            let mut woken = Vec::new();
            for _ in 0..dice.below(5) {
                now += dice.below(2 * MS);
                if !leaves.is_empty() {
                    let at = dice.one_of(&leaves);
                    prompt.wake(at, now);
                    prop_assert_eq!(prompt.pick(0, now).leaf, Some(above));
                    woken.push((at, now));
                }
            }
            now += dice.below(MS);
            prompt.block(above, now, true);
            late.block(above, now, true);
            for (at, since) in woken {
                late.wake_late(at, since, now);
            }
            // Then the class has the CPU, and its leaves block.
            for _ in 0..dice.below(12) {
                let picked = decide(&mut prompt, now);
                prop_assert_eq!(decide(&mut late, now), picked);
                prop_assert_eq!(seen(&late), seen(&prompt));
                now = now.saturating_add(dice.below(MS)).min(picked.until);
                if let Some(at) = picked.leaf.filter(|_| dice.below(2) == 0) {
                    let ends = dice.below(4) > 0;
                    prompt.block(at, now, ends);
                    late.block(at, now, ends);
                }
            }
        }
    }
}

/// What happens from 0 on, above a class in which a leaf is told at 6 ms to be ready since 1 ms:
/// when the job of that was released.
fn released(happens: impl FnOnce(&mut Tree<'_>, [NodeId; 4])) -> u64 {
    let mut storage = Storage::new(16);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let [above, below] = [400, 0].map(|priority| leaf(&mut tree, root, Share::Priority(priority)));
    let class = tree.create(root, Some(Policy::EarliestDeadline), Share::Priority(1)).unwrap();
    let [late, beside] = [(); 2].map(|()| leaf(&mut tree, class, Share::Deadline));
    tree.wake(above, 0);
    decide(&mut tree, 0);
    happens(&mut tree, [above, below, class, beside]);
    assert!(tree.wake_late(late, MS, 6 * MS));
    6 * MS - tree.job(late, 6 * MS).unwrap().response
}

/// What is above lets something else run from 2 ms to 3 ms, or nothing.
fn lets_run(tree: &mut Tree<'_>, above: NodeId, other: Option<NodeId>) {
    tree.block(above, 2 * MS, true);
    other.into_iter().for_each(|other| _ = tree.wake(other, 2 * MS));
    assert_eq!(decide(tree, 2 * MS).leaf, other);
    tree.wake(above, 3 * MS);
    assert_eq!(decide(tree, 3 * MS).leaf, Some(above));
}

#[test]
fn nothing_was_ready_before_its_class_could_run() {
    let beside = released(|tree, [above, _, _, beside]| lets_run(tree, above, Some(beside)));
    let below = released(|tree, [above, below, ..]| lets_run(tree, above, Some(below)));
    let idle = released(|tree, [above, ..]| lets_run(tree, above, None));
    assert_eq!([beside, below, idle], [3 * MS; 3]);
}

/// What becomes ready meanwhile takes nothing from what was ready before.
#[test]
fn what_is_ready_beside_takes_no_past() {
    assert_eq!(released(|tree, [.., beside]| _ = tree.wake(beside, 3 * MS)), MS);
}

/// Nor does what runs above it, one after the other.
#[test]
fn what_runs_above_takes_no_past() {
    let at = released(|tree, [above, ..]| {
        let other = leaf(tree, tree.root(0), Share::Priority(300));
        lets_run(tree, above, Some(other));
    });
    assert_eq!(at, MS);
}

#[test]
fn nothing_was_ready_before_what_has_slept() {
    let at = released(|tree, [.., beside]| {
        tree.wake(beside, 0);
        tree.block(beside, 3 * MS, true);
    });
    assert_eq!(at, 3 * MS);
}

#[test]
fn nothing_was_ready_before_a_change() {
    let (share, at) = (Share::Priority(2), 3 * MS);
    let budget = Some(Budget::new(Server::Periodic, MS, 10 * MS));
    let limited = released(|tree, [.., beside]| {
        assert_eq!(tree.set_budget(beside, budget, at), Ok(()));
    });
    let raised = released(|tree, [.., class, _]| {
        assert_eq!(tree.set_share(class, share, at), Ok(()));
    });
    let removed = released(|tree, [.., beside]| assert_eq!(tree.remove_node(beside, at), Ok(())));
    let joined = released(|tree, [.., class, beside]| {
        let root = tree.root(0);
        assert_eq!(tree.join(beside, root, share, 2 * MS), Ok(()));
        assert_eq!(tree.join(beside, class, Share::Deadline, at), Ok(()));
    });
    assert_eq!([limited, raised, removed, joined], [at; 4]);
}

/// In the class that all CPUs share another child may have run.
#[test]
fn nothing_was_ready_before_in_the_shared_class() {
    let mut storage = Storage::new(16);
    let mut tree = storage.tree();
    let shared = tree.shared();
    let at = leaf(&mut tree, shared, Share::Deadline);
    assert!(tree.wake_late(at, MS, 6 * MS));
    assert_eq!(tree.job(at, 6 * MS).map(|job| job.response), Some(0));
}

proptest! {
    /// What runs changes at random: since when has all been above a priority?
    #[test]
    fn levels_know_since_when(seed in any::<u64>(), count in 0usize..60) {
        let (mut dice, mut levels, mut now) = (Dice(seed), Levels::NEW, 0);
        let mut runs = Vec::new();
        for _ in 0..count {
            now += 1 + dice.below(3);
            let level = dice.below(LEVELS.into()) as u16;
            levels.ran(level, now);
            runs.push((level, now));
        }
        for level in (0..LEVELS).step_by(7).chain([LEVELS - 1]) {
            let last = runs.iter().rfind(|(ran, _)| *ran <= level);
            prop_assert_eq!(levels.above_since(level), last.map_or(0, |(_, end)| *end));
        }
    }
}
