//! What the tree keeps of each node.

use super::DEPTH;
use super::avl::{Links, NIL, Order};
use super::background::Behind;
use super::curve::NEVER;
use super::fair::Fair;
use super::freed::Ahead;
use super::job::Job;
use super::notice::Watch;
use super::plain::rank;
use super::promised::Promised;
use super::server::Supply;
use abi::reservation::{Budget, Jobs, LEVELS, Policy, Share, Timing};

/// In place of a CPU: none.
pub(super) const NOWHERE: u16 = u16::MAX;

/// A node of the tree, by its place among all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Its place as an index.
    #[inline(always)]
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What there is to know of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeState {
    /// Its class; none for a root.
    pub parent: Option<NodeId>,
    /// How it chooses among its children; none for a leaf.
    pub policy: Option<Policy>,
    /// What it is among its siblings.
    pub share: Share,
    /// Its limit, if it has one.
    pub budget: Option<Budget>,
    /// What the jobs of a leaf are like, if they have deadlines.
    pub timing: Option<Timing>,
    /// Whether a thread of this leaf is ready, or a child of this class can be chosen: in time
    /// partitions by the window in which that was looked at last.
    pub is_ready: bool,
    /// Whether it is ready and waits for budget.
    pub is_throttled: bool,
    /// CPU time that it has had, in nanoseconds, up to the last event or decision.
    pub service: u64,
    /// What is counted of a leaf's jobs.
    pub jobs: Jobs,
    /// How often its budget was exhausted.
    pub overruns: u32,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Not in use: the next one that is not.
    Vacant(u32),
    /// An inner node.
    Class(Policy),
    /// The right to CPU time that threads use.
    Leaf,
}

/// A node.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Node {
    pub(super) role: Role,
    pub(super) parent: u32,
    pub(super) share: Share,
    pub(super) server: Supply,
    pub(super) job: Job,
    pub(super) fair: Fair,
    /// A leaf with a thread that can run, or a class with a child that can be chosen.
    pub(super) ready: bool,
    /// When anything in it was blocked or changed last.
    pub(super) stirred: u64,
    /// Of a class of time partitions: its frame, by its place among all frames.
    pub(super) frame: u32,
    /// How many of its children have 0, 1, ... levels below them.
    pub(super) heights: [u32; DEPTH as usize - 1],
    /// Of a root: the CPU. Of a child of the shared class: the CPU that has taken it.
    pub(super) cpu: u16,
    /// Of a class: what its children are promised.
    pub(super) promised: Promised,
    /// Its place in the queue of its class.
    pub(super) place: Links,
    /// What that queue sorts by: less is first.
    pub(super) key: u128,
    /// The order among equal keys.
    pub(super) sequence: u64,
    /// What is left of its time slice.
    pub(super) slice: u64,
    /// The queue of a class: its children that can be chosen.
    pub(super) queue: u32,
    /// When it can be chosen again, or something in it can, and its place among its siblings'
    /// instants.
    pub(super) event_at: u64,
    pub(super) event: Links,
    /// Of a class: the instants of its children.
    pub(super) events: u32,
    /// When a miss of its job is to be seen, how urgent that is, and its place among those of the
    /// CPU.
    pub(super) miss_at: u64,
    pub(super) miss_level: u16,
    pub(super) miss: Links,
    /// CPU time that it has had, in nanoseconds.
    pub(super) service: u64,
    /// What it can have used ahead of its promise, in a class of earliest deadlines.
    pub(super) ahead: Ahead,
    /// Time that the kernel has taken for it, and for what is in it: charged to it with what runs
    /// there next.
    pub(super) owed: u64,
    /// What a monitor is told of it.
    pub(super) watch: Watch,
    /// Its part in the background.
    pub(super) behind: Behind,
}

impl Node {
    /// A node that is not in use.
    pub const fn vacant() -> Node {
        Node {
            role: Role::Vacant(NIL),
            parent: NIL,
            share: Share::Priority(0),
            server: Supply::NONE,
            job: Job::NONE,
            fair: Fair::NEW,
            ready: false,
            stirred: 0,
            frame: NIL,
            heights: [0; DEPTH as usize - 1],
            cpu: NOWHERE,
            promised: Promised::NONE,
            place: Links::OUT,
            key: 0,
            sequence: 0,
            slice: 0,
            queue: NIL,
            event_at: NEVER,
            event: Links::OUT,
            events: NIL,
            miss_at: NEVER,
            miss_level: 0,
            miss: Links::OUT,
            service: 0,
            ahead: Ahead::NONE,
            owed: 0,
            watch: Watch::NONE,
            behind: Behind::NONE,
        }
    }

