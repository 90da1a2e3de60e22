//! Decisions by chance are legal ones, and come to every leaf.

use super::random::Dice;
use super::*;

/// A leaf with a limit in each kind of class, in a class with a limit of its own, but for that with
/// windows; nine leaves.
fn grown(tree: &mut Tree<'_>) -> Vec<NodeId> {
    let root = tree.root(0);
    let limit = |budget, period| Some(Budget::new(Server::Periodic, budget, period));
    let share = |policy, number: u16| match policy {
        Policy::FixedPriority => Share::Priority(number),
        Policy::EarliestDeadline => Share::Deadline,
        Policy::ServiceCurves => Share::curve(Curve::linear(WHOLE / 10)),
        Policy::Partitions => Share::Partition { number, priority: 0 },
    };
    let mut leaves = vec![leaf(tree, root, Share::Priority(1))];
    for (number, policy) in (1..).zip(Policy::ALL) {
        let class = tree.create(root, Some(policy), Share::Priority(number)).expect("fits");
        if policy != Policy::Partitions {
            assert_eq!(tree.set_budget(class, limit(20 * MS, 50 * MS), 0), Ok(()));
        }
        for number in 1..3 {
            let leaf = leaf(tree, class, share(policy, number));
            assert_eq!(tree.set_budget(leaf, limit(MS, 10 * MS), 0), Ok(()));
            leaves.push(leaf);
        }
        if policy == Policy::Partitions {
            let windows = [(5 * MS, 1), (10 * MS, 2)];
            let windows = windows.map(|(end, partition)| Window { end, partition });
            let frame = Frame::new(&windows, 0).expect("fits");
            assert_eq!(tree.set_frame(class, frame, 0), Ok(()));
        }
    }
    leaves
}

/// Whether a leaf may run: it is ready, and no node on the way to it waits for budget or a window.
fn may_run(tree: &Tree<'_>, leaf: NodeId, now: u64) -> bool {
    let mut at = leaf;
    loop {
        let state = tree.inspect(at).expect("it exists");
        let has_window = match state.share {
            Share::Partition { number, .. } => {
                number == if now % (10 * MS) < 5 * MS { 1 } else { 2 }
            }
            _ => true,
        };
        if !state.is_ready || state.is_throttled || !has_window {
            return false;
        }
        match state.parent {
            Some(parent) => at = parent,
            None => return true,
        }
    }
}

#[test]
fn choices_by_chance_are_legal_and_come_to_all() {
    for seed in 1..20 {
        let mut dice = Dice(seed);
        let mut storage = Storage::new(24);
        let mut tree = storage.tree();
        let leaves = grown(&mut tree);
        tree.set_chaos(seed);
        let (mut now, mut idle, mut out_of_order) = (0, 0, 0);
        while now < 1_000 * MS {
            match dice.below(4) {
                0 => tree.block(dice.one_of(&leaves), now, true),
                _ => drop(tree.wake(dice.one_of(&leaves), now)),
            }
            let pick = decide(&mut tree, now);
            assert!(pick.leaf.is_none_or(|leaf| may_run(&tree, leaf, now)));
            idle += u64::from(pick.leaf.is_none());
            let first = leaves.iter().rev().find(|leaf| may_run(&tree, **leaf, now));
            out_of_order += u64::from(first.is_some_and(|first| pick.leaf != Some(*first)));
            now = pick.until.min(now + dice.below(2 * MS));
        }
        tree.account(0, now);
        for (number, leaf) in leaves.iter().enumerate() {
            let service = tree.service(*leaf);
            assert!(service > 0, "leaf {number} never ran");
            assert!(number == 0 || service <= 101 * MS, "leaf {number} ran {service} ns");
        }
        assert!(idle > 0 && out_of_order > 100, "there is no chaos");
    }
}
