//! What the tree keeps of each node.

use super::avl::{Links, NIL, Order};
use super::curve::{Curve, NEVER};
use super::fair::Fair;
use super::job::Job;
use super::promised::Promised;
use super::server::Server;

/// Fixed priorities that a class tells apart (S2C-07).
pub const PRIORITIES: u16 = 512;

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

/// How a class chooses among its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The highest priority; equals take turns, a time slice each.
    FixedPriority,
    /// The earliest deadline.
    EarliestDeadline,
    /// Service curves (S4-04): the earliest deadline of those that must be served, else the least
    /// virtual time.
    ServiceCurves,
    /// Time partitions (S2D-07), whose windows are table `n` of the tree.
    Partitions(u16),
}

/// What a node is among the children of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Its priority, below [`PRIORITIES`]; greater is more urgent.
    Priority(u16),
    /// By the deadline of its job, or of its server's budget.
    Deadline,
    /// By a curve of guaranteed service, and one of shares in what is left.
    Curve {
        /// What is guaranteed; none for a node that has just its share.
        guaranteed: Option<Curve>,
        /// The share, by ratio to those of its siblings.
        share: Curve,
    },
    /// A time partition.
    Partition {
        /// Which one; 0 is the background partition (S2D-08).
        number: u16,
        /// Its priority against the background partition, if it is no class of fixed priorities:
        /// the most urgent of such a class counts.
        priority: u16,
    },
}

impl Share {
    /// The same curve for both purposes, as in S4-01.
    pub const fn curve(curve: Curve) -> Share {
        Share::Curve { guaranteed: Some(curve), share: curve }
    }
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
pub struct Node {
    pub(super) role: Role,
    pub(super) parent: u32,
    pub(super) children: u32,
    pub(super) share: Share,
    pub(super) server: Server,
    pub(super) job: Job,
    pub(super) fair: Fair,
    /// A leaf with a thread that can run, or a class with a child that can be chosen.
    pub(super) ready: bool,
    /// Levels below it, at most.
    pub(super) height: u8,
    /// Of a root: the CPU.
    pub(super) cpu: u16,
    /// Of a class: what its children are promised.
    pub(super) promised: Promised,
    /// Its place in the queue of its class.
    pub(super) place: Links,
    /// What that queue sorts by: less is first.
    pub(super) key: u64,
    /// The order among equal keys.
    pub(super) turn: u64,
    /// What is left of its time slice.
    pub(super) slice: u64,
    /// The queue of a class: its children that can be chosen.
    pub(super) queue: u32,
    /// Its place among the instants to come, and its own.
    pub(super) event: Links,
    pub(super) event_at: u64,
    /// CPU time that it has had, in nanoseconds.
    pub(super) service: u64,
}

impl Node {
    /// A node that is not in use.
    pub const fn vacant() -> Node {
        Node {
            role: Role::Vacant(NIL),
            parent: NIL,
            children: 0,
            share: Share::Priority(0),
            server: Server::NONE,
            job: Job::NONE,
            fair: Fair::NEW,
            ready: false,
            height: 0,
            cpu: 0,
            promised: Promised::NONE,
            place: Links::OUT,
            key: 0,
            turn: 0,
            slice: 0,
            queue: NIL,
            event: Links::OUT,
            event_at: NEVER,
            service: 0,
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
    #[inline(always)]
    fn links(node: &Node) -> &Links {
        &node.place
    }
    #[inline(always)]
    fn links_mut(node: &mut Node) -> &mut Links {
        &mut node.place
    }
    #[inline(always)]
    fn key(node: &Node) -> (u64, u64) {
        (node.key, node.turn)
    }
}

/// The order of instants to come.
pub(super) struct ByEvent;

impl Order<Node> for ByEvent {
    #[inline(always)]
    fn links(node: &Node) -> &Links {
        &node.event
    }
    #[inline(always)]
    fn links_mut(node: &mut Node) -> &mut Links {
        &mut node.event
    }
    #[inline(always)]
    fn key(node: &Node) -> (u64, u64) {
        (node.event_at, 0)
    }
}

/// The order of eligible instants, with the deadlines as values (S4-04).
pub(super) struct ByEligible;

impl Order<Node> for ByEligible {
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
    fn key(node: &Node) -> (u64, u64) {
        (node.fair.eligible_at, 0)
    }
    #[inline(always)]
    fn value(node: &Node) -> u64 {
        node.fair.deadline
    }
}
