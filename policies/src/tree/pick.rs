//! The decision: which leaf a CPU runs, and until when at most.

use super::avl::{self, NIL};
use super::curve::NEVER;
use super::node::{ByEligible, ByKey, Node, Policy, Role};
use super::{NodeId, Tree};

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The leaf to run; none: nothing is ready, or may run.
    pub leaf: Option<NodeId>,
    /// When the next decision is due, unless something happens before; [`NEVER`] if never.
    pub until: u64,
}

impl Tree<'_> {
    /// Decides for a CPU, at an instant that is not before that of any event. The leaf is charged
    /// from now on.
    pub fn pick(&mut self, cpu: usize, now: u64) -> Pick {
        self.account(cpu, now);
        let mut until = self.advance(cpu, now);
        let root = self.cpus[cpu].root;
        let leaf =
            if self.nodes[root as usize].ready { self.descend(root, now, &mut until) } else { NIL };
        self.cpus[cpu].running = leaf;
        Pick { leaf: (leaf != NIL).then_some(NodeId(leaf)), until }
    }

    fn descend(&mut self, root: u32, now: u64, until: &mut u64) -> u32 {
        let mut at = root;
        loop {
            let node = &self.nodes[at as usize];
            *until = (*until).min(now.saturating_add(node.server.left()));
            let (queue, role) = (node.queue, node.role);
            at = match role {
                Role::Class(Policy::FixedPriority) => self.pick_highest(queue, now, until),
                Role::Class(Policy::EarliestDeadline) => {
                    avl::first::<Node, ByKey>(self.nodes, queue)
                }
                Role::Class(Policy::ServiceCurves) => self.pick_curve(at, now, until),
                Role::Class(Policy::Partitions(table)) => self.pick_partition(queue, table),
                Role::Leaf | Role::Vacant(_) => return at,
            };
        }
    }

    fn pick_highest(&self, queue: u32, now: u64, until: &mut u64) -> u32 {
        let first = avl::first::<Node, ByKey>(self.nodes, queue);
        let node = &self.nodes[first as usize];
        if avl::has_two::<Node, ByKey>(self.nodes, queue) {
            let next = avl::next::<Node, ByKey>(self.nodes, first);
            if self.nodes.get(next as usize).is_some_and(|next| next.key == node.key) {
                *until = (*until).min(now.saturating_add(node.slice));
            }
        }
        first
    }

    /// Of those that must be served the one of the earliest deadline; if there is none, down to
    /// the leaf the child of the least virtual time (S4-04).
    fn pick_curve(&mut self, top: u32, now: u64, until: &mut u64) -> u32 {
        let waiting = self.nodes[top as usize].fair.waiting;
        let due = avl::least_up_to::<Node, ByEligible>(self.nodes, waiting, now);
        let (chosen, mut rivals) = match due {
            NIL => self.pick_share(top),
            _ => (due, false),
        };
        if due != NIL {
            let mut class = self.nodes[due as usize].parent;
            loop {
                rivals |= avl::has_two::<Node, ByKey>(self.nodes, self.nodes[class as usize].queue);
                if class == top {
                    break;
                }
                class = self.nodes[class as usize].parent;
            }
        }
        if rivals {
            *until = (*until).min(now.saturating_add(self.quantum));
            if due == NIL {
                let first = avl::first::<Node, ByEligible>(self.nodes, waiting);
                let next = self.nodes.get(first as usize);
                *until = (*until).min(next.map_or(NEVER, |node| node.fair.eligible_at));
            }
        }
        self.nodes[chosen as usize].fair.is_due = due != NIL;
        chosen
    }

    /// The child of the least virtual time, and again its child while that is a class of service
    /// curves; and whether any of them has a sibling.
    fn pick_share(&self, top: u32) -> (u32, bool) {
        let (mut at, mut rivals) = (top, false);
        loop {
            let queue = self.nodes[at as usize].queue;
            rivals |= avl::has_two::<Node, ByKey>(self.nodes, queue);
            at = avl::first::<Node, ByKey>(self.nodes, queue);
            if self.policy_of(at) != Some(Policy::ServiceCurves) {
                return (at, rivals);
            }
        }
    }

    /// The partition whose window it is or the background partition, whichever is more urgent; a
    /// tie goes to the background (S2D-08).
    fn pick_partition(&self, queue: u32, table: u16) -> u32 {
        let partition = self.frames[usize::from(table)].partition();
        let background = self.partition(queue, 0);
        let current = self.partition(queue, partition);
        if background == NIL {
            return current;
        }
        let wins = current != NIL && self.urgency(current) > self.urgency(background);
        if wins { current } else { background }
    }

    /// The priority of the most urgent child of a class of fixed priorities; else of the node.
    fn urgency(&self, at: u32) -> u16 {
        let node = &self.nodes[at as usize];
        match node.policy() {
            Some(Policy::FixedPriority) => {
                let first = avl::first::<Node, ByKey>(self.nodes, node.queue);
                self.nodes.get(first as usize).map_or(0, Node::priority)
            }
            _ => node.priority(),
        }
    }
}
