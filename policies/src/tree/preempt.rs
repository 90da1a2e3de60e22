//! Whether a node that became ready or was changed asks for a decision.

use super::avl::NIL;
use super::{NodeId, Tree, TreeCpu};

impl Tree<'_> {
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
