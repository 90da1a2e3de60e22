//! Whether a leaf that became ready asks for a decision.

use super::avl::NIL;
use super::{NodeId, Tree};

impl Tree<'_> {
    /// Whether a leaf may be chosen before the one that its CPU runs, or as its equal. Not if it is
    /// below that one in the root class; else it may. O(depth).
    pub fn preempts(&self, leaf: NodeId) -> bool {
        let (root, at) = self.top(leaf.0);
        let Some(cpu) = self.nodes.get(root as usize).map(|root| usize::from(root.cpu)) else {
            return false;
        };
        let running = self.cpus[cpu].running;
        if running == NIL {
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
