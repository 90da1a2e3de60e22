//! The scheduling tree: who runs on a CPU, and until when.
//!
//! Inner nodes are *classes*, each with a [`Policy`] of its own; leaves are *reservations*, which
//! threads use. Each node but a root has a [`Share`] among its siblings and may have a server,
//! which bounds what it gets ([`Budget`]). Each CPU has a root, a class of fixed priorities. One
//! more root is shared by all CPUs: a class of earliest deadlines, each child of which is run by
//! one CPU at a time, by any that has nothing more urgent to do (global EDF).
//!
//! The tree is told what happens ([`Tree::wake`], [`Tree::block`], [`Tree::rotate`]) and asked
//! whom to run ([`Tree::pick`]). It reads no clock: each of these takes the instant.
//!
//! | file | what |
//! |---|---|
//! | `node.rs` | nodes and their parameters |
//! | `change.rs` | making, changing, moving and removing nodes |
//! | `run.rs` | waking, blocking, charging |
//! | `untold.rs` | telling it all to the levels above, in steps |
//! | `instant.rs` | instants to come, and which of them matter |
//! | `pick.rs` | the decision |
//! | `owed.rs` | who pays for the kernel's time |
//! | `plain.rs` | the leaves of threads without a reservation |
//! | `shared.rs` | the class that all CPUs share |
//! | `server.rs`, `replenish.rs` | budgets; those of sporadic servers |
//! | `job.rs`, `fair.rs`, `frame.rs` | deadlines; service curves; windows |
//! | `background.rs` | what has run out of time runs on where a CPU would idle |
//! | `lent.rs` | leaves lent to threads of others |
//! | `levels.rs` | since when all that runs is above a priority |
//! | `notice.rs` | what monitors are told of |
//! | `admit.rs`, `promised.rs` | admission |
//! | `freed.rs` | bandwidth that is promised no more, and was used ahead |
//! | `chaos.rs` | decisions by chance, for tests |
//! | `avl.rs`, `curve.rs` | sorted sets; curves in integers |
//!
//! With `n` children a class's queue takes O(log n) steps, and an event or a decision passes each
//! level once: O(depth log n). A decision is taken in steps ([`Tree::step`]), each of which charges
//! what ran, serves one instant, or decides.

mod admit;
pub mod avl;
mod background;
mod change;
mod chaos;
#[cfg(test)]
mod check;
pub mod curve;
mod error;
mod fair;
mod frame;
mod freed;
mod instant;
mod job;
mod lent;
mod levels;
mod node;
mod notice;
mod owed;
mod pick;
mod plain;
mod preempt;
mod promised;
mod replenish;
mod run;
mod server;
mod shared;
#[cfg(test)]
mod tests;
mod untold;
mod windows;

pub use abi::reservation::{
    Budget, Curve, Inheritance, Job, Jobs, LEVELS, Policy, Server, Share, Timing, WHOLE, WINDOWS,
    Window,
};
pub use background::Fallback;
pub use curve::NEVER;
pub use error::TreeError;
pub use frame::{Frame, PARTITIONS};
pub use node::{Node, NodeId, NodeState};
pub use notice::Events;
pub use pick::{Pick, Step};
pub use plain::PlainLeaf;
pub use promised::BENDS;
pub use replenish::REPLENISHMENTS;

use avl::NIL;
use levels::Levels;
use plain::Plain;
use untold::Debt;

/// Levels of the tree, the root's included.
pub const DEPTH: u8 = 8;

/// What the tree keeps of a CPU.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub struct TreeCpu {
    root: u32,
    /// The leaf that runs, or none.
    running: u32,
    /// Since when its time is not charged.
    since: u64,
    /// When that leaf was chosen.
    began: u64,
    /// The leaves of which a miss is to be seen.
    misses: u32,
    /// Nodes with a notice.
    notices: u32,
    /// When its next decision is due, as far as it was told.
    until: u64,
    /// For which node the kernel works there since it was charged last, if not for what runs.
    payer: u32,
    /// What runs waits for budget, or something above it does.
    has_ended: bool,
    /// The child of the shared class that it runs: no other CPU chooses that before this one has
    /// decided again.
    taken: u32,
    /// Whether it is to decide again for the shared class.
    asked: shared::Asked,
    /// The nodes of the background that are ready.
    background: u32,
    /// The one of them that runs, or in which `running` does; none: a CPU runs by its tree.
    behind: u32,
    /// The leaf that what runs is charged to as well, or none.
    helped: u32,
    /// The leaves of threads without a reservation that are ready.
    plain: Plain,
    /// Whether nothing was there to be run when it decided last.
    idles: bool,
    /// How urgent what it has run was.
    levels: Levels,
    /// For how long it has run that leaf, of which no level is charged.
    ran: u64,
    /// What it has run before, charged to some levels.
    debt: Debt,
    /// The first and the last node of which its class was not told.
    untold: [u32; 2],
    /// How many leaves, or budgets, have changed of those.
    changes: u32,
    /// The most urgent rank below its root that one of them may have made ready.
    first_untold: u64,
    /// The last leaf that was told.
    telling: u32,
    /// Whether its decision has begun.
    decides: bool,
    /// Whether a call of what runs changes something, and a decision follows.
    calls: bool,
}

