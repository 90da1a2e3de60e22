//! Leaves that are lent: a thread that owns what another one waits for runs on that one's leaf,
//! where it is more urgent than its own (S2G-05, S4-07). Whose leaf it is pays for it.
//!
//! Where priorities or deadlines decide between the two ([`Tree::goes_by_urgency`]), the own leaf
//! is ready as well, and is chosen while the lent one cannot be. Elsewhere nothing is ready there
//! meanwhile: it is *physically inactive*. Two approaches say what becomes of its place among
//! service curves:
//!
//! | | own leaf | when the thread comes back |
//! |---|---|---|
//! | [`Inheritance::Leaves`] | sleeps | wakes, as if it had done nothing |
//! | [`Inheritance::Charged`] | *logically active*: charged as well | goes on from where it is |
//!
//! Charged is the share, of the leaf and of each class above it that the lent leaf is not in, and
//! of the guarantee as much as was due, so that it does not come a second time. Budgets are not:
//! those of the lent leaf hold. A class is logically active while anything in it is (S4-07).
//!
//! What is charged twice is lost to the thread that has it, so no third one gets less. And what a
//! leaf cannot use while the lent one waits for its budget, it does not save up: when it comes back
//! it is behind its siblings by no more than one that was ready may be.

use super::avl::{self, NIL};
use super::error::TreeError;
use super::node::{ByKey, Node, NodeId};
use super::{Tree, TreeCpu};
use abi::reservation::{Inheritance, LEVELS, Policy, Share, WHOLE};
use core::cmp::Ordering;

