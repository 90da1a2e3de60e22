//! Long runs of classes of the kernel's own tree, in which every decision is carried out.

use super::trees::trees;
use super::*;
use crate::tree::{self, Budget, Frame, Node, NodeId, Policy, Share, Tree, TreeCpu};
use proptest::prelude::*;
use std::vec;

/// Period of servers whose budgets are fixed: ten nanoseconds of it are a millionth.
const PERIOD: u64 = 10 * MS;

/// The same servers in the kernel's tree.
struct Nodes {
    soft: Vec<NodeId>,
    hard: Vec<(NodeId, Budget)>,
}

fn share(policy: Policy, priority: usize) -> Share {
    match policy {
        Policy::FixedPriority => Share::Priority(priority as u16),
        _ => Share::Deadline,
    }
}

/// A class right below the root, whose policy comes first; those of the others follow.
fn nodes(tree: &mut Tree<'_>, servers: &[Server], policies: &[Policy]) -> Nodes {
    let mut made = Nodes { soft: Vec::new(), hard: Vec::new() };
    let root = tree.root(0);
    let top = tree.create(root, Some(policies[0]), Share::Priority(10)).expect("there is room");
    let supply = servers.iter().find_map(|it| match it.above {
        Above::Fixed { supply, .. } => Some(supply),
        Above::Adaptive(_) => None,
    });
    hard(tree, &mut made, top, policies[0], 1_000_000 - supply.expect("one is at the top"));
    for (at, server) in servers.iter().enumerate() {
        let (class, above) = match server.above {
            Above::Fixed { .. } => (top, policies[0]),
            Above::Adaptive(class) => (made.soft[class], policies[1 + class]),
        };
        let is_class = children(servers, Above::Adaptive(at)).count() > 0;
        let policy = is_class.then_some(policies[1 + at]);
        let node = tree.create(class, policy, share(above, at)).expect("there is room");
        made.soft.push(node);
        let limit = Budget::new(tree::Server::Periodic, server.budget, server.period);
        assert_eq!(tree.set_budget(node, Some(limit), 0), Ok(()));
        hard(tree, &mut made, node, policies[1 + at], server.taken);
    }
    made
}

/// A leaf whose budget is never changed, of so many millionths; none if there is not that much.
fn hard(tree: &mut Tree<'_>, made: &mut Nodes, class: NodeId, policy: Policy, rate: u32) {
    let budget = u64::from(rate) * PERIOD / 1_000_000;
    if (1_000..PERIOD).contains(&budget) {
        let limit = Budget::new(tree::Server::Periodic, budget, PERIOD);
        let node = tree.create(class, None, share(policy, 500)).expect("there is room");
        assert_eq!(tree.set_budget(node, Some(limit), 0), Ok(()));
        made.hard.push((node, limit));
    }
}

/// CPU time that was used and lacked, of each magnitude as often.
fn uses() -> impl Strategy<Value = Vec<Option<Use>>> {
    let one = any::<(u32, u64, u64)>().prop_map(|(jobs, consumed, extra)| {
        let part = |bits: u64| bits >> (bits % 64);
        Use { jobs: jobs % 20, consumed: part(consumed), extra: part(extra) }
    });
    prop::collection::vec(prop::option::of(one), MOST)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(3)))]

    /// The kernel's admission takes each change; what is in classes of fixed priorities, where it
    /// admits anything, fits at each moment too. Hard servers keep their budgets, and what is not
    /// used any more is given back on all levels.
    #[test]
    fn the_kernel_accepts_every_decision(
        (mut servers, _) in trees(MS..200 * MS, 1, 1_000),
        loud in prop::collection::vec(uses(), 30),
        by_deadline in prop::collection::vec(any::<bool>(), MOST + 1),
    ) {
        let of = |edf: bool| if edf { Policy::EarliestDeadline } else { Policy::FixedPriority };
        let policies: Vec<Policy> = by_deadline.into_iter().map(of).collect();
        let mut storage = (
            vec![Node::vacant(); 40], vec![Frame::EMPTY; 1], vec![TreeCpu::NEW; 2],
        );
        let mut tree = Tree::new(&mut storage.0, &mut storage.1, &mut storage.2, MS, MS);
        let made = nodes(&mut tree, &servers, &policies);
        let mut demands = vec![Demand::new(8); servers.len()];
        servers.iter_mut().for_each(|it| it.asked = it.budget);
        let quiet = vec![vec![Some(Use { jobs: 1, consumed: 0, extra: 0 }); MOST]; 9];
        for (now, uses) in loud.into_iter().chain(quiet).enumerate() {
            let mut wanted = vec![None; servers.len()];
            for (at, seen) in uses.into_iter().take(servers.len()).enumerate().rev() {
                let Some(seen) = seen else { continue };
                demands[at].push(seen, left_to_tasks(&servers, at));
                wanted[at] = demands[at].wanted();
            }
            let decision = decide(&servers, &wanted).expect("it fits");
            let mut budgets: Vec<u64> = servers.iter().map(|it| it.budget).collect();
            for (at, budget) in decision.changes() {
                let limit = Budget::new(tree::Server::Periodic, budget, servers[at].period);
                prop_assert_eq!(tree.set_budget(made.soft[at], Some(limit), now as u64), Ok(()));
                budgets[at] = budget;
                tree.check();
                prop_assert!(model::fits(&servers, &budgets));
            }
            for (at, server) in servers.iter_mut().enumerate() {
                (server.budget, server.asked) = (budgets[at], decision.asked()[at]);
            }
            for (node, limit) in &made.hard {
                prop_assert_eq!(tree.limit(*node), Some(*limit), "a hard one");
            }
        }
        for server in &servers {
            prop_assert_eq!(server.budget, server.least);
        }
    }
}

/// What a class leaves to its own tasks is what neither fixed nor other children have.
#[test]
fn tasks_have_what_children_leave() {
    let class = Server { taken: 100_000, ..soft(1_000_000, 1, [2 * MS, 5 * MS, 10 * MS]) };
    let child = Server { above: Above::Adaptive(0), ..soft(0, 1, [MS, 5 * MS, 20 * MS]) };
    assert_eq!(left_to_tasks(&[class, child], 0), 1_500_000, "50 % without 10 and 25 %");
    assert_eq!(left_to_tasks(&[class, child], 1), 5 * MS);
}
