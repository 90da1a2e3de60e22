//! Plain leaves against nodes of the same priorities: both trees decide the same.

use super::*;
use proptest::prelude::*;

const PRIORITIES: [u8; 5] = [0, 7, 7 + 64, 200, 255];
const CPUS: usize = 2;

#[derive(Clone, Debug)]
enum Step {
    Wake(usize),
    Block(usize, bool),
    Rotate(usize),
    Pass(u64),
    Pick(usize),
}

/// A tree with reservations beside the leaves of priorities, which are `plain` or nodes.
struct Side<'a> {
    tree: Tree<'a>,
    leaves: Vec<NodeId>,
}

impl<'a> Side<'a> {
    fn new(storage: &'a mut Storage, plain: bool) -> Side<'a> {
        let mut tree = storage.tree();
        let mut leaves = Vec::new();
        for cpu in 0..CPUS {
            let root = tree.root(cpu);
            for priority in PRIORITIES {
                let share = Share::Priority(priority.into());
                leaves.push(match plain {
                    true => tree.plain_leaf(cpu, priority),
                    false => leaf(&mut tree, root, share),
                });
            }
        }
        for cpu in 0..CPUS {
            let root = tree.root(cpu);
            for (priority, budget) in [(7, None), (200, Some(2)), (300, Some(1)), (255, Some(3))] {
                let at = leaf(&mut tree, root, Share::Priority(priority));
                let limits = budget.map(|budget| Budget {
                    server: Server::Periodic,
                    budget: budget * MS,
                    period: 10 * MS,
                });
                tree.set_budget(at, limits, 0).expect("fits");
                leaves.push(at);
            }
        }
        tree.set_share(tree.shared(), Share::Priority(7), 0).expect("fits");
        for deadline in [5, 9] {
            let shared = tree.shared();
            let at = leaf(&mut tree, shared, Share::Deadline);
            let limits = Budget { server: Server::Periodic, budget: MS, period: deadline * MS };
            tree.set_budget(at, Some(limits), 0).expect("fits");
            leaves.push(at);
        }
        Side { tree, leaves }
    }

    /// What a CPU runs, by its place among the leaves, and until when.
    fn pick(&mut self, cpu: usize, now: u64) -> (Option<usize>, u64) {
        for _ in 0..100 {
            let pick = self.tree.pick(cpu, now);
            if pick.until > now {
                self.tree.check();
                let place = |at| self.leaves.iter().position(|leaf| *leaf == at).expect("known");
                return (pick.leaf.map(place), pick.until);
            }
        }
        panic!("decisions are due for ever");
    }

    /// All that can be asked of it.
    fn shows(&mut self) -> Vec<(u64, bool, bool, i16, u8)> {
        let leaves = self.leaves.clone();
        let mut all = Vec::new();
        for at in leaves {
            let preempts = self.tree.preempts(at);
            let (service, is_ready) = (self.tree.service(at), self.tree.is_ready(at));
            let (urgency, depth) = (self.tree.priority_below_root(at), self.tree.depth_of(at));
            all.push((service, is_ready, preempts, urgency, depth));
        }
        all
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let leaves = CPUS * (PRIORITIES.len() + 4) + 2;
    let step = prop_oneof![
        (0..leaves).prop_map(Step::Wake),
        (0..leaves, any::<bool>()).prop_map(|(at, ends)| Step::Block(at, ends)),
        (0..leaves).prop_map(Step::Rotate),
        (0..2 * SLICE).prop_map(Step::Pass),
        Just(Step::Pass(MS)),
        (0..CPUS).prop_map(Step::Pick),
    ];
    prop::collection::vec(step, 1..300)
}

proptest! {
    #[test]
    fn plain_leaves_stand_as_nodes_would(steps in steps()) {
        let room = CPUS * (PRIORITIES.len() + 4) + 2;
        let [mut one, mut other] = [room, room].map(|room| Storage::of_cpus(CPUS, room));
        let mut sides = [Side::new(&mut one, true), Side::new(&mut other, false)];
        let mut now = 0;
        for step in steps {
            let both = sides.each_mut().map(|side| {
                side.tree.account_all(now);
                let leaves = side.leaves.clone();
                match step {
                    Step::Wake(at) => drop(side.tree.wake(leaves[at], now)),
                    Step::Block(at, ends) => {
                        side.tree.block(leaves[at], now, ends);
                        // A plain leaf pays for nothing.
                        (0..CPUS).for_each(|cpu| _ = side.tree.settle_payer(cpu, now));
                    }
                    Step::Rotate(at) => side.tree.rotate(leaves[at], now),
                    Step::Pick(cpu) => return (Some(side.pick(cpu, now)), Vec::new()),
                    Step::Pass(_) => {}
                }
                let order = (0..leaves.len()).map(|at| {
                    let other = leaves[(at + 7) % leaves.len()];
                    side.tree.compare_urgency(leaves[at], other)
                });
                let order: Vec<_> = order.collect();
                assert_eq!(side.tree.highest_ready(0).is_some(), side.tree.first_rank(0).is_some());
                (None, vec![(side.shows(), order, side.tree.highest_ready(1))])
            });
            prop_assert_eq!(&both[0], &both[1]);
            if let Step::Pass(time) = step {
                now += time;
            }
        }
    }
}

#[test]
fn a_lone_plain_leaf_runs_for_ever() {
    let mut storage = Storage::new(2);
    let mut tree = storage.tree();
    let at = tree.plain_leaf(0, 255);
    assert!(tree.wake(at, 0) && !tree.wake(at, 1), "ready once");
    assert_eq!(tree.pick(0, 5), Pick { leaf: Some(at), until: NEVER });
    tree.block(at, 25, true);
    assert_eq!((tree.service(at), tree.is_ready(at)), (20, false));
    assert_eq!(tree.pick(0, 30), Pick { leaf: None, until: NEVER });
}

#[test]
fn no_parameter_of_a_plain_leaf_can_be_changed() {
    let mut storage = Storage::new(4);
    let mut tree = storage.tree();
    let at = tree.plain_leaf(0, 3);
    let none = Err(TreeError::NoSuchNode);
    assert_eq!(tree.set_budget(at, None, 0), none);
    assert_eq!(tree.set_share(at, Share::Priority(1), 0), none);
    assert_eq!(tree.remove_node(at, 0), none);
    assert_eq!(tree.create(at, None, Share::Priority(1)), Err(TreeError::NoSuchNode));
    assert_eq!(tree.inspect(at), None);
    let beyond = tree.plain_leaf(1, 0);
    assert!(!tree.wake(beyond, 0), "there is no such CPU");
}
