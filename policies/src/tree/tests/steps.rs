//! A decision in steps: whatever happens between two of them, the tree stays whole, and what runs
//! meanwhile is charged that.

use super::charges::{NODES, change};
use super::random::Dice;
use super::*;
use proptest::prelude::{ProptestConfig, any, prop, prop_assert_eq, proptest};

/// Takes so many steps of a decision at most, which take no time: what it has come to, if it has.
fn take(tree: &mut Tree<'_>, steps: u64, now: u64) -> Option<Pick> {
    let chosen = (0..steps).find_map(|step| match tree.step(0, now) {
        Step::Chosen(pick) => {
            tree.settle_decision(0, now);
            Some(pick)
        }
        Step::Passed | Step::Served(_) => {
            assert!(step < 1_000, "the steps do not end");
            None
        }
    });
    tree.settle_payer(0, now);
    chosen
}

/// What a node has had, and owes.
fn has_had(tree: &Tree<'_>, at: NodeId) -> u64 {
    tree.service(at) + tree.node(at).map_or(0, |node| node.owed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 4))]

    #[test]
    fn a_decision_is_left_at_any_step(
        is_told_at_once: bool,
        seeds in prop::collection::vec(any::<u64>(), 16),
        events in prop::collection::vec((0u8..32, any::<u64>()), 20..200),
    ) {
        let mut storage = Storage::new(NODES);
        let tree = storage.tree();
        let mut tree = if is_told_at_once { tree } else { tree.told_in_steps() };
        let mut now = 0;
        for (kind, seed) in seeds.into_iter().map(|seed| (0, seed)).chain(events) {
            change(&mut tree, kind, &mut Dice(seed), now);
            let mut dice = Dice(!seed);
            // In one of two cases it is left after a few steps.
            let steps = if dice.below(2) == 0 { dice.below(4) } else { u64::MAX };
            let chosen = take(&mut tree, steps, now);
            if chosen.is_some() || dice.below(4) == 0 {
                tree.tell_all(0);
                tree.check();
            }
            let until = chosen.map_or(NEVER, |pick| pick.until);
            let time = (until - now).min(dice.below(5 * MS));
            let runs = NodeId(tree.cpus[0].running);
            tree.tell_all(0);
            let before = has_had(&tree, runs);
            now += time;
            tree.account(0, now);
            if tree.is_leaf(runs) {
                prop_assert_eq!(has_had(&tree, runs) - before, time);
            }
        }
    }

    /// What is told in steps comes out as what is told at once, but for a leaf that blocks and
    /// becomes ready again before.
    #[test]
    fn steps_come_out_as_one(
        seeds in prop::collection::vec(any::<u64>(), 16),
        events in prop::collection::vec((0u8..32, any::<u64>()), 20..200),
    ) {
        let (mut one, mut other) = (Storage::new(NODES), Storage::new(NODES));
        let mut trees = [one.tree(), other.tree().told_in_steps()];
        let mut now = 0;
        for (kind, seed) in seeds.into_iter().map(|seed| (0, seed)).chain(events) {
            let [pick, same] = trees.each_mut().map(|tree| {
                change(tree, kind, &mut Dice(seed), now);
                if seed % 3 == 0 && !(23..=25).contains(&kind) {
                    change(tree, 12, &mut Dice(seed.rotate_left(9)), now);
                }
                take(tree, u64::MAX, now).expect("a decision")
            });
            prop_assert_eq!(pick, same);
            let [seen, like] = trees.each_ref().map(super::charges::seen);
            prop_assert_eq!(seen, like);
            now += (pick.until - now).min(Dice(!seed).below(5 * MS));
        }
    }
}

/// What ran goes on between two steps, and is charged that; what a step serves pays for that step.
#[test]
fn what_runs_between_two_steps_is_charged() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let urgent = leaf(&mut tree, root, Share::Priority(2));
    let low = leaf(&mut tree, root, Share::Priority(1));
    let budget = Budget::new(Server::Periodic, 100 * US, MS);
    assert_eq!(tree.set_budget(urgent, Some(budget), 0), Ok(()));
    tree.wake(urgent, 0);
    tree.wake(low, 0);
    run(&mut tree, 0, MS - US);
    assert_eq!(tree.pick(0, MS - US).leaf, Some(low));
    let before = tree.service(low);
    assert_eq!(tree.step(0, MS), Step::Passed);
    assert_eq!(tree.step(0, MS + US), Step::Served(urgent), "the decision was left");
    assert_eq!(tree.owe(0, urgent, MS + 5 * US), 4 * US);
    let chosen = Step::Chosen(Pick { leaf: Some(urgent), until: MS + 106 * US });
    assert_eq!(tree.step(0, MS + 6 * US), chosen);
    let owed = tree.nodes[low.index()].owed;
    assert_eq!(
        tree.service(low) - before + owed,
        3 * US,
        "what a decision that was left is late by"
    );
    let served = tree.service(urgent);
    tree.account(0, MS + 16 * US);
    assert_eq!(tree.service(urgent) - served, 14 * US, "with what it owed");
}
