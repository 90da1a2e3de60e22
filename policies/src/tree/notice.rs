//! Notices: a node that is watched has missed a deadline, or has used up its budget.
//!
//! A node has one notice at most that was not taken; what happens again before joins it. So notices
//! need no memory of their own, and none is lost.
//!
//! A notice is as urgent as the miss that it tells of, and no less than its node. A CPU tells those
//! of its own nodes, and of the class that all share, while it runs nothing more urgent.

use super::avl::{self, Links, NIL, Order};
use super::curve::NEVER;
use super::error::TreeError;
use super::node::Node;
use super::plain::rank;
use super::{NodeId, Tree, TreeCpu};

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
    /// How urgent its notice is, as a rank below the root.
    rank: u64,
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
        rank: NEVER,
        sequence: 0,
    };

    /// Whether there is a notice.
    #[cfg(test)]
    pub(super) fn has_seen(&self) -> bool {
        self.seen != Events::default()
    }
}

/// The order of notices: by urgency, of equals first come, first taken.
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
        node.watch.rank
    }
    #[inline(always)]
    fn rank(node: &Node) -> u64 {
        node.watch.sequence
    }
}

impl Tree<'_> {
    /// Watches a node from now on, for nothing if both are false. Notices that were not taken are
    /// gone. A miss is seen at the deadline, if the job has not ended, while its CPU runs nothing
    /// above this level ([`Tree::level_of_watch`]), or the leaf itself.
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
        self.sees_miss(at.0, now);
        self.forget(at.0);
        let node = &mut self.nodes[at.index()];
        let has_jobs = node.policy().is_none();
        let level = if wanted.missed && has_jobs { level } else { 0 };
        node.watch = Watch { wanted, level, overruns: node.server.overruns, ..Watch::NONE };
        node.job.watch(wanted.missed || node.behind.wanted.miss, now);
        self.plan(at.0);
        Ok(())
    }

    /// How urgent misses of a leaf are that somebody with a leaf of its own watches: as that leaf,
    /// if both are of one CPU, and no less than the one that is watched. O(depth).
    pub fn level_of_watch(&self, at: NodeId, by: NodeId) -> u16 {
        let [root, other] = [at, by].map(|at| self.rank_below_root(at.0).0);
        let own = if root == other { self.priority_below_root(by) } else { 0 };
        own.max(self.priority_below_root(at)).try_into().unwrap_or(0)
    }

    /// Takes the most urgent notice that a CPU is to tell now.
    pub fn take_notice(&mut self, cpu: usize) -> Option<(NodeId, Events)> {
        let first = self.first_notice(cpu)?;
        let seen = self.nodes[first as usize].watch.seen;
        self.forget(first);
        Some((NodeId(first), seen))
    }

    /// Whether a CPU is to tell a notice now: one that is no less urgent than what it runs.
    #[inline(always)]
    pub fn has_notice(&self, cpu: usize) -> bool {
        let any = |cpu: usize| self.cpus[cpu].notices != NIL;
        (any(cpu) || any(self.shared_cpu())) && self.first_notice(cpu).is_some()
    }

    #[cold]
    fn first_notice(&self, cpu: usize) -> Option<u32> {
        let TreeCpu { running, behind, .. } = self.cpus[cpu];
        let runs = if behind == NIL { self.rank_of_running(running) } else { NEVER };
        let firsts = [cpu, self.shared_cpu()]
            .map(|cpu| avl::first::<Node, ByNotice>(self.nodes, self.cpus[cpu].notices));
        let place = |at: &u32| {
            let watch = &self.nodes.get(*at as usize)?.watch;
            (watch.rank <= runs).then_some((watch.rank, watch.sequence))
        };
        firsts.into_iter().filter(|at| place(at).is_some()).min_by_key(place)
    }

    /// A node has no notice any more.
    pub(super) fn forget(&mut self, at: u32) {
        self.nodes[at as usize].watch.seen = Events::default();
        if self.nodes[at as usize].watch.place.is_in() {
            let cpu = self.home_of(at);
            let notices = self.cpus[cpu].notices;
            self.cpus[cpu].notices = avl::remove::<Node, ByNotice>(self.nodes, notices, at);
        }
    }

    /// A job of a node has missed its deadline, for its monitor, if it has one.
    pub(super) fn notice_miss(&mut self, at: u32) {
        if self.nodes[at as usize].watch.wanted.missed {
            self.notice(at);
            self.nodes[at as usize].watch.seen.missed = true;
        }
    }

    /// A node's budget may have been used up.
    pub(super) fn notice_overrun(&mut self, at: u32) {
        let node = &mut self.nodes[at as usize];
        let before = core::mem::replace(&mut node.watch.overruns, node.server.overruns);
        if node.watch.wanted.overran && before != node.server.overruns {
            self.notice(at);
            self.nodes[at as usize].watch.seen.overran = true;
        }
    }

    /// A node has a notice, which is as urgent as the most urgent of what it tells of.
    fn notice(&mut self, at: u32) {
        let (cpu, own, place) = (self.home_of(at), self.rank_of_running(at), self.next_place());
        let Watch { level, seen, rank: before, sequence, .. } = self.nodes[at as usize].watch;
        let urgency = own.min(rank(level.into()));
        let (urgency, place) = match seen == Events::default() {
            true => (urgency, place),
            false => (urgency.min(before), sequence),
        };
        self.forget(at);
        let watch = &mut self.nodes[at as usize].watch;
        (watch.seen, watch.rank, watch.sequence) = (seen, urgency, place);
        let notices = self.cpus[cpu].notices;
        self.cpus[cpu].notices = avl::insert::<Node, ByNotice>(self.nodes, notices, at);
    }
}
