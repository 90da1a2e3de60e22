//! The background: what has run out of time may run on where a CPU would idle.
//!
//! A node of which that is wanted comes to the background when its budget is used up, until that
//! comes back, or when a job of it has not ended by its deadline, until the job ends. There it
//! takes turns with the others, below everything else on its CPU, and uses no budget, neither its
//! own nor that of a class above it: what is promised is not less by that. Nor does a late job save
//! budget there: its server takes it to sleep. Inside a class that is
//! in the background its policy and the limits of its children hold as before.
//!
//! A limit or a window holds for all that is in a class. So nothing in a class that waits for
//! budget itself, or has windows, comes to the background, and nothing in the class that all CPUs
//! share.

use super::avl::{self, Links, Order};
use super::curve::NEVER;
use super::error::TreeError;
use super::node::Node;
use super::pick::Due;
use super::{NodeId, Tree};
use abi::reservation::{Policy, Server};

/// When a node comes to the background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fallback {
    /// When its budget is used up.
    pub overrun: bool,
    /// When a job of it has not ended by its deadline.
    pub miss: bool,
}

/// A node's part in the background.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Behind {
    pub(super) wanted: Fallback,
    /// Whether a job is late, and runs there until it ends.
    pub(super) is_late: bool,
    /// Its place among those of its CPU.
    pub(super) place: Links,
    turn: u64,
    /// What is left of its turn.
    left: u64,
}

impl Behind {
    /// It never comes there.
    pub(super) const NONE: Behind = Behind {
        wanted: Fallback { overrun: false, miss: false },
        is_late: false,
        place: Links::OUT,
        turn: 0,
        left: 0,
    };
}

/// The order of turns.
pub(super) struct ByTurn;

impl Order<Node> for ByTurn {
    type Key = u64;
    #[inline(always)]
    fn links(node: &Node) -> &Links {
        &node.behind.place
    }
    #[inline(always)]
    fn links_mut(node: &mut Node) -> &mut Links {
        &mut node.behind.place
    }
    #[inline(always)]
    fn key(node: &Node) -> u64 {
        node.behind.turn
    }
}