impl TreeCpu {
    /// A CPU without a root.
    pub const NEW: TreeCpu = TreeCpu {
        root: NIL,
        running: NIL,
        since: 0,
        began: 0,
        misses: NIL,
        notices: NIL,
        until: NEVER,
        payer: NIL,
        has_ended: false,
        taken: NIL,
        asked: shared::Asked::No,
        background: NIL,
        behind: NIL,
        helped: NIL,
        plain: Plain::NEW,
        idles: true,
        levels: Levels::NEW,
        ran: 0,
        debt: Debt::NONE,
        untold: [NIL; 2],
        changes: 0,
        first_untold: NEVER,
        telling: NIL,
        decides: false,
        calls: false,
    };
}

/// The tree, with a root for each CPU.
pub struct Tree<'a> {
    nodes: &'a mut [Node],
    frames: &'a mut [Frame],
    /// The CPUs. The last one stands for the shared class and runs nothing.
    cpus: &'a mut [TreeCpu],
    /// The leaves of threads without a reservation, of one CPU behind the other.
    plain: &'a mut [PlainLeaf],
    free: u32,
    /// Frames that no class has.
    free_frame: u32,
    /// The last place in the order among equals.
    sequence: u64,
    /// The state of decisions by chance; 0: the policies decide.
    chaos: u64,
    /// Whether what happens is told in steps.
    in_steps: bool,
    /// How time on lent leaves is charged.
    inheritance: Inheritance,
    /// The time slice of equals in a class of fixed priorities, in nanoseconds.
    slice: u64,
    /// The time that a node of a class of service curves runs at least, in nanoseconds (S4-05).
    quantum: u64,
}