    /// Levels below it, at most.
    pub(super) fn height(&self) -> u8 {
        let highest = self.heights.iter().rposition(|count| *count > 0);
        highest.map_or(0, |height| height as u8 + 1)
    }

    /// How many children it has.
    pub(super) fn children(&self) -> u32 {
        self.heights.iter().sum()
    }

    /// A child with so many levels below it came, went, or has more or fewer levels.
    pub(super) fn count_child(&mut self, old: Option<u8>, new: Option<u8>) {
        if let Some(count) = old.and_then(|old| self.heights.get_mut(usize::from(old))) {
            *count -= 1;
        }
        if let Some(count) = new.and_then(|new| self.heights.get_mut(usize::from(new))) {
            *count += 1;
        }
    }

    /// Whether it stands in its class's queue.
    #[inline(always)]
    pub(super) fn is_queued(&self) -> bool {
        self.place.is_in()
    }

    /// Its policy, if it is a class.
    #[inline(always)]
    pub(super) fn policy(&self) -> Option<Policy> {
        match self.role {
            Role::Class(policy) => Some(policy),
            _ => None,
        }
    }

    /// Whether it is a leaf whose share of what is left is what it is guaranteed (S4-01).
    pub(super) fn is_leaf_of_one_curve(&self) -> bool {
        let Share::Curve { guaranteed, share } = self.share else { return false };
        self.policy().is_none() && guaranteed == Some(share)
    }

    /// Its place among siblings of fixed priorities: less is more urgent.
    #[inline(always)]
    pub(super) fn rank(&self) -> u64 {
        u64::from((LEVELS - 1).saturating_sub(self.priority()))
    }

    /// Its priority among its siblings, or the lowest.
    #[inline(always)]
    pub(super) fn priority(&self) -> u16 {
        match self.share {
            Share::Priority(priority) | Share::Partition { priority, .. } => priority,
            _ => 0,
        }
    }
}

/// The order in a class's queue.
pub(super) struct ByKey;

impl Order<Node> for ByKey {
    type Key = u128;
    #[inline(always)]
    fn links(node: &Node) -> &Links {
        &node.place
    }
    #[inline(always)]
    fn links_mut(node: &mut Node) -> &mut Links {
        &mut node.place
    }
    #[inline(always)]
    fn key(node: &Node) -> u128 {
        node.key
    }
    #[inline(always)]
    fn rank(node: &Node) -> u64 {
        node.sequence
    }
}

/// The order of children's instants.
pub(super) struct ByEvent;

impl Order<Node> for ByEvent {
    type Key = u64;
    #[inline(always)]
    fn links(node: &Node) -> &Links {
        &node.event
    }
    #[inline(always)]
    fn links_mut(node: &mut Node) -> &mut Links {
        &mut node.event
    }
    #[inline(always)]
    fn key(node: &Node) -> u64 {
        node.event_at
    }
}

/// The order of children by urgency in a class of fixed priorities, with their instants as values.
pub(super) struct ByUrgency;

impl Order<Node> for ByUrgency {
    type Key = u64;
    const VALUED: bool = true;
    #[inline(always)]
    fn links(node: &Node) -> &Links {
        &node.event
    }
    #[inline(always)]
    fn links_mut(node: &mut Node) -> &mut Links {
        &mut node.event
    }
    #[inline(always)]
    fn key(node: &Node) -> u64 {
        node.rank()
    }
    #[inline(always)]
    fn value(node: &Node) -> u64 {
        node.event_at
    }
}

/// The order of misses by urgency, with their instants as values.
pub(super) struct ByMiss;

impl Order<Node> for ByMiss {
    type Key = u64;
    const VALUED: bool = true;
    #[inline(always)]
    fn links(node: &Node) -> &Links {
        &node.miss
    }
    #[inline(always)]
    fn links_mut(node: &mut Node) -> &mut Links {
        &mut node.miss
    }
    #[inline(always)]
    fn key(node: &Node) -> u64 {
        rank(node.miss_level.into())
    }
    #[inline(always)]
    fn value(node: &Node) -> u64 {
        node.miss_at
    }
}

/// The order of eligible instants, with the deadlines as values (S4-04).
pub(super) struct ByEligible;

impl Order<Node> for ByEligible {
    type Key = u64;
    const VALUED: bool = true;
    #[inline(always)]
    fn links(node: &Node) -> &Links {
        &node.fair.eligible
    }
    #[inline(always)]
    fn links_mut(node: &mut Node) -> &mut Links {
        &mut node.fair.eligible
    }
    #[inline(always)]
    fn key(node: &Node) -> u64 {
        node.fair.eligible_at
    }
    #[inline(always)]
    fn value(node: &Node) -> u64 {
        node.fair.deadline
    }
}
