//! The background, against what it promises and against the same tree without it.

use super::random::Dice;
use super::*;
use proptest::prelude::*;

const OVERRUN: Fallback = Fallback { overrun: true, miss: false };
const MISS: Fallback = Fallback { overrun: false, miss: true };

fn limited(tree: &mut Tree<'_>, class: NodeId, share: Share, [budget, period]: [u64; 2]) -> NodeId {
    let leaf = leaf(tree, class, share);
    let limit = Budget::new(Server::Periodic, budget, period);
    assert_eq!(tree.set_budget(leaf, Some(limit), 0), Ok(()));
    leaf
}

#[test]
fn what_has_no_budget_runs_where_nothing_else_does_and_has_its_next_budget() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let one = limited(&mut tree, root, Share::Priority(300), [MS, 10 * MS]);
    let other = leaf(&mut tree, root, Share::Priority(0));
    assert_eq!(tree.set_background(one, OVERRUN, 0), Ok(()));
    tree.wake(one, 0);
    run(&mut tree, 0, 5 * MS);
    assert_eq!(tree.service(one), 5 * MS, "the CPU would idle");
    tree.wake(other, 5 * MS);
    assert!(tree.preempts(other), "the lowest of all is above the background");
    run(&mut tree, 5 * MS, 15 * MS);
    assert_eq!((tree.service(one), tree.service(other)), (6 * MS, 9 * MS), "its next budget");
    tree.block(other, 15 * MS, true);
    run(&mut tree, 15 * MS, 40 * MS);
    assert_eq!(tree.service(one), 31 * MS);
    assert_eq!(tree.inspect(one).expect("it exists").overruns, 4, "one in each period");
}

#[test]
fn those_of_the_background_take_turns() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let leaves = [300, 301, 302].map(|priority| {
        let leaf = limited(&mut tree, root, Share::Priority(priority), [MS, 1_000 * MS]);
        assert_eq!(tree.set_background(leaf, OVERRUN, 0), Ok(()));
        tree.wake(leaf, 0);
        leaf
    });
    run(&mut tree, 0, 3 * MS + 6 * SLICE);
    assert_eq!(leaves.map(|leaf| tree.service(leaf)), [MS + 2 * SLICE; 3]);
}

#[test]
fn a_late_job_makes_no_other_late() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::EarliestDeadline);
    let [one, other] = [4 * MS, 10 * MS].map(|period| {
        let leaf = leaf(&mut tree, class, Share::Deadline);
        let timing = Timing { deadline: period, period };
        assert_eq!(tree.set_timing(leaf, Some(timing), 0), Ok(()));
        leaf
    });
    assert_eq!(tree.set_background(class, MISS, 0), Err(TreeError::InvalidParameter));
    assert_eq!(tree.set_background(one, MISS, 0), Ok(()));
    tree.wake(one, 0);
    tree.wake(other, 0);
    run(&mut tree, 0, 4 * MS + 1);
    assert_eq!(decide(&mut tree, 4 * MS + 1).leaf, Some(other), "though its deadline is later");
    run(&mut tree, 4 * MS + 1, 9 * MS);
    tree.block(other, 9 * MS, true);
    assert_eq!(decide(&mut tree, 9 * MS).leaf, Some(one), "in the background");
    tree.wake(other, 10 * MS);
    assert_eq!(decide(&mut tree, 10 * MS).leaf, Some(other));
    // A pause is no end of the job.
    tree.block(one, 11 * MS, false);
    tree.wake(one, 12 * MS);
    assert_eq!(decide(&mut tree, 12 * MS).leaf, Some(other));
    tree.block(one, 13 * MS, true);
    tree.wake(one, 14 * MS);
    assert_eq!(decide(&mut tree, 14 * MS).leaf, Some(one), "its next job is in time");
    assert_eq!(tree.inspect(other).expect("it exists").jobs.missed, 0);
    assert_eq!((tree.inspect(one).expect("it exists").jobs.missed, tree.take_notice(0)), (1, None));
}

#[test]
fn limits_and_windows_hold_for_all_that_is_inside() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::FixedPriority);
    let limit = Budget::new(Server::Periodic, 2 * MS, 10 * MS);
    let one = limited(&mut tree, class, Share::Priority(1), [MS, 10 * MS]);
    assert_eq!(tree.set_timing(one, Some(Timing { deadline: 12 * MS, period: MS }), 0), Ok(()));
    assert_eq!(tree.set_background(one, Fallback { overrun: true, miss: true }, 0), Ok(()));
    tree.wake(one, 0);
    run(&mut tree, 0, 5 * MS);
    assert_eq!(tree.service(one), 5 * MS);
    // The class has a limit from now on, and all that is inside.
    assert_eq!(tree.set_budget(class, Some(limit), 5 * MS), Ok(()));
    run(&mut tree, 5 * MS, 10 * MS);
    assert_eq!(tree.service(one), 5 * MS, "it waits");
    run(&mut tree, 10 * MS, 40 * MS);
    assert!(tree.service(one) <= 5 * MS + 3 * 2 * MS);
    assert!(tree.service(one) >= 5 * MS + 2 * MS, "a late job goes on as if it were not");
    // The class may run on itself.
    assert_eq!(tree.set_background(class, OVERRUN, 40 * MS), Ok(()));
    let had = tree.service(one);
    tree.block(one, 40 * MS, true);
    tree.wake(one, 40 * MS);
    run(&mut tree, 40 * MS, 50 * MS);
    assert_eq!(tree.service(one), had + 10 * MS);
}

