//! The scheduling tree: who runs on a CPU, and until when.
//!
//! Inner nodes are *classes*, each with a [`Policy`] of its own; leaves are *reservations*, which
//! threads use. Each node but a root has a [`Share`] among its siblings and may have a server,
//! which bounds what it gets ([`Budget`]). Each CPU has a root, a class of fixed priorities.
//!
//! The tree is told what happens ([`Tree::wake`], [`Tree::block`], [`Tree::rotate`]) and asked
//! whom to run ([`Tree::pick`]). It reads no clock: each of these takes the instant.
//!
//! | file | what |
//! |---|---|
//! | `node.rs` | nodes and their parameters |
//! | `change.rs` | making, changing, moving and removing nodes |
//! | `run.rs` | waking, blocking, charging, instants to come |
//! | `pick.rs` | the decision |
//! | `server.rs`, `job.rs`, `fair.rs`, `frame.rs` | budgets; deadlines; service curves; windows |
//! | `promised.rs` | admission |
//! | `avl.rs`, `curve.rs` | sorted sets; curves in integers |
//!
//! With `n` children a class's queue takes O(log n) steps, and an event or a decision passes each
//! level once: O(depth log n). A decision serves [`EVENTS`] instants at most.

pub mod avl;
mod change;
pub mod curve;
mod error;
mod fair;
mod frame;
mod job;
mod node;
mod pick;
mod promised;
mod run;
mod server;
#[cfg(test)]
mod tests;

pub use curve::{Curve, NEVER, WHOLE};
pub use error::TreeError;
pub use frame::{Frame, WINDOWS, Window};
pub use job::{Jobs, Timing};
pub use node::{Node, NodeId, PRIORITIES, Policy, Share};
pub use pick::Pick;
pub use promised::BENDS;
pub use server::{Budget, Kind, REFILLS};

use avl::NIL;

/// Levels of the tree, the root's included.
pub const DEPTH: u8 = 8;
/// Instants that one decision serves; more follow with the next one, which is due at once.
pub const EVENTS: u32 = 8;

/// What the tree keeps of a CPU.
#[derive(Clone, Debug)]
pub struct TreeCpu {
    root: u32,
    /// The leaf that runs, or none.
    running: u32,
    /// Since when its time is not charged.
    since: u64,
    /// The nodes that have an instant to come.
    events: u32,
}

impl TreeCpu {
    /// A CPU without a root.
    pub const NEW: TreeCpu = TreeCpu { root: NIL, running: NIL, since: 0, events: NIL };
}

/// The tree, with a root for each CPU.
pub struct Tree<'a> {
    nodes: &'a mut [Node],
    frames: &'a mut [Frame],
    cpus: &'a mut [TreeCpu],
    free: u32,
    used: u32,
    /// The last place in the order among equals.
    turn: u64,
    /// The time slice of equals in a class of fixed priorities, in nanoseconds.
    slice: u64,
    /// The time that a node of a class of service curves runs at least, in nanoseconds (S4-05).
    quantum: u64,
}

impl<'a> Tree<'a> {
    /// A tree of these nodes, the first of which become the roots of the CPUs. There must be as
    /// many nodes as CPUs, and the time slice and the quantum must not be zero.
    pub fn new(
        nodes: &'a mut [Node],
        frames: &'a mut [Frame],
        cpus: &'a mut [TreeCpu],
        slice: u64,
        quantum: u64,
    ) -> Tree<'a> {
        assert!(nodes.len() >= cpus.len() && slice > 0 && quantum > 0, "the tree has no room");
        let mut tree = Tree { nodes, frames, cpus, free: NIL, used: 0, turn: 0, slice, quantum };
        for index in (0..tree.nodes.len()).rev() {
            tree.nodes[index] = Node::vacant();
            tree.nodes[index].role = node::Role::Vacant(tree.free);
            tree.free = index as u32;
        }
        for cpu in 0..tree.cpus.len() {
            let root = tree.take(node::Role::Class(Policy::FixedPriority));
            tree.nodes[root as usize].cpu = cpu as u16;
            tree.cpus[cpu] = TreeCpu { root, ..TreeCpu::NEW };
        }
        tree
    }

    /// The root of a CPU.
    pub fn root(&self, cpu: usize) -> NodeId {
        NodeId(self.cpus[cpu].root)
    }

    /// How many nodes are in use.
    pub fn used(&self) -> u32 {
        self.used
    }

    /// The CPU time that a node has had, in nanoseconds, up to the last event or decision.
    pub fn service(&self, at: NodeId) -> u64 {
        self.nodes[at.index()].service
    }

    /// What is counted of a leaf's jobs, and how often a node has run out of budget.
    pub fn counts(&self, at: NodeId) -> (Jobs, u32) {
        let node = &self.nodes[at.index()];
        (node.job.jobs, node.server.overruns)
    }

    /// The leaf that a CPU runs.
    pub fn running(&self, cpu: usize) -> Option<NodeId> {
        let running = self.cpus[cpu].running;
        (running != NIL).then_some(NodeId(running))
    }

    /// Whether a thread of this leaf is ready, or a child of this class can be chosen.
    pub fn is_ready(&self, at: NodeId) -> bool {
        self.nodes[at.index()].ready
    }

    /// A node's class.
    pub fn parent(&self, at: NodeId) -> Option<NodeId> {
        let parent = self.nodes.get(at.index())?.parent;
        (parent != NIL).then_some(NodeId(parent))
    }

    /// A node's share, and its budget if it has a limit.
    pub fn parameters(&self, at: NodeId) -> (Share, Option<Budget>, Option<Timing>) {
        let node = &self.nodes[at.index()];
        (node.share, node.server.limits, node.job.timing)
    }

    /// A class's policy; none for a leaf.
    pub fn policy(&self, at: NodeId) -> Option<Policy> {
        self.nodes.get(at.index())?.policy()
    }

    fn take(&mut self, role: node::Role) -> u32 {
        let at = self.free;
        let node = &mut self.nodes[at as usize];
        if let node::Role::Vacant(next) = node.role {
            self.free = next;
        }
        *node = Node { role, slice: self.slice, ..Node::vacant() };
        self.used += 1;
        at
    }

    /// The next place behind all equals.
    #[inline(always)]
    fn next_turn(&mut self) -> u64 {
        self.turn += 1;
        self.turn
    }

    /// The CPU whose tree a node is in.
    #[inline(always)]
    fn cpu_of(&self, at: u32) -> usize {
        let mut root = at;
        while self.nodes[root as usize].parent != NIL {
            root = self.nodes[root as usize].parent;
        }
        usize::from(self.nodes[root as usize].cpu)
    }
}
