//! Two charges come out as one: how often a tree is told what has run changes no decision, no
//! budget and no count. Without plain leaves: these wake without a charge of what runs, so which of
//! two equals goes first depends on that.

use super::random::Dice;
use super::*;
use proptest::prelude::{ProptestConfig, any as anything, prop, prop_assert_eq, proptest};

/// Nodes of a tree, its roots among them.
pub(super) const NODES: usize = 24;

/// Any name, of a node or of a place without one.
fn any(dice: &mut Dice) -> NodeId {
    NodeId(dice.below(NODES as u64 + 1) as u32)
}

/// Changes a tree, or wakes or blocks a leaf.
pub(super) fn change(tree: &mut Tree<'_>, kind: u8, dice: &mut Dice, now: u64) {
    let at = any(dice);
    match kind {
        0..=3 => {
            let class = (dice.below(2) == 0).then(|| dice.one_of(&Policy::ALL));
            let share = dice.share(tree.policy(at));
            let _ = tree.create(at, class, share);
        }
        4..=6 => drop(tree.set_budget(at, dice.budget(), now)),
        7 => drop(tree.set_timing(at, dice.timing(), now)),
        8 => {
            let frame = Frame::new(&dice.windows(), now);
            let _ = frame.and_then(|frame| tree.set_frame(at, frame, now));
        }
        9 => {
            let overrun = dice.below(2) == 0;
            let _ = tree.set_background(at, Fallback { overrun, miss: !overrun }, now);
        }
        10 => drop(tree.lend(at, now)),
        11 => drop(tree.take_back(at, now)),
        12..=22 => drop(tree.wake(at, now)),
        23..=25 => tree.block(at, now, dice.below(4) > 0),
        26 => tree.rotate(at, now),
        27 => drop(tree.next_job(at, None, now)),
        _ => {}
    }
}

/// Changes a tree and decides. How long what is chosen runs then.
fn step(tree: &mut Tree<'_>, kind: u8, dice: &mut Dice, now: u64) -> (Pick, u64) {
    tree.account(0, now);
    tree.charge_too(0, None);
    change(tree, kind, dice, now);
    let pick = decide(tree, now);
    let helped = any(dice);
    let is_lent = tree.is_leaf(helped) && tree.nodes[helped.index()].fair.lent > 0;
    tree.charge_too(0, (is_lent && pick.leaf != Some(helped)).then_some(helped));
    (pick, (pick.until - now).min(dice.below(5 * MS)))
}

/// All that can be seen of a tree.
pub(super) fn seen(tree: &Tree<'_>) -> Vec<(Option<NodeState>, u64)> {
    let all = (0..=NODES as u32).map(NodeId);
    all.map(|at| (tree.inspect(at), tree.service(at))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 4))]

    #[test]
    fn two_charges_are_one(
        seeds in prop::collection::vec(anything::<u64>(), 16),
        steps in prop::collection::vec((0u8..32, anything::<u64>()), 20..200),
    ) {
        let (mut once, mut often) = (Storage::new(NODES), Storage::new(NODES));
        let (mut once, mut often) = (once.tree(), often.tree());
        let mut now = 0;
        for (kind, seed) in seeds.into_iter().map(|seed| (0, seed)).chain(steps) {
            let (pick, time) = step(&mut once, kind, &mut Dice(seed), now);
            prop_assert_eq!(step(&mut often, kind, &mut Dice(seed), now), (pick, time));
            prop_assert_eq!(seen(&once), seen(&often));
            let mut dice = Dice(!seed);
            let mut at = now;
            for _ in 0..dice.below(4) {
                at += dice.below(now + time - at + 1);
                often.account(0, at);
            }
            now += time;
        }
    }
}
