//! Long runs of a class of the kernel's own tree, in which every decision is carried out.

use super::*;
use crate::tree::{Budget, Frame, Node, NodeId, Policy, Server, Share, Tree, TreeCpu};
use proptest::prelude::*;
use proptest::sample::Index;
use std::vec;

/// A server of the class: its node, what it asks for, and how it is seen.
struct Child {
    node: NodeId,
    demand: Demand,
    sibling: Sibling,
}

/// Children of a class with 60 % of a CPU, a tenth of that each.
fn children(tree: &mut Tree<'_>, class: NodeId, count: usize) -> Vec<Child> {
    (0..count)
        .map(|at| {
            let node = tree.create(class, None, Share::Deadline).expect("there is room");
            let period = [20, 75, 100][at % 3] * MS;
            let budget = period * 6 / 100;
            let kind = match at {
                0 => Kind::Hard,
                at => Kind::Soft { importance: at as u32 / 2, least: period / 1000 },
            };
            let limit = Budget::new(Server::Periodic, budget, period);
            tree.set_budget(node, Some(limit), 0).expect("it fits");
            Child { node, demand: Demand::new(8), sibling: Sibling { period, budget, kind } }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The kernel's admission takes each change, the hard child keeps its budget, and a class that
    /// nobody asks anything of any more gives everything back.
    #[test]
    fn the_kernel_accepts_every_decision(
        steps in prop::collection::vec((any::<Index>(), any::<(u32, u64, u64)>()), 200),
        count in 2usize..=10,
    ) {
        let mut storage = (
            vec![Node::vacant(); 16], vec![Frame::EMPTY; 1], vec![TreeCpu::NEW; 2],
        );
        let mut tree = Tree::new(&mut storage.0, &mut storage.1, &mut storage.2, MS, MS);
        let root = tree.root(0);
        let class = tree.create(root, Some(Policy::EarliestDeadline), Share::Priority(10));
        let class = class.expect("there is room");
        let supply = Budget::new(Server::Periodic, 6 * MS, 10 * MS);
        tree.set_budget(class, Some(supply), 0).expect("it fits");
        let mut all = children(&mut tree, class, count);
        let quiet = (0..8 * count).map(|at| (1 + at % (count - 1), (1, 0, 0)));
        let loud = steps.into_iter().map(|(at, (jobs, consumed, extra))| {
            // From nothing to the greatest numbers, each magnitude as often.
            let use_of = |bits: u64| bits >> (bits % 64);
            (1 + at.index(count - 1), (jobs % 20, use_of(consumed), use_of(extra)))
        });
        for (now, (at, (jobs, consumed, extra))) in loud.chain(quiet).enumerate() {
            let child = &mut all[at];
            child.demand.push(Use { jobs, consumed, extra }, child.sibling.budget);
            let Some(wanted) = child.demand.wanted() else { continue };
            let siblings: Vec<Sibling> = all.iter().map(|child| child.sibling).collect();
            let decision = decide(&siblings, 600_000, at, wanted).expect("it fits");
            for (at, budget) in decision.changes() {
                let Child { node, sibling, .. } = &mut all[at];
                let limit = Budget::new(Server::Periodic, budget, sibling.period);
                prop_assert_eq!(tree.set_budget(*node, Some(limit), now as u64), Ok(()));
                sibling.budget = budget;
            }
            prop_assert_eq!(all[0].sibling.budget, 1_200_000, "the hard one");
        }
        for child in &all[1..] {
            let Kind::Soft { least, .. } = child.sibling.kind else { continue };
            prop_assert_eq!(child.sibling.budget, least);
        }
    }
}