/// What a late job does in the background saves no budget: no two budgets follow each other.
#[test]
fn a_late_job_saves_no_budget() {
    for server in [Server::Periodic, Server::Sporadic, Server::Constant] {
        let mut storage = Storage::new(8);
        let mut tree = storage.tree();
        let root = tree.root(0);
        let [one, other] = [2, 1].map(|priority| leaf(&mut tree, root, Share::Priority(priority)));
        let limit = Budget::new(server, 2 * MS, 10 * MS);
        assert_eq!(tree.set_budget(one, Some(limit), 0), Ok(()));
        let timing = Timing { deadline: 5 * MS, period: 10 * MS };
        assert_eq!(tree.set_timing(one, Some(timing), 0), Ok(()));
        assert_eq!(tree.set_background(one, MISS, 0), Ok(()));
        tree.wake(one, 0);
        tree.block(one, 0, false);
        tree.wake(other, 0);
        run(&mut tree, 0, 10 * MS);
        tree.wake(one, 10 * MS);
        run(&mut tree, 10 * MS, 18 * MS);
        assert_eq!(tree.service(one), 0, "in the background");
        // Its next job comes when its period is about to end.
        tree.block(one, 18 * MS, true);
        tree.wake(one, 18 * MS);
        run(&mut tree, 18 * MS, 23 * MS);
        assert!(tree.service(one) <= 3 * MS, "{server:?}: {}", tree.service(one));
    }
}

#[test]
fn a_class_of_the_background_keeps_its_policy() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class = class(&mut tree, Policy::FixedPriority);
    let limit = Budget::new(Server::Periodic, MS, 100 * MS);
    assert_eq!(tree.set_budget(class, Some(limit), 0), Ok(()));
    assert_eq!(tree.set_background(class, OVERRUN, 0), Ok(()));
    let high = limited(&mut tree, class, Share::Priority(2), [MS, 10 * MS]);
    let low = leaf(&mut tree, class, Share::Priority(1));
    tree.wake(high, 0);
    tree.wake(low, 0);
    run(&mut tree, 0, 40 * MS);
    assert_eq!((tree.service(high), tree.service(low)), (4 * MS, 36 * MS));
    assert_eq!(tree.service(class), 40 * MS);
}

/// A tree of classes, with leaves of which some have limits.
fn grown(tree: &mut Tree<'_>, dice: &mut Dice) -> Vec<NodeId> {
    let root = tree.root(0);
    let classes = [Policy::FixedPriority, Policy::EarliestDeadline]
        .map(|policy| tree.create(root, Some(policy), Share::Priority(10)).expect("fits"));
    let mut all = classes.to_vec();
    if dice.below(2) == 0 {
        let limit = Budget::new(Server::Periodic, 4 * MS, 10 * MS);
        assert_eq!(tree.set_budget(classes[0], Some(limit), 0), Ok(()));
    }
    for nth in 0..6 {
        let (class, share) = match nth % 3 {
            0 => (root, Share::Priority(9 + dice.below(3) as u16)),
            1 => (classes[0], Share::Priority(dice.below(3) as u16)),
            _ => (classes[1], Share::Deadline),
        };
        let leaf = tree.create(class, None, share).expect("fits");
        let server = [Server::Periodic, Server::Constant, Server::Sporadic][dice.below(3) as usize];
        let limit = Budget::new(server, (1 + dice.below(2)) * MS, (10 + dice.below(20)) * MS);
        assert_eq!(tree.set_budget(leaf, Some(limit), 0), Ok(()));
        all.push(leaf);
    }
    all
}