impl Tree<'_> {
    /// From now on a node comes to the background as said. A job that is late already goes on.
    ///
    /// # Errors
    /// [`TreeError::NoSuchNode`], also for a root; [`TreeError::InvalidParameter`]: a class has no
    /// jobs.
    pub fn set_background(
        &mut self,
        at: NodeId,
        wanted: Fallback,
        now: u64,
    ) -> Result<(), TreeError> {
        self.check_inner(at)?;
        if wanted.miss && !self.is_leaf(at) {
            return Err(TreeError::InvalidParameter);
        }
        self.account_to(self.cpu_of(at.0), now);
        self.sees_miss(at.0, now);
        self.change(at.0, now, |node, now| {
            node.behind.wanted = wanted;
            if !wanted.miss {
                node.catch_up(now);
            }
            node.job.watch(wanted.miss || node.watch.wanted.missed, now);
        });
        self.plan(at.0);
        Ok(())
    }

    /// A node's readiness or its budget has changed, or its job is late or has ended.
    #[inline(always)]
    pub(super) fn follow_background(&mut self, at: u32, now: u64) {
        let node = &self.nodes[at as usize];
        if node.is_out_of_time() != node.behind.place.is_in() {
            self.enter_or_leave(at, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_or_leave(&mut self, at: u32, now: u64) {
        if self.nodes[at as usize].behind.place.is_in() {
            self.leave_background(at);
        } else if self.may_run_behind(at) {
            self.enter_background(at);
        } else {
            // A class above it was changed: the late job goes on as if that were not wanted.
            self.nodes[at as usize].catch_up(now);
        }
    }

    fn enter_background(&mut self, at: u32) {
        let (cpu, turn) = (self.cpu_of(at), self.next_place());
        let behind = &mut self.nodes[at as usize].behind;
        (behind.turn, behind.left) = (turn, self.slice);
        let set = self.cpus[cpu].background;
        self.cpus[cpu].background = avl::insert::<Node, ByTurn>(self.nodes, set, at);
    }

    fn leave_background(&mut self, at: u32) {
        let cpu = self.cpu_of(at);
        let set = self.cpus[cpu].background;
        self.cpus[cpu].background = avl::remove::<Node, ByTurn>(self.nodes, set, at);
    }

    /// Whether it is on one CPU and no class above it keeps what is in it to its limit or its
    /// windows.
    fn may_run_behind(&self, at: u32) -> bool {
        let (mut top, mut class) = (at, self.nodes[at as usize].parent);
        while let Some(node) = self.nodes.get(class as usize) {
            let is_soft = |server| server == Server::ConstantSoft;
            let waits = node.server.limits.is_some_and(|limits| !is_soft(limits.server));
            if waits && !node.behind.wanted.overrun || node.policy() == Some(Policy::Partitions) {
                return false;
            }
            (top, class) = (class, node.parent);
        }
        !self.is_shared_class(top)
    }

    /// A job has not ended by its deadline.
    pub(super) fn fall_behind(&mut self, at: u32, now: u64) {
        if self.nodes[at as usize].behind.wanted.miss && self.may_run_behind(at) {
            let node = &mut self.nodes[at as usize];
            node.behind.is_late = true;
            if node.ready {
                // Until its job ends its budget goes by as if it slept.
                node.server.sleep(now);
            }
            self.refresh(at, now);
        }
    }

    /// What a CPU runs that would idle until an instant, as [`Tree::descend`], and in which node of
    /// the background.
    #[cold]
    pub(super) fn choose_behind(
        &mut self,
        cpu: usize,
        idle: u64,
        now: u64,
    ) -> Result<((u32, u64), u32), Due> {
        let set = self.cpus[cpu].background;
        let first = avl::first::<Node, ByTurn>(self.nodes, set);
        if !self.may_run_behind(first) {
            return Err(Due::Behind(first));
        }
        let (leaf, until) = self.descend(first, first, now).map_err(Due::Node)?;
        let shared = avl::has_two::<Node, ByTurn>(self.nodes, set);
        let left = if shared { self.nodes[first as usize].behind.left } else { NEVER };
        Ok(((leaf, until.min(idle).min(now.saturating_add(left))), first))
    }

    /// A node may not run in the background any more, since a class above it was changed. A late
    /// job goes on as if that were not wanted.
    pub(super) fn send_back(&mut self, at: u32, now: u64) {
        self.leave_background(at);
        if self.nodes[at as usize].behind.is_late {
            self.refresh(at, now);
        }
    }

    /// A node of the background has run for so long: it has had that, and so have the classes above
    /// it, and no budget is less.
    #[cold]
    pub(super) fn charge_behind(&mut self, behind: u32, time: u64) {
        let mut at = behind;
        while let Some(node) = self.nodes.get_mut(at as usize) {
            node.service = node.service.saturating_add(time);
            at = node.parent;
        }
        let node = &mut self.nodes[behind as usize];
        let over = time.checked_sub(node.behind.left);
        node.behind.left = node.behind.left.saturating_sub(time);
        if let Some(over) = over
            && node.behind.place.is_in()
        {
            // Behind the others, with another turn.
            self.leave_background(behind);
            self.enter_background(behind);
            self.nodes[behind as usize].behind.left = self.slice - over % self.slice;
        }
    }
}

impl Node {
    /// Its job goes on as if it were not late.
    pub(super) fn catch_up(&mut self, now: u64) {
        if core::mem::replace(&mut self.behind.is_late, false) && self.ready {
            self.server.wake(now);
        }
    }

    /// Whether it can be chosen in its class.
    #[inline(always)]
    pub(super) fn wants(&self) -> bool {
        self.ready && !self.server.is_throttled && !self.behind.is_late
    }

    /// Whether it is to be in the background.
    #[inline(always)]
    pub(super) fn is_out_of_time(&self) -> bool {
        let is_out = self.server.is_throttled && self.behind.wanted.overrun || self.behind.is_late;
        self.ready && is_out
    }
}
