//! Who pays for the kernel's time.

use super::*;

/// A class of 1 ms in 10 with two leaves of which the second never runs, beside a victim.
fn neighbours<'a>(storage: &'a mut Storage) -> (Tree<'a>, [NodeId; 4]) {
    let mut tree = storage.tree();
    let root = tree.root(0);
    let victim = leaf(&mut tree, root, Share::Priority(1));
    let class = tree.create(root, Some(Policy::FixedPriority), Share::Priority(2)).expect("fits");
    let [first, second] = [2, 1].map(|priority| leaf(&mut tree, class, Share::Priority(priority)));
    let budget = Budget::new(Server::Periodic, MS, 10 * MS);
    assert_eq!(tree.set_budget(class, Some(budget), 0), Ok(()));
    tree.wake(victim, 0);
    (tree, [victim, class, first, second])
}

/// What an interrupt wakes pays until the decision ends, and so do its classes, whether it runs
/// or not; what was interrupted does not.
#[test]
fn a_class_pays_for_what_never_runs() {
    let mut storage = Storage::new(8);
    let (mut tree, [victim, class, first, second]) = neighbours(&mut storage);
    tree.wake(first, 0);
    assert_eq!(tree.pick(0, 0), Pick { leaf: Some(first), until: MS });
    tree.wake(second, 10 * US);
    tree.pays(0, second, 10 * US);
    assert!(matches!(tree.step(0, 10 * US), Step::Chosen(pick) if pick.leaf == Some(first)));
    assert_eq!(tree.settle_decision(0, 310 * US), 300 * US);
    assert_eq!([first, second].map(|leaf| tree.service(leaf)), [10 * US, 0]);
    tree.account(0, 320 * US);
    assert_eq!([first, class].map(|node| tree.service(node)), [20 * US, 320 * US]);
    // It is gone, and its class has paid.
    tree.block(second, 320 * US, true);
    assert_eq!(tree.remove_node(second, 320 * US), Ok(()));
    assert_eq!(tree.pick(0, 320 * US), Pick { leaf: Some(first), until: MS });
    assert_eq!(tree.pick(0, MS).leaf, Some(victim));
    assert_eq!(tree.service(victim), 0);
}

/// A leaf that stops running pays for the decision, also where its budget ends just then.
#[test]
fn who_stops_pays_for_the_switch() {
    for stops in [MS / 2, MS] {
        let mut storage = Storage::new(8);
        let (mut tree, [victim, _, first, _]) = neighbours(&mut storage);
        tree.wake(first, 0);
        assert_eq!(tree.pick(0, 0).leaf, Some(first));
        tree.block(first, stops, true);
        assert!(matches!(tree.step(0, stops), Step::Chosen(pick) if pick.leaf == Some(victim)));
        assert_eq!(tree.settle_decision(0, stops + US), US, "{stops}");
        tree.account(0, stops + 3 * US);
        assert_eq!(tree.service(victim), 2 * US);
    }
}

/// What has used up a budget pays for the switch away from it.
#[test]
fn who_is_throttled_pays_for_the_switch() {
    let mut storage = Storage::new(8);
    let (mut tree, [victim, _, first, _]) = neighbours(&mut storage);
    tree.wake(first, 0);
    assert_eq!(tree.pick(0, 0).leaf, Some(first));
    assert_eq!(tree.step(0, MS), Step::Charged);
    assert!(matches!(tree.step(0, MS), Step::Chosen(pick) if pick.leaf == Some(victim)));
    assert_eq!(tree.settle_decision(0, MS + US), US);
}

/// A child of the class that all CPUs share is moved while a CPU runs something in it: that pays
/// until the CPU has decided, as often as it is moved.
#[test]
fn who_is_moved_away_pays_until_the_decision() {
    let mut storage = Storage::of_cpus(2, 4);
    let mut tree = storage.tree();
    let shared = tree.shared();
    let child = leaf(&mut tree, shared, Share::Deadline);
    let budget = Budget::new(Server::Constant, MS, 10 * MS);
    assert_eq!(tree.set_budget(child, Some(budget), 0), Ok(()));
    tree.wake(child, 0);
    assert_eq!(tree.pick(0, 0).leaf, Some(child));
    // Another CPU does so, and this one decides when it has been interrupted.
    for moves in 1..=5 {
        let now = moves * 100 * US;
        assert_eq!(tree.join(child, shared, Share::Deadline, now - 10 * US), Ok(()));
        assert_eq!(tree.pick(0, now).leaf, Some(child));
    }
    tree.account(0, 600 * US);
    assert_eq!([child, shared].map(|node| tree.service(node)), [600 * US; 2]);
}

/// What runs is destroyed by another CPU: its class pays until the CPU has decided.
#[test]
fn a_class_pays_for_what_is_gone() {
    let mut storage = Storage::new(8);
    let (mut tree, [victim, class, first, second]) = neighbours(&mut storage);
    tree.wake(first, 0);
    assert_eq!(tree.pick(0, 0).leaf, Some(first));
    assert_eq!(tree.remove_node(first, 100 * US), Ok(()));
    assert_eq!(tree.pick(0, 150 * US).leaf, Some(victim));
    tree.wake(second, 200 * US);
    assert_eq!(tree.pick(0, 200 * US).leaf, Some(second));
    tree.account(0, 300 * US);
    assert_eq!([victim, class].map(|node| tree.service(node)), [50 * US, 250 * US]);
}

/// A CPU works for a leaf that no CPU runs, while another one moves it: so far for the class that
/// it was in.
#[test]
fn who_is_moved_owes_in_its_old_class_until_then() {
    let mut storage = Storage::of_cpus(1, 6);
    let mut tree = storage.tree();
    let shared = tree.shared();
    let classes = [(); 2]
        .map(|()| tree.create(shared, Some(Policy::FixedPriority), Share::Deadline).expect("fits"));
    let child = leaf(&mut tree, classes[0], Share::Priority(1));
    tree.pick(0, 0);
    tree.wake(child, 0);
    tree.pays(0, child, 0);
    assert_eq!(tree.join(child, classes[1], Share::Priority(1), 10 * US), Ok(()));
    assert_eq!(tree.settle_payer(0, 30 * US), 20 * US);
    assert_eq!(classes.map(|class| tree.nodes[class.index()].owed), [10 * US, 20 * US]);
}