proptest! {
    /// Wherever the tree without a background runs anything, the one with it runs the same, if it
    /// is wanted of leaves: in a class of the background its children use their own budgets.
    #[test]
    fn the_background_takes_nothing(seed in any::<u64>()) {
        let [mut plain_storage, mut storage] = [Storage::new(16), Storage::new(16)];
        let [mut plain, mut tree] = [plain_storage.tree(), storage.tree()];
        let [mut dice, mut same] = [Dice(seed), Dice(seed)];
        let nodes = grown(&mut plain, &mut dice);
        prop_assert_eq!(&nodes, &grown(&mut tree, &mut same));
        for node in &nodes[2..] {
            let wanted = Fallback { overrun: dice.below(2) == 0, miss: false };
            prop_assert_eq!(tree.set_background(*node, wanted, 0), Ok(()));
        }
        let (leaves, mut now, mut used) = (&nodes[2..], 0, 0);
        for _ in 0..300 {
            let end = now + dice.below(3 * MS);
            while now < end {
                let (expected, found) = (decide(&mut plain, now), decide(&mut tree, now));
                if expected.leaf.is_some() {
                    prop_assert_eq!(expected.leaf, found.leaf, "at {}", now);
                }
                let until = expected.until.min(found.until).min(end);
                if expected.leaf.is_none() && found.leaf.is_some() {
                    used += until - now;
                }
                now = until;
            }
            let leaf = leaves[dice.below(leaves.len() as u64) as usize];
            let is_woken = dice.below(4) > 0;
            for tree in [&mut plain, &mut tree] {
                match is_woken {
                    true => drop(tree.wake(leaf, now)),
                    false => tree.block(leaf, now, true),
                }
                tree.check();
            }
        }
        plain.account_all(now);
        tree.account_all(now);
        let sum = |tree: &Tree<'_>| leaves.iter().map(|leaf| tree.service(*leaf)).sum::<u64>();
        prop_assert_eq!(sum(&plain) + used, sum(&tree), "what it has had");
    }
}

/// A late job is to fall behind as soon as its leaf is chosen; meanwhile a monitor is set.
#[test]
fn a_late_job_falls_behind_where_a_monitor_is_set_meanwhile() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let root = tree.root(0);
    let class = class(&mut tree, Policy::FixedPriority);
    let leaf = leaf(&mut tree, class, Share::Priority(5));
    let timing = Timing { deadline: 2 * MS, period: 10 * MS };
    assert_eq!(tree.set_timing(leaf, Some(timing), 0), Ok(()));
    let (high, low) = (tree.plain_leaf(0, 200), self::leaf(&mut tree, root, Share::Priority(1)));
    assert_eq!(tree.set_background(leaf, Fallback { overrun: false, miss: true }, 0), Ok(()));
    tree.wake(leaf, 0);
    tree.wake(low, 0);
    decide(&mut tree, 0);
    tree.wake(high, MS);
    decide(&mut tree, MS);
    let overran = Events { missed: false, overran: true };
    assert_eq!(tree.watch(leaf, overran, 0, 3 * MS), Ok(()));
    tree.block(high, 4 * MS, true);
    assert_eq!(decide(&mut tree, 4 * MS).leaf, Some(low), "the late one is behind");
}

/// What runs in the background uses no budget of a class above it, also where another CPU stops it
/// again and again while it runs.
#[test]
fn what_is_stopped_in_the_background_uses_no_budget_of_its_class() {
    let served = [Server::Sporadic, Server::Periodic].map(|server| {
        [false, true].map(|stops| {
            let mut storage = Storage::new(12);
            let mut tree = storage.tree();
            let root = tree.root(0);
            let policy = Some(Policy::FixedPriority);
            let class = tree.create(root, policy, Share::Priority(5)).expect("fits");
            let limit = |budget| Some(Budget::new(server, budget, 10 * MS));
            assert_eq!(tree.set_budget(class, limit(5 * MS), 0), Ok(()));
            assert_eq!(tree.set_background(class, OVERRUN, 0), Ok(()));
            let other = leaf(&mut tree, root, Share::Priority(1));
            let [own, victim] =
                [1, 2].map(|priority| leaf(&mut tree, class, Share::Priority(priority)));
            assert_eq!(tree.set_budget(own, limit(MS), 0), Ok(()));
            assert_eq!(tree.set_background(own, OVERRUN, 0), Ok(()));
            tree.wake(own, 0);
            assert_eq!(tree.pick(0, 0).leaf, Some(own));
            let mut now = MS;
            assert_eq!(tree.pick(0, now).leaf, Some(own), "in the background");
            // A thread on another CPU suspends it and resumes it; this CPU decides when it is
            // interrupted.
            for _ in 0..200 {
                now += 5 * US;
                if stops {
                    tree.block(own, now, false);
                    tree.wake(own, now);
                }
                now += 5 * US;
                assert_eq!(tree.pick(0, now).leaf, Some(own), "in the background again");
            }
            tree.wake(victim, now);
            tree.wake(other, now);
            run(&mut tree, now, 50 * MS);
            tree.service(victim)
        })
    });
    assert!(served.iter().all(|[alone, stopped]| alone == stopped), "{served:?}");
}
