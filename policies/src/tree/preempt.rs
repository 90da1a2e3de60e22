//! Whether a node that became ready or was changed asks for a decision.

use super::avl::NIL;
use super::{NodeId, Tree, TreeCpu};

impl Tree<'_> {
    /// Whether a node may be chosen before the leaf that its CPU runs, or as its equal: not if it
    /// is below that one in the root class. A decision is due as well if an instant that is not
    /// deferred comes before the next one. O(depth).
    pub fn preempts(&self, node: NodeId) -> bool {
        let (root, at) = self.top(node.0);
        let Some(cpu) = self.nodes.get(root as usize).map(|root| usize::from(root.cpu)) else {
            return false;
        };
        let TreeCpu { running, until, behind, .. } = self.cpus[cpu];
        if running == NIL || behind != NIL || self.next_fixed(cpu) < until {
            return true;
        }
        let (_, runs) = self.top(running);
        self.nodes[at as usize].priority() >= self.nodes[runs as usize].priority()
    }

    /// The root that a node is below, and the child of it that the node is, or is below.
    fn top(&self, mut at: u32) -> (u32, u32) {
        let mut below = at;
        while let Some(node) = self.nodes.get(at as usize).filter(|node| node.parent != NIL) {
            (below, at) = (at, node.parent);
        }
        (at, below)
    }
}
