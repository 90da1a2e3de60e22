//! Random trees of all policies inside each other: each leaf that never waits has what is
//! guaranteed to it, whatever the others do, and no time is lost. No budget has less time than
//! the curves above it take to bring it.

use super::random::Dice;
use super::*;
use proptest::prelude::*;

/// Budgets, windows and curves are for this long.
const FRAME: u64 = 20 * MS;
/// Levels of classes, without the root's and the windows'.
const LEVELS_OF_CLASSES: u32 = 4;

/// A leaf, and what is guaranteed to it in each frame.
struct Promised {
    leaf: NodeId,
    part: u64,
    is_greedy: bool,
    /// Whether its budgets cannot end before what its curves bring has come: a periodic one idles
    /// away while its class waits for a quantum by its slope.
    is_kept: bool,
}

/// Leaves and classes below a class that is given so much of each frame.
fn grow(
    tree: &mut Tree<'_>,
    dice: &mut Dice,
    (class, part, level): (NodeId, u64, u32),
    is_kept: bool,
    leaves: &mut Vec<Promised>,
) {
    let count = 2 + dice.below(2);
    for at in 0..count {
        let own = part * (50 + dice.below(30)) / 100 / count;
        let policies = [Policy::ServiceCurves, Policy::EarliestDeadline, Policy::FixedPriority];
        let policy =
            (level < LEVELS_OF_CLASSES && dice.below(3) > 0).then(|| dice.one_of(&policies));
        let slope = (own * u64::from(WHOLE)).div_ceil(FRAME) as u32;
        let (share, server) = match tree.policy(class) {
            Some(Policy::ServiceCurves) => (Share::curve(Curve::linear(slope)), None),
            Some(Policy::EarliestDeadline) => (Share::Deadline, Some(Server::Constant)),
            _ => (Share::Priority(1 + at as u16), Some(Server::Periodic)),
        };
        let node = tree.create(class, policy, share).expect("it fits");
        if let Some(server) = server {
            assert_eq!(tree.set_budget(node, Some(Budget::new(server, own, FRAME)), 0), Ok(()));
        }
        let by_curves = tree.policy(class) == Some(Policy::ServiceCurves);
        let has_budgets = matches!(policy, Some(policy) if policy != Policy::ServiceCurves);
        let is_kept = is_kept && !(by_curves && has_budgets && own < 2 * QUANTUM);
        match policy {
            Some(_) => grow(tree, dice, (node, own, level + 1), is_kept, leaves),
            None => {
                let is_greedy = dice.below(2) > 0;
                leaves.push(Promised { leaf: node, part: own, is_greedy, is_kept });
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(16)))]

    /// Two windows of a major frame with trees in them, and a background that is ready at times.
    #[test]
    fn each_leaf_has_its_guarantee_in_a_tree_of_all_policies(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let mut storage = Storage::new(400);
        let mut tree = storage.tree();
        let frames = class(&mut tree, Policy::Partitions);
        let first = MS * (4 + dice.below(12));
        let mut leaves = Vec::new();
        for (number, end, part) in [(1, first, first), (2, FRAME, FRAME - first)] {
            let window = Window { end, partition: number };
            assert_eq!(tree.add_window(frames, window, 0), Ok(()));
            let policy = Some(dice.one_of(&[Policy::ServiceCurves, Policy::FixedPriority]));
            let share = Share::Partition { number, priority: 10 };
            let top = tree.create(frames, policy, share).expect("it fits");
            grow(&mut tree, &mut dice, (top, part, 1), true, &mut leaves);
        }
        let background = leaf(&mut tree, frames, Share::Partition { number: 0, priority: 0 });
        tree.wake(background, 0);
        for one in leaves.iter().filter(|one| one.is_greedy) {
            tree.wake(one.leaf, 0);
        }
        let (mut now, end) = (0, 40 * FRAME);
        while now < end {
            let one = &leaves[dice.below(leaves.len() as u64) as usize];
            if !one.is_greedy {
                match dice.below(2) {
                    0 => { tree.wake(one.leaf, now); }
                    _ => tree.block(one.leaf, now, true),
                }
            }
            let next = end.min(now + 1 + dice.below(FRAME / 2));
            run(&mut tree, now, next);
            now = next;
            let all: u64 = leaves.iter().map(|one| tree.service(one.leaf)).sum();
            prop_assert_eq!(all + tree.service(background), now, "all time is somebody's");
            for one in leaves.iter().filter(|one| one.is_greedy && one.is_kept) {
                let promised = (now / FRAME).saturating_sub(3) * one.part;
                let had = tree.service(one.leaf);
                prop_assert!(
                    had + 2 * QUANTUM >= promised,
                    "{had} of {promised} at {now}, {} each {FRAME}", one.part
                );
            }
        }
    }
}
