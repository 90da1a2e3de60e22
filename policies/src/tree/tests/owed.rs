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
        tree.block_here(0, first, stops, true);
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
    let chosen = (0..20).map(|_| tree.step(0, MS)).find(|step| *step != Step::Passed);
    assert!(matches!(chosen, Some(Step::Chosen(pick)) if pick.leaf == Some(victim)));
    assert_eq!(tree.settle_decision(0, MS + US), US);
}
