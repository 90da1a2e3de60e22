//! Notices: a node that is watched has missed a deadline, or has used up its budget.
//!
//! A node has one notice at most that was not taken; what happens again before joins it. So notices
//! need no memory of their own, and none is lost.

use super::avl::{self, Links, NIL, Order};
use super::error::TreeError;
use super::node::Node;
use super::{NodeId, Tree};

/// What happened to a node since its last notice was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// A job did not end by its deadline.
    pub missed: bool,
    /// The budget was used up.
    pub overran: bool,
}

/// What is watched of a node, and what was seen.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Watch {
    /// What is asked for.
    pub(super) wanted: Events,
    /// How urgent a miss is, as a priority below the root; 0 if it is told to none.
    pub(super) level: u16,
    /// What has happened since the last notice.
    seen: Events,
    /// Overruns that were seen.
    overruns: u32,
    /// Its place among the nodes with a notice.
    place: Links,
    /// The order in which they came.
    sequence: u64,
}

impl Watch {
    /// Nothing is watched.
    pub(super) const NONE: Watch = Watch {
        wanted: Events { missed: false, overran: false },
        level: 0,
        seen: Events { missed: false, overran: false },
        overruns: 0,
        place: Links::OUT,
        sequence: 0,
    };

    /// Whether there is a notice.
    #[cfg(test)]
    pub(super) fn has_seen(&self) -> bool {
        self.seen != Events::default()
    }
}

/// The order of notices: first come, first taken.
pub(super) struct ByNotice;

impl Order<Node> for ByNotice {
    type Key = u64;
    #[inline(always)]
    fn links(node: &Node) -> &Links {
        &node.watch.place
    }
    #[inline(always)]
    fn links_mut(node: &mut Node) -> &mut Links {
        &mut node.watch.place
    }
    #[inline(always)]
    fn key(node: &Node) -> u64 {
        node.watch.sequence
    }
}

impl Tree<'_> {
    /// Watches a node from now on, for nothing if both are false. Notices that were not taken are
    /// gone. A miss is seen at the deadline, if the job has not ended, while its CPU runs nothing
    /// above this level ([`Tree::level_of_watch`]).
    ///
    /// # Errors
    /// [`TreeError::NoSuchNode`], also for a root.
    pub fn watch(
        &mut self,
        at: NodeId,
        wanted: Events,
        level: u16,
        now: u64,
    ) -> Result<(), TreeError> {
        self.check_inner(at)?;
        self.account_to(self.cpu_of(at.0), now);
        self.forget(at.0);
        let node = &mut self.nodes[at.index()];
        let has_jobs = node.policy().is_none();
        let level = if wanted.missed && has_jobs { level } else { 0 };
        node.watch = Watch { wanted, level, overruns: node.server.overruns, ..Watch::NONE };
        node.job.watch(wanted.missed || node.behind.wanted.miss, now);
        self.plan(at.0);
        Ok(())
    }

    /// How urgent misses of a leaf are that this CPU watches: as what it runs, if the leaf is its
    /// own, and no less than the leaf, or the class below the root that it is in. O(depth).
    pub fn level_of_watch(&self, at: NodeId, cpu: usize) -> u16 {
        let is_own = self.node(at).is_some() && self.home_of(at.0) == cpu;
        let runs = if is_own { self.priority_of_running(cpu) } else { 0 };
        runs.max(self.priority_below_root(at)).try_into().unwrap_or(0)
    }

    /// Takes the oldest notice.
    pub fn take_notice(&mut self) -> Option<(NodeId, Events)> {
        let first = avl::first::<Node, ByNotice>(self.nodes, self.notices);
        let seen = self.nodes.get(first as usize)?.watch.seen;
        self.forget(first);
        Some((NodeId(first), seen))
    }

    /// Whether there are notices that were not taken.
    #[inline(always)]
    pub fn has_notices(&self) -> bool {
        self.notices != NIL
    }

    /// A node has no notice any more.
    pub(super) fn forget(&mut self, at: u32) {
        self.nodes[at as usize].watch.seen = Events::default();
        if self.nodes[at as usize].watch.place.is_in() {
            self.notices = avl::remove::<Node, ByNotice>(self.nodes, self.notices, at);
        }
    }

    /// A job of a node has missed its deadline, for its monitor, if it has one.
    pub(super) fn notice_miss(&mut self, at: u32) {
        if self.nodes[at as usize].watch.wanted.missed {
            self.nodes[at as usize].watch.seen.missed = true;
            self.notice(at);
        }
    }

    /// A node's budget may have been used up.
    pub(super) fn notice_overrun(&mut self, at: u32) {
        let node = &mut self.nodes[at as usize];
        let before = core::mem::replace(&mut node.watch.overruns, node.server.overruns);
        if node.watch.wanted.overran && before != node.server.overruns {
            node.watch.seen.overran = true;
            self.notice(at);
        }
    }

    fn notice(&mut self, at: u32) {
        if !self.nodes[at as usize].watch.place.is_in() {
            self.nodes[at as usize].watch.sequence = self.next_place();
            self.notices = avl::insert::<Node, ByNotice>(self.nodes, self.notices, at);
        }
    }
}