impl<'a> Tree<'a> {
    /// A tree of these nodes, the first of which become the roots of the CPUs and the class that
    /// they share. So `cpus` has one more than there are CPUs. There must be a node for each, and
    /// the time slice and the quantum must not be zero.
    pub fn new(
        nodes: &'a mut [Node],
        frames: &'a mut [Frame],
        cpus: &'a mut [TreeCpu],
        slice: u64,
        quantum: u64,
    ) -> Tree<'a> {
        let has_room = cpus.len() > 1 && nodes.len() >= cpus.len();
        assert!(has_room && slice > 0 && quantum > 0, "the tree has no room");
        let mut tree = Tree {
            nodes,
            frames,
            cpus,
            plain: &mut [],
            free: NIL,
            free_frame: NIL,
            sequence: 0,
            chaos: 0,
            in_steps: false,
            inheritance: Inheritance::Charged,
            slice,
            quantum,
        };
        for index in (0..tree.nodes.len()).rev() {
            tree.nodes[index] = Node::vacant();
            tree.nodes[index].role = node::Role::Vacant(tree.free);
            tree.free = index as u32;
        }
        for (index, frame) in tree.frames.iter_mut().enumerate().rev() {
            *frame = Frame::free(tree.free_frame);
            tree.free_frame = index as u32;
        }
        for cpu in 0..tree.cpus.len() {
            let policy = match cpu == tree.shared_cpu() {
                true => Policy::EarliestDeadline,
                false => Policy::FixedPriority,
            };
            let root = tree.take(node::Role::Class(policy));
            tree.nodes[root as usize].cpu = cpu as u16;
            tree.cpus[cpu] = TreeCpu { root, ..TreeCpu::NEW };
        }
        tree
    }

    /// The root of a CPU. There must be such a CPU.
    pub fn root(&self, cpu: usize) -> NodeId {
        NodeId(self.cpus[cpu].root)
    }

    /// The class that all CPUs share. Its priority ([`Tree::set_share`]) is that of its children on
    /// each CPU; of equals it goes first.
    pub fn shared(&self) -> NodeId {
        NodeId(self.cpus[self.shared_cpu()].root)
    }

    /// The CPU time that a node has had, in nanoseconds, up to the last event or decision; 0 if
    /// there is no such node.
    pub fn service(&self, at: NodeId) -> u64 {
        match self.plain(at.0) {
            Some(plain) => self.service_of_plain(plain),
            None => self.node(at).map_or(0, |node| node.service),
        }
    }

    /// Whether a thread of this leaf is ready, or a child of this class can be chosen.
    pub fn is_ready(&self, at: NodeId) -> bool {
        match self.plain(at.0) {
            Some((cpu, priority)) => self.cpus[cpu].plain.is_ready(priority),
            None => self.node(at).is_some_and(|node| node.ready),
        }
    }

    /// A class's policy; none for a leaf, or if there is no such node.
    pub fn policy(&self, at: NodeId) -> Option<Policy> {
        self.policy_of(at.0)
    }

    /// What there is to know of a node; none if there is no such node.
    pub fn inspect(&self, at: NodeId) -> Option<NodeState> {
        let node = self.node(at)?;
        Some(NodeState {
            parent: (node.parent != NIL).then_some(NodeId(node.parent)),
            policy: node.policy(),
            share: node.share,
            budget: node.server.limits,
            timing: node.job.timing,
            is_ready: node.ready,
            is_throttled: node.ready && node.server.is_throttled,
            service: node.service,
            jobs: node.job.counted(self.cpus[self.cpu_of(at.0)].since),
            overruns: node.server.overruns,
        })
    }

    /// What was left of a node's budgets when their periods ended, in nanoseconds, while something
    /// inside was ready (S2B-12): of a periodic server alone, whose budget then idles away, up to
    /// the CPU's last decision about it. None if there is no such node.
    pub fn unserved(&self, at: NodeId) -> Option<u64> {
        self.node(at).map(|node| node.server.unserved)
    }

    /// The job of a leaf that is open, or else its last one; none if there is no such leaf.
    pub fn job(&self, at: NodeId, now: u64) -> Option<Job> {
        self.is_leaf(at).then(|| self.nodes[at.index()].job.latest(now))
    }

    /// A node that exists.
    #[inline(always)]
    fn node(&self, at: NodeId) -> Option<&Node> {
        let node = self.nodes.get(at.index())?;
        (!matches!(node.role, node::Role::Vacant(_))).then_some(node)
    }

    /// Whether this is a leaf that exists.
    #[inline(always)]
    fn is_leaf(&self, at: NodeId) -> bool {
        self.node(at).is_some_and(|node| node.role == node::Role::Leaf)
    }

    fn take(&mut self, role: node::Role) -> u32 {
        let at = self.free;
        let node = &mut self.nodes[at as usize];
        if let node::Role::Vacant(next) = node.role {
            self.free = next;
        }
        *node = Node { role, slice: self.slice, ..Node::vacant() };
        at
    }

    /// The next place behind all equals.
    #[inline(always)]
    fn next_place(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// The root that a node is below, and the child of it that the node is, or is below.
    #[inline(always)]
    fn top(&self, mut at: u32) -> (u32, u32) {
        let mut below = at;
        while let Some(node) = self.nodes.get(at as usize).filter(|node| node.parent != NIL) {
            (below, at) = (at, node.parent);
        }
        (at, below)
    }

    /// The root that a leaf or a node is below, and its rank there, or that of the class that it is
    /// in: less is more urgent.
    #[inline(always)]
    fn rank_below_root(&self, at: u32) -> (u32, u64) {
        match self.plain(at) {
            Some((cpu, priority)) => (self.cpus[cpu].root, plain::rank(priority)),
            None => {
                let (root, top) = self.top(at);
                (root, self.nodes.get(top as usize).map_or(NEVER, Node::rank))
            }
        }
    }

    /// The CPU whose root this is; none for the shared class and all that is no root.
    fn cpu_with_root(&self, at: u32) -> Option<usize> {
        self.cpus[..self.shared_cpu()].iter().position(|cpu| cpu.root == at)
    }

    /// The CPU whose root a node is below; of the shared class the one that stands for it.
    #[inline(always)]
    fn home_of(&self, at: u32) -> usize {
        usize::from(self.nodes[self.top(at).0 as usize].cpu)
    }

    /// The CPU that runs what a node is in, if any does: below the shared class the one that has
    /// taken it, or the one that stands for the class.
    #[inline(always)]
    fn cpu_of(&self, at: u32) -> usize {
        let (root, top) = self.top(at);
        let cpu = usize::from(self.nodes[root as usize].cpu);
        if cpu == self.shared_cpu() { self.taker(top).unwrap_or(cpu) } else { cpu }
    }
}
