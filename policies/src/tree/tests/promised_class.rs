//! Classes of service curves that are promised more than what is in them.

use super::random::Dice;
use super::*;
use proptest::prelude::*;

/// Classes with one leaf each, which has only a share.
const CLASSES: usize = 4;

/// A guarantee, and the same as share.
fn linear(slope: u32) -> Share {
    Share::curve(Curve::linear(slope))
}

/// A share and no guarantee.
fn only_share(slope: u32) -> Share {
    Share::Curve { guaranteed: None, share: Curve::linear(slope) }
}

proptest! {
    /// Where each sibling's share is its guarantee, a class has its own by shares, whatever its
    /// leaves are promised: less by a quantum for each sibling at most.
    #[test]
    fn a_class_has_its_guarantee_where_shares_are_guarantees(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let mut storage = Storage::new(2 * CLASSES + 2);
        let mut tree = storage.tree();
        let outer = class(&mut tree, Policy::ServiceCurves);
        let classes: [_; CLASSES] = core::array::from_fn(|_| {
            let slope = 50_000 + dice.below(200_000) as u32;
            let policy = Some(Policy::ServiceCurves);
            let node = tree.create(outer, policy, linear(slope)).expect("fits");
            (node, leaf(&mut tree, node, only_share(1_000)), slope)
        });
        let (mut now, mut since) = (0, [None; CLASSES]);
        for _ in 0..100 {
            let at = dice.below(CLASSES as u64) as usize;
            let (node, below, _) = classes[at];
            since[at] = match since[at] {
                Some(_) => {
                    tree.block(below, now, true);
                    None
                }
                None => {
                    tree.wake(below, now);
                    Some((now, tree.service(node)))
                }
            };
            let next = now + 1 + dice.below(40 * MS);
            run(&mut tree, now, next);
            now = next;
            for ((node, _, slope), since) in classes.iter().zip(since) {
                let Some((from, before)) = since else { continue };
                let had = tree.service(*node) - before;
                let promised = (now - from) * u64::from(*slope) / 1_000_000;
                prop_assert!(had + CLASSES as u64 * QUANTUM >= promised, "{had} of {promised}");
            }
        }
    }
}

/// What is served by guarantees are those of leaves. What a class is promised beyond them it has by
/// its share, so a sibling of a large share leaves it less.
#[test]
fn a_class_serves_the_guarantees_of_its_leaves() {
    let share = |guaranteed: u32, share| Share::Curve {
        guaranteed: Some(Curve::linear(guaranteed)),
        share: Curve::linear(share),
    };
    for (inner, expected) in [(only_share(10_000), 10), (linear(500_000), 500)] {
        let mut storage = Storage::new(8);
        let mut tree = storage.tree();
        let outer = class(&mut tree, Policy::ServiceCurves);
        let policy = Some(Policy::ServiceCurves);
        let node = tree.create(outer, policy, share(500_000, 10_000)).expect("fits");
        let below = leaf(&mut tree, node, inner);
        let beside = leaf(&mut tree, outer, share(100_000, 990_000));
        tree.wake(below, 0);
        tree.wake(beside, 0);
        run(&mut tree, 0, 1_000 * MS);
        assert!((tree.service(node) / MS).abs_diff(expected) <= 2, "{}", tree.service(node));
    }
}
