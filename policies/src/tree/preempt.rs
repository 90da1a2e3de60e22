//! Whether a node that became ready or was changed asks for a decision.

use super::avl::NIL;
use super::{NodeId, Tree, TreeCpu};
use abi::reservation::Share;

impl Tree<'_> {
    /// How urgent instants of threads in a node are, below the root of its CPU: as the node, or the
    /// class that it is in. `None`: as any, since it is in the class that all CPUs share, or a
    /// monitor is to be told of a miss of this leaf while it waits for its CPU. O(depth).
    pub fn urgency_of_instants(&self, at: NodeId) -> Option<i16> {
        let node = self.node(at)?;
        let is_watched = node.policy().is_none() && node.watch.wanted.missed;
        let (root, child) = self.top(at.0);
        let is_as_any = is_watched || self.is_shared_class(root);
        (!is_as_any).then(|| self.nodes[child as usize].priority() as i16)
    }

    /// A node and all classes above it, upwards.
    pub fn path(&self, at: NodeId) -> impl Iterator<Item = NodeId> {
        let above =
            |NodeId(at): &NodeId| self.nodes.get(*at as usize).map(|node| NodeId(node.parent));
        core::iter::successors(Some(at), above).take_while(|at| at.0 != NIL)
    }

    /// How urgent a child of a class is below the root of its CPU, with this share. `None`: as any,
    /// in the class that all CPUs share. O(depth).
    pub fn urgency_in(&self, class: NodeId, share: Share) -> Option<i16> {
        match (self.cpu_with_root(class.0), share) {
            (Some(_), Share::Priority(priority)) => priority.try_into().ok(),
            _ if self.is_shared_class(self.top(class.0).0) => None,
            _ => Some(self.priority_below_root(class)),
        }
    }

    /// Whether a node may be chosen before the leaf that its CPU runs, or as its equal: not if it
    /// is below that one in the root class. A decision is due as well if an instant that is not
    /// deferred comes before the next one. Of a node of the shared class: whether any CPU is to
    /// decide ([`Tree::take_asked`]). O(depth), and what [`Tree::pick`] says of the shared class.
    #[inline(always)]
    pub fn preempts(&mut self, node: NodeId) -> bool {
        if let Some((cpu, _)) = self.plain(node.0) {
            let TreeCpu { running, behind, fixed, .. } = self.cpus[cpu];
            if running as usize >= self.nodes.len() && [behind, fixed] == [NIL; 2] {
                // Names of plain leaves are in the order of priorities.
                return running == NIL || node.0 >= running;
            }
        }
        self.goes_before_what_runs(node)
    }

    #[inline(never)]
    fn goes_before_what_runs(&mut self, node: NodeId) -> bool {
        let (root, rank) = self.rank_below_root(node.0);
        let Some(cpu) = self.nodes.get(root as usize).map(|root| usize::from(root.cpu)) else {
            return false;
        };
        if cpu == self.shared_cpu() {
            return self.asks_for(self.top(node.0).1);
        }
        let TreeCpu { running, until, behind, .. } = self.cpus[cpu];
        if running == NIL || behind != NIL || self.next_fixed(cpu) < until {
            return true;
        }
        let (root, runs) = self.rank_below_root(running);
        let is_shared = root == self.shared().0;
        rank <= if is_shared { self.nodes[root as usize].rank() } else { runs }
    }
}