impl Tree<'_> {
    /// How time on lent leaves is charged. No leaf must be lent.
    pub fn set_inheritance(&mut self, inheritance: Inheritance) {
        self.inheritance = inheritance;
    }

    /// Whether one leaf is more urgent than another: [`Tree::compare_urgency`]. O(depth).
    pub fn is_more_urgent(&self, one: NodeId, other: NodeId) -> bool {
        self.compare_urgency(one, other) == Some(Ordering::Greater)
    }

    /// Which of two leaves is more urgent, in the class where they part: it has the higher
    /// priority, the earlier deadline, or the greater share in the long run. `None` where they are
    /// in different time partitions, or below different roots, or are not there. O(depth).
    pub fn compare_urgency(&self, one: NodeId, other: NodeId) -> Option<Ordering> {
        if self.plain(one.0).is_some() || self.plain(other.0).is_some() {
            let [(root, rank), (beside, other)] = [one, other].map(|at| self.rank_below_root(at.0));
            return (root == beside).then(|| other.cmp(&rank));
        }
        if self.node(one).is_none() || self.node(other).is_none() {
            return None;
        }
        if one == other {
            return Some(Ordering::Equal);
        }
        let [class, next] = [one, other].map(|at| self.nodes[at.index()].parent);
        if class == next {
            return self.compare_siblings(one.0, other.0);
        }
        let (one, other) = self.parted(one.0, other.0);
        self.compare_siblings(one, other)
    }

    /// Whether of two leaves the less urgent one is chosen only where the other one cannot be:
    /// priorities or deadlines decide between them. O(depth).
    pub fn goes_by_urgency(&self, one: NodeId, other: NodeId) -> bool {
        if self.plain(one.0).is_some() || self.plain(other.0).is_some() {
            return self.compare_urgency(one, other).is_some();
        }
        if self.node(one).is_none() || self.node(other).is_none() || one == other {
            return false;
        }
        let policy = self.policy_of(self.nodes[self.parted(one.0, other.0).0 as usize].parent);
        matches!(policy, Some(Policy::FixedPriority | Policy::EarliestDeadline))
    }

    /// A leaf is ready for threads alone that run on a lent one while they can, or is so no longer:
    /// budget that is left meanwhile was not kept from it.
    #[cold]
    #[inline(never)]
    pub fn stands_by(&mut self, leaf: NodeId, stands_by: bool, now: u64) {
        if !self.is_leaf(leaf) || self.nodes[leaf.index()].server.stands_by == stands_by {
            return;
        }
        let now = self.account_to(self.cpu_of(leaf.0), now);
        // The periods until now were as before.
        let node = &self.nodes[leaf.index()];
        if node.ready && node.server.is_overdue(now) {
            self.serve(leaf.0, now);
        }
        self.nodes[leaf.index()].server.stands_by = stands_by;
    }

    /// Whether that is so; none where it is not kept.
    pub fn is_stood_by(&self, leaf: NodeId) -> Option<bool> {
        self.node(leaf).map(|node| node.server.stands_by)
    }

    /// Whether a CPU runs this leaf.
    pub fn has_chosen(&self, cpu: usize, leaf: NodeId) -> bool {
        self.cpus.get(cpu).is_some_and(|state| state.running == leaf.0)
    }

    /// Where the ways up from two nodes meet: the children there that they are or are below.
    fn parted(&self, mut one: u32, mut other: u32) -> (u32, u32) {
        let (mut above, mut beyond) = (self.levels_above(one), self.levels_above(other));
        loop {
            let [class, next] = [one, other].map(|at| self.nodes[at as usize].parent);
            if class == next && above == beyond {
                return (one, other);
            }
            if above >= beyond {
                (one, above) = (class, above - 1);
            }
            if beyond > above {
                (other, beyond) = (next, beyond - 1);
            }
        }
    }

    fn compare_siblings(&self, one: u32, other: u32) -> Option<Ordering> {
        let [first, second] = [one, other].map(|at| &self.nodes[at as usize]);
        Some(match self.policy_of(first.parent)? {
            Policy::FixedPriority => first.priority().cmp(&second.priority()),
            Policy::EarliestDeadline => self.deadline_of(other).cmp(&self.deadline_of(one)),
            Policy::ServiceCurves => first.long_share().cmp(&second.long_share()),
            Policy::Partitions => return (one == other).then_some(Ordering::Equal),
        })
    }

    /// The greatest priority of what is ready below the root of a CPU; `None`: nothing is.
    /// O(log n). There must be such a CPU.
    pub fn highest_ready(&self, cpu: usize) -> Option<i16> {
        let priority = u64::from(LEVELS - 1).checked_sub(self.first_rank(cpu)?)?;
        priority.try_into().ok()
    }

    /// The priority below its root of what a CPU runs: 0 if that is in the class that all CPUs
    /// share, or runs where all else is idle; -1: it runs nothing. There must be such a CPU.
    pub fn priority_of_running(&self, cpu: usize) -> i16 {
        match self.cpus[cpu] {
            TreeCpu { running: NIL, .. } => -1,
            TreeCpu { running, behind: NIL, .. } => self.priority_below_root(NodeId(running)),
            _ => 0,
        }
    }

    /// The priority of a leaf, or of the class that it is in, below the root of its CPU: 0 if that
    /// has another policy, or if there is no such node. O(depth).
    pub fn priority_below_root(&self, NodeId(mut at): NodeId) -> i16 {
        if let Some((_, priority)) = self.plain(at) {
            return priority as i16;
        }
        let mut priority = 0;
        while let Some(node) = self.nodes.get(at as usize).filter(|node| node.parent != NIL) {
            let ranks = self.policy_of(node.parent) == Some(Policy::FixedPriority);
            priority = if ranks { node.priority() } else { 0 };
            at = node.parent;
        }
        priority.try_into().unwrap_or(i16::MAX)
    }

    /// How many classes a node is below, the root included. O(depth).
    pub fn depth_of(&self, NodeId(at): NodeId) -> u8 {
        if self.plain(at).is_some() { 1 } else { self.levels_above(at) }
    }

    fn levels_above(&self, mut at: u32) -> u8 {
        let mut levels = 0;
        while let Some(node) = self.nodes.get(at as usize).filter(|node| node.parent != NIL) {
            (at, levels) = (node.parent, levels + 1);
        }
        levels
    }

    /// A thread of this leaf uses another one from now on. If it is ready here it blocks behind
    /// this: so this leaf stays logically active, with all classes above it.
    ///
    /// # Errors
    /// [`TreeError::NoSuchNode`]: it is no leaf.
    pub fn lend(&mut self, own: NodeId, now: u64) -> Result<(), TreeError> {
        if self.plain(own.0).is_some() {
            return Ok(());
        }
        if !self.is_leaf(own) {
            return Err(TreeError::NoSuchNode);
        }
        if self.inheritance == Inheritance::Charged {
            self.account_to(self.cpu_of(own.0), now);
            self.count_lent(own.0, 1, 0);
        }
        Ok(())
    }

    /// It does so no longer. If it is ready on this leaf again, that was to be told before: else
    /// the leaf sleeps from now on.
    ///
    /// # Errors
    /// [`TreeError::NoSuchNode`]: it is no leaf, or has no such thread.
    pub fn take_back(&mut self, own: NodeId, now: u64) -> Result<(), TreeError> {
        if self.plain(own.0).is_some() {
            return Ok(());
        }
        if !self.is_leaf(own) {
            return Err(TreeError::NoSuchNode);
        }
        if self.inheritance == Inheritance::Charged {
            if self.nodes[own.index()].fair.lent == 0 {
                return Err(TreeError::NoSuchNode);
            }
            let cpu = self.cpu_of(own.0);
            self.account_to(cpu, now);
            if self.cpus[cpu].helped == own.0 {
                self.cpus[cpu].helped = NIL;
            }
            self.count_lent(own.0, 0, 1);
        }
        Ok(())
    }

    /// What a CPU runs from now on, until its next decision at most, is a thread of this leaf on a
    /// lent one; `None`, or a leaf of another CPU: one that runs on its own. Told behind each
    /// decision while leaves are lent.
    pub fn charge_too(&mut self, cpu: usize, own: Option<NodeId>) {
        let is_lent = |own: &NodeId| self.node(*own).is_some_and(|node| node.fair.lent > 0);
        let own = own.filter(|own| is_lent(own) && self.cpu_of(own.0) == cpu);
        if let Some(state) = self.cpus.get_mut(cpu) {
            state.helped = own.map_or(NIL, |own| own.0);
        }
    }

    /// So many threads in a node run on lent leaves more, and so many less.
    fn count_lent(&mut self, mut at: u32, more: u32, less: u32) {
        while let Some(node) = self.nodes.get_mut(at as usize) {
            node.fair.lent = (node.fair.lent + more).saturating_sub(less);
            if node.fair.lent == 0 && !node.is_queued() {
                node.fair.is_active = false;
            }
            at = node.parent;
        }
    }

    /// A node comes to a class, or goes from one, with its threads that run on lent leaves.
    pub(super) fn move_lent(&mut self, at: u32, from: u32, to: u32) {
        let lent = self.nodes[at as usize].fair.lent;
        if lent > 0 {
            self.count_lent(from, 0, lent);
            self.count_lent(to, lent, 0);
        }
        // Its CPU learns with its next decision whose leaf is charged too.
        let is_in = |state: &TreeCpu| self.is_in(state.helped, at);
        if let Some(cpu) = self.cpus.iter().position(is_in) {
            self.cpus[cpu].helped = NIL;
        }
    }

    /// Whether a node is another one, or is in it.
    pub(super) fn is_in(&self, mut at: u32, class: u32) -> bool {
        while at != class && at != NIL {
            at = self.nodes.get(at as usize).map_or(NIL, |node| node.parent);
        }
        at == class && at != NIL
    }

    /// What a leaf has run is charged to that of the thread as well, unless both are the same. The
    /// classes above it are not charged: others in them have not had that time.
    #[cold]
    #[inline(never)]
    pub(super) fn charge_helped(&mut self, helped: u32, leaf: u32, time: u64, now: u64) {
        let class = self.nodes[helped as usize].parent;
        if helped == leaf || self.policy_of(class) != Some(Policy::ServiceCurves) {
            return;
        }
        self.charge_curves(helped, class, (time, 0), now);
        let node = &self.nodes[helped as usize];
        let (reached, waits) = (node.fair.virtual_time, !node.is_queued());
        let above = &mut self.nodes[class as usize].fair.above;
        if waits && *above < reached {
            *above = reached;
        }
    }

    /// Where a child of a class of service curves stands at least that was logically active all the
    /// time: behind the first of its siblings by what that can have got ahead in a quantum, and so
    /// behind the last one if its guarantee has not brought that further; where none is ready,
    /// behind those that were. A first one of a tiny share alone would bound nothing.
    pub(super) fn kept_up(&self, class: u32) -> u128 {
        let queue = self.nodes[class as usize].queue;
        if queue == NIL {
            return self.nodes[class as usize].fair.beside;
        }
        let first = &self.nodes[avl::first::<Node, ByKey>(self.nodes, queue) as usize];
        let last = &self.nodes[avl::last::<Node, ByKey>(self.nodes, queue) as usize];
        let [behind_first, behind_last] =
            [first, last].map(|node| node.key.saturating_sub(self.quantum_of(node).into()));
        if behind_last <= first.key { behind_first.max(behind_last) } else { behind_first }
    }

    /// The virtual time by which a quantum brings a child of a class of service curves ahead, where
    /// its share is least.
    pub(super) fn quantum_of(&self, node: &Node) -> u64 {
        let Share::Curve { share, .. } = node.share else { return 0 };
        let slope = if share.slope == 0 { share.rest } else { share.slope.min(share.rest) };
        (self.quantum.saturating_mul(WHOLE.into())).div_ceil(slope.max(1).into())
    }
}

impl Node {
    /// Its share among service curves in the long run.
    fn long_share(&self) -> u32 {
        match self.share {
            Share::Curve { share, .. } => share.rest,
            _ => 0,
        }
    }
}
