//! Whether a node that became ready or was changed asks for a decision.

use super::avl::NIL;
use super::curve::NEVER;
use super::{NodeId, Tree, TreeCpu};

impl Tree<'_> {
    /// How urgent instants of threads in a node are, below the root of its CPU: as the node, or the
    /// class that it is in; or as a miss that a monitor is to be told of while this leaf waits for
    /// its CPU. `None`: as any, since it is in the class that all CPUs share. O(depth).
    pub fn urgency_of_instants(&self, at: NodeId) -> Option<i16> {
        let node = self.node(at)?;
        let (root, child) = self.top(at.0);
        let urgency = self.nodes[child as usize].priority().max(node.watch.level);
        (!self.is_shared_class(root)).then_some(urgency as i16)
    }

    /// Whether a node may be chosen before the leaf that its CPU runs, or as its equal: not if it
    /// is below that one in the root class. A decision is due as well if a miss that is no less
    /// urgent than that leaf comes before the next one. Of a node of the shared class: whether any
    /// CPU is to decide ([`Tree::take_asked`]). O(depth), and what [`Tree::pick`] says of the
    /// shared class.
    #[inline(always)]
    pub fn preempts(&mut self, node: NodeId) -> bool {
        if let Some((cpu, _)) = self.plain(node.0) {
            let TreeCpu { running, behind, misses, .. } = self.cpus[cpu];
            if running as usize >= self.nodes.len() && [behind, misses] == [NIL; 2] {
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
        if running == NIL || behind != NIL {
            return true;
        }
        let runs = self.rank_of_running(running);
        rank <= runs || self.next_miss(cpu, runs).1 < until
    }

    /// The rank below a CPU's root of a leaf that it runs: that of the class that all CPUs share,
    /// if it is in that; behind all others, if it is none.
    pub(super) fn rank_of_running(&self, leaf: u32) -> u64 {
        if leaf == NIL {
            return NEVER;
        }
        let (root, rank) = self.rank_below_root(leaf);
        if self.is_shared_class(root) { self.nodes[root as usize].rank() } else { rank }
    }
}
