//! What is untold gives nobody more than what is told at once, and hides nothing.

use super::*;

/// A tree that is told in steps.
fn in_steps(storage: &mut Storage) -> Tree<'_> {
    storage.tree().told_in_steps()
}

/// A leaf six classes deep.
fn deep(tree: &mut Tree<'_>, priority: u16) -> NodeId {
    let (mut class, mut share) = (tree.root(0), Share::Priority(priority));
    for _ in 0..6 {
        class = tree.create(class, Some(Policy::FixedPriority), share).expect("fits");
        share = Share::Priority(1);
    }
    leaf(tree, class, share)
}

/// Who calls again and again for what changes reservations is charged each time.
#[test]
fn calls_without_end_are_charged() {
    let mut storage = Storage::new(8);
    let mut tree = in_steps(&mut storage);
    let root = tree.root(0);
    let [hostile, victim] = [2, 1].map(|priority| leaf(&mut tree, root, Share::Priority(priority)));
    let budget = Budget::new(Server::Periodic, MS, 10 * MS);
    assert_eq!(tree.set_budget(hostile, Some(budget), 0), Ok(()));
    tree.wake(hostile, 0);
    tree.wake(victim, 0);
    let (mut now, mut ran) = (0, 0);
    while now < 100 * MS {
        let pick = tree.pick(0, now);
        if pick.leaf == Some(hostile) {
            let time = (pick.until - now).min(5 * US - 100);
            (now, ran) = (now + time, ran + time);
            while tree.tell_before(0, now, 5 * US) {}
        } else {
            now = pick.until;
        }
    }
    assert!(ran <= 10 * (MS + 5 * US), "{ran}");
}

/// What is ready is seen before it is told, and what blocks until it is.
#[test]
fn what_is_untold_is_seen_at_the_root() {
    let mut storage = Storage::new(16);
    let mut tree = in_steps(&mut storage);
    let root = tree.root(0);
    let [low, high] = [1, 200].map(|priority| leaf(&mut tree, root, Share::Priority(priority)));
    let inside = deep(&mut tree, 190);
    tree.wake(low, 0);
    tree.pick(0, 0);
    tree.wake(inside, MS);
    assert_eq!(tree.highest_ready(0), Some(190));
    tree.wake(high, MS);
    tree.pick(0, MS);
    tree.block_here(0, high, 2 * MS, false);
    loop {
        assert!(tree.highest_ready(0) >= Some(190));
        if matches!(tree.step(0, 2 * MS), Step::Chosen(_)) {
            break;
        }
    }
    assert_eq!(tree.highest_ready(0), Some(190));
}

/// However many leaves have changed, few are left to a decision, and each pays for what it is told.
#[test]
fn a_decision_is_told_of_few() {
    let mut storage = Storage::new(80);
    let mut tree = in_steps(&mut storage);
    let root = tree.root(0);
    let victim = leaf(&mut tree, root, Share::Priority(200));
    let others: Vec<NodeId> = (0..8).map(|_| deep(&mut tree, 1)).collect();
    tree.pick(0, 0);
    for at in others.into_iter().chain([victim]) {
        tree.settle_payer(0, MS);
        tree.wake(at, MS);
        tree.pays(0, at, MS);
    }
    let (mut now, mut steps) = (MS, 0);
    loop {
        steps += 1;
        now += US;
        match tree.step(0, now) {
            Step::Chosen(_) => break,
            Step::Served(told) => drop(tree.owe(0, told, now)),
            Step::Passed => {}
        }
    }
    assert!(steps <= 16, "{steps}");
    tree.settle_decision(0, now);
    tree.account(0, now);
    assert!(tree.service(victim) + tree.nodes[victim.index()].owed <= 9 * US);
}

/// What is below what runs is told with the next decision, and makes none.
#[test]
fn a_leaf_below_makes_no_decision() {
    let mut storage = Storage::new(8);
    let mut tree = in_steps(&mut storage);
    let root = tree.root(0);
    let [high, low] = [2, 1].map(|priority| leaf(&mut tree, root, Share::Priority(priority)));
    tree.wake(high, 0);
    tree.pick(0, 0);
    assert!(tree.wake(low, MS) && !tree.preempts(low));
    tree.block_here(0, high, 2 * MS, true);
    assert_eq!(tree.pick(0, 2 * MS).leaf, Some(low));
}

/// A class of service curves in which something is ready is not moved, told or not.
#[test]
fn a_class_that_was_not_told_is_busy() {
    let mut storage = Storage::new(16);
    let mut tree = in_steps(&mut storage);
    let root = tree.root(0);
    let curve = Curve::linear(20_000);
    let share = Share::Curve { guaranteed: Some(curve), share: curve };
    let [outer, other] = [10, 9].map(|priority| {
        let class = Some(Policy::ServiceCurves);
        tree.create(root, class, Share::Priority(priority)).expect("fits")
    });
    let class = Some(Policy::ServiceCurves);
    let inner = tree.create(outer, class, Share::curve(curve)).expect("fits");
    let at = tree.create(inner, None, share).expect("fits");
    tree.pick(0, 0);
    tree.wake(at, MS);
    assert_eq!(tree.join(inner, other, Share::curve(curve), MS), Err(TreeError::Busy));
    tree.check();
}
