//! Whether a node that became ready or was changed asks for a decision.

use super::avl::NIL;
use super::{NodeId, Tree, TreeCpu};

impl Tree<'_> {
    /// Whether a node may be chosen before the leaf that its CPU runs, or as its equal: not if it
    /// is below that one in the root class. A decision is due as well if an instant that is not
    /// deferred comes before the next one. Of a node of the shared class: whether any CPU is to
    /// decide ([`Tree::take_asked`]). O(depth), and what [`Tree::pick`] says of the shared class.
    pub fn preempts(&mut self, node: NodeId) -> bool {
        let (root, at) = self.top(node.0);
        let Some(cpu) = self.nodes.get(root as usize).map(|root| usize::from(root.cpu)) else {
            return false;
        };
        if cpu == self.shared_cpu() {
            return self.asks_for(at);
        }
        let TreeCpu { running, until, behind, .. } = self.cpus[cpu];
        if running == NIL || behind != NIL || self.next_fixed(cpu) < until {
            return true;
        }
        let (root, runs) = self.top(running);
        let runs = if root == self.shared().0 { root } else { runs };
        self.nodes[at as usize].priority() >= self.nodes[runs as usize].priority()
    }
}
