//! Making, changing, moving and removing nodes, at any time. Each checks everything first; an
//! error leaves the tree as it was.

use super::admit::{Promise, span};
use super::avl::NIL;
use super::curve::NEVER;
use super::error::TreeError;
use super::frame::Frame;
use super::node::{NodeId, Role};
use super::{DEPTH, Node, Tree};
use abi::reservation::{Budget, LEAST_PART, LONGEST, Policy, SHORTEST, Share, Timing};

impl Tree<'_> {
    /// Makes a leaf, or with a policy a class, below a class.
    ///
    /// # Errors
    /// [`TreeError::Full`], [`TreeError::NoSuchNode`], [`TreeError::TooDeep`], and those of
    /// [`Tree::set_share`]; [`TreeError::InvalidParameter`] also for a class of time partitions
    /// that is not directly below the root of a CPU.
    pub fn create(
        &mut self,
        parent: NodeId,
        policy: Option<Policy>,
        share: Share,
    ) -> Result<NodeId, TreeError> {
        if self.free == NIL {
            return Err(TreeError::Full);
        }
        self.check_place(parent, 0)?;
        self.check_windows(policy, parent)?;
        self.check_share(parent.0, share)?;
        let frame = match policy {
            Some(Policy::Partitions) if self.free_frame == NIL => return Err(TreeError::Full),
            Some(Policy::Partitions) => self.free_frame,
            _ => NIL,
        };
        self.promise(parent.0, Promise::new(share, None, None))?;
        let at = self.take(policy.map_or(Role::Leaf, Role::Class));
        let node = &mut self.nodes[at as usize];
        (node.share, node.frame, node.parent) = (share, frame, parent.0);
        if let Some(frame) = self.frames.get_mut(frame as usize) {
            frame.is_taken = true;
            self.free_frame = frame.next_free;
        }
        self.count_child(parent.0, None, Some(0));
        Ok(NodeId(at))
    }

    /// Removes a node. What it was promised can be promised again at once (S4-09).
    ///
    /// # Errors
    /// [`TreeError::HasChildren`], or [`TreeError::NoSuchNode`] for a root or a vacant node.
    pub fn remove_node(&mut self, at: NodeId, now: u64) -> Result<(), TreeError> {
        self.check_inner(at)?;
        if self.nodes[at.index()].children() > 0 {
            return Err(TreeError::HasChildren);
        }
        let cpu = self.cpu_of(at.0);
        let now = self.stir(at.0, now);
        self.catch_up(at.0, now);
        if self.cpus[cpu].running == at.0 {
            self.stop_running(cpu);
        }
        self.leave_node(at.0);
        self.forget_payer(at.0);
        self.move_lent(at.0, self.nodes[at.index()].parent, NIL);
        self.nodes[at.index()].ready = false;
        self.refresh(at.0, now);
        self.forget_instants(at.0);
        self.forget(at.0);
        let parent = self.nodes[at.index()].parent;
        let old = self.promise_of(at.0);
        self.release(parent, old);
        self.settle(at.0, (parent, old), (NIL, Promise::NONE), now);
        self.count_child(parent, Some(0), None);
        let node = &mut self.nodes[at.index()];
        if let Some(frame) = self.frames.get_mut(node.frame as usize) {
            *frame = Frame::free(self.free_frame);
            self.free_frame = node.frame;
        }
        (node.role, node.parent, node.frame) = (Role::Vacant(self.free), NIL, NIL);
        self.free = at.0;
        Ok(())
    }

    /// Changes what a node is among its siblings. A curve goes on from what the node has had: of a
    /// burst there is no more than is left of the old one's. The class that all CPUs share has a
    /// priority.
    ///
    /// # Errors
    /// [`TreeError::WrongShare`], [`TreeError::InvalidParameter`], [`TreeError::Overcommitted`],
    /// [`TreeError::TooManyBends`], [`TreeError::NoSuchNode`]; [`TreeError::PartitionTaken`], or
    /// [`TreeError::Full`] if the class has [`PARTITIONS`](super::PARTITIONS) children.
    pub fn set_share(&mut self, at: NodeId, share: Share, now: u64) -> Result<(), TreeError> {
        if self.is_shared_class(at.0) {
            return self.set_shared_priority(share);
        }
        self.check_inner(at)?;
        let parent = self.nodes[at.index()].parent;
        self.check_share(parent, share)?;
        self.check_children(at.0, parent, share, self.nodes[at.index()].server.limits)?;
        let old = self.promise_of(at.0);
        self.exchange((parent, old), (parent, Promise { share, ..old }))?;
        self.change(at.0, now, |node, now| {
            node.share = share;
            node.fair.change(share, now);
        });
        Ok(())
    }

    /// Gives a node a server, another one, or none. The first one of a node that has not run begins
    /// with its whole budget. After that what was used stays used: of the same kind and period the
    /// server has so much less of its new budget; another one has its whole budget a period from
    /// now, and not before the old one's deadline. A budget that is the period is no limit.
    ///
    /// Below earliest deadlines a new server, and what a budget is more, begins when what siblings
    /// have used ahead of promises that they had leaves the class that much. A node without a limit
    /// is promised nothing there.
    ///
    /// # Errors
    /// [`TreeError::InvalidParameter`]: the budget is below [`LEAST_PART`] or above the period,
    /// that is shorter than [`SHORTEST`] or longer than [`LONGEST`], or the node is a class of
    /// service curves inside another one, or one of time partitions.
    /// [`TreeError::Overcommitted`], [`TreeError::NoSuchNode`].
    pub fn set_budget(
        &mut self,
        at: NodeId,
        budget: Option<Budget>,
        now: u64,
    ) -> Result<(), TreeError> {
        self.check_inner(at)?;
        let Node { parent, share, .. } = self.nodes[at.index()];
        if budget.is_some_and(|Budget { budget, period, .. }| {
            budget < LEAST_PART || budget > period || !(SHORTEST..=LONGEST).contains(&period)
        }) {
            return Err(TreeError::InvalidParameter);
        }
        let limits = budget.filter(|limits| limits.budget < limits.period);
        self.check_limits(at.0, parent, limits)?;
        self.check_children(at.0, parent, share, limits)?;
        let timing = self.nodes[at.index()].job.timing;
        let (old, new) = (self.promise_of(at.0), Promise::new(share, limits, timing));
        self.exchange((parent, old), (parent, new))?;
        let now = self.account_to(self.cpu_of(at.0), now);
        self.catch_up(at.0, now);
        let begins = self.settle(at.0, (parent, old), (parent, new), now);
        let by_deadline = self.is_by_deadline(parent);
        let span = limits.filter(|_| by_deadline).map(|limits| span(limits, timing));
        self.change(at.0, now, |node, now| {
            let is_new = node.service == 0;
            let begins = if span.is_some() || is_new { begins } else { begins.late(limits) };
            node.server.change(limits, begins, span, now);
            if node.ready && !node.behind.is_late {
                node.server.wake(now);
            }
        });
        Ok(())
    }

    /// Gives a leaf's jobs deadlines, other ones, or none.
    ///
    /// # Errors
    /// [`TreeError::InvalidParameter`]: a time is shorter than [`SHORTEST`] or longer than
    /// [`LONGEST`]. [`TreeError::Overcommitted`]: below earliest deadlines the budget by the
    /// deadline is more than the class has. [`TreeError::NoSuchNode`]: it is no leaf.
    pub fn set_timing(
        &mut self,
        at: NodeId,
        timing: Option<Timing>,
        now: u64,
    ) -> Result<(), TreeError> {
        self.check_leaf(at)?;
        let is_valid = |time| (SHORTEST..=LONGEST).contains(&time);
        if timing.is_some_and(|timing| !is_valid(timing.deadline) || !is_valid(timing.period)) {
            return Err(TreeError::InvalidParameter);
        }
        let Node { parent, share, ref server, .. } = self.nodes[at.index()];
        let (old, new) = (self.promise_of(at.0), Promise::new(share, server.limits, timing));
        self.exchange((parent, old), (parent, new))?;
        let now = self.account_to(self.cpu_of(at.0), now);
        self.catch_up(at.0, now);
        let begins = self.settle(at.0, (parent, old), (parent, new), now);
        // What it has now keeps its deadline, unless that is a later one; and what has an earlier
        // one comes when more of the class is free.
        let mut before = self.budget_deadline(at.0);
        if let (Some(timing), true) = (timing, begins.more > now) {
            before = before.max(begins.more.saturating_add(timing.deadline));
        }
        self.change(at.0, now, |node, now| {
            node.job.set(timing, now);
            node.server.earliest = before.max(node.server.earliest);
        });
        Ok(())
    }

    /// Moves a node below another class of the same CPU (S4-02). Below earliest deadlines it is due
    /// there like one that comes now: its budget begins anew, as that of a new server, and its job
    /// is not due earlier than one released now.
    ///
    /// # Errors
    /// [`TreeError::Cycle`], [`TreeError::OtherCpu`], [`TreeError::Busy`] for a class of service
    /// curves in which something is ready, [`TreeError::InvalidParameter`] for one with a budget
    /// that would be inside another one, and those of [`Tree::create`].
    pub fn join(
        &mut self,
        at: NodeId,
        parent: NodeId,
        share: Share,
        now: u64,
    ) -> Result<(), TreeError> {
        self.check_inner(at)?;
        let mut above = parent.0;
        while let Some(node) = self.nodes.get(above as usize) {
            if above == at.0 {
                return Err(TreeError::Cycle);
            }
            above = node.parent;
        }
        let node = &self.nodes[at.index()];
        let (height, old_parent) = (node.height(), node.parent);
        let (limits, policy, was_ready) = (node.server.limits, node.policy(), node.ready);
        self.check_place(parent, height)?;
        if self.home_of(at.0) != self.home_of(parent.0) {
            return Err(TreeError::OtherCpu);
        }
        let is_busy = was_ready || self.first_event(at.0, NEVER).1 <= now;
        if policy == Some(Policy::ServiceCurves) && is_busy {
            return Err(TreeError::Busy);
        }
        self.check_windows(policy, parent)?;
        self.check_share(parent.0, share)?;
        self.check_limits(at.0, parent.0, limits)?;
        self.check_children(at.0, parent.0, share, limits)?;
        let old = self.promise_of(at.0);
        let new = Promise { share, ..old };
        self.exchange((old_parent, old), (parent.0, new))?;
        let now = self.stir(at.0, now);
        self.stir(parent.0, now);
        self.charge_payers(at.0, now);
        self.catch_up(at.0, now);
        let begins = self.settle(at.0, (old_parent, old), (parent.0, new), now);
        self.leave_node(at.0);
        let was_ready = self.nodes[at.index()].ready;
        self.nodes[at.index()].ready = false;
        self.refresh(at.0, now);
        self.hide(at.0);
        self.count_child(old_parent, Some(height), None);
        self.move_lent(at.0, old_parent, parent.0);
        let enters =
            old_parent != parent.0 && self.policy_of(parent.0) == Some(Policy::EarliestDeadline);
        let node = &mut self.nodes[at.index()];
        if enters {
            node.server.arrive(begins, node.job.timing, was_ready, now);
        }
        node.fair.change(share, now);
        if old_parent != parent.0 {
            node.fair.begin_in_class();
        }
        (node.share, node.parent, node.ready) = (share, parent.0, was_ready);
        self.count_child(parent.0, None, Some(height));
        self.show(at.0);
        self.refresh(at.0, now);
        Ok(())
    }

    /// Gives a class of time partitions other windows.
    ///
    /// # Errors
    /// [`TreeError::NoSuchNode`]: it is no such class.
    pub fn set_frame(&mut self, at: NodeId, frame: Frame, now: u64) -> Result<(), TreeError> {
        if self.policy_of(at.0) != Some(Policy::Partitions) {
            return Err(TreeError::NoSuchNode);
        }
        let now = self.stir(at.0, now);
        if let Some(own) = self.frames.get_mut(self.nodes[at.index()].frame as usize) {
            own.set_windows(frame);
        }
        self.go_to_window(at.0, now);
        Ok(())
    }

    /// Changes a node outside of its class's queue.
    pub(super) fn change(&mut self, at: u32, now: u64, change: impl FnOnce(&mut Node, u64)) {
        let now = self.stir(at, now);
        self.catch_up(at, now);
        let ready = core::mem::replace(&mut self.nodes[at as usize].ready, false);
        self.refresh(at, now);
        self.hide(at);
        let node = &mut self.nodes[at as usize];
        node.ready = ready;
        change(node, now);
        self.show(at);
        self.refresh(at, now);
    }

    /// A child with so many levels below it came to or went from a class.
    fn count_child(&mut self, class: u32, mut old: Option<u8>, mut new: Option<u8>) {
        let mut above = class;
        while let Some(node) = self.nodes.get_mut(above as usize) {
            let before = node.height();
            node.count_child(old, new);
            (old, new) = (Some(before), Some(node.height()));
            if old == new {
                return;
            }
            above = node.parent;
        }
    }

    /// A node that exists and is no root.
    pub(super) fn check_inner(&self, at: NodeId) -> Result<(), TreeError> {
        let exists = self.node(at).is_some_and(|node| node.parent != NIL);
        if exists { Ok(()) } else { Err(TreeError::NoSuchNode) }
    }

    fn check_leaf(&self, at: NodeId) -> Result<(), TreeError> {
        if self.is_leaf(at) { Ok(()) } else { Err(TreeError::NoSuchNode) }
    }

    /// Windows are of a CPU's time: a class that has some is directly below the root of one.
    fn check_windows(&self, policy: Option<Policy>, parent: NodeId) -> Result<(), TreeError> {
        let has_windows = policy == Some(Policy::Partitions);
        let misplaced = has_windows && self.cpu_with_root(parent.0).is_none();
        if misplaced { Err(TreeError::InvalidParameter) } else { Ok(()) }
    }

    /// Whether a node with so many levels below it can be below this class.
    fn check_place(&self, parent: NodeId, height: u8) -> Result<(), TreeError> {
        if self.policy_of(parent.0).is_none() {
            return Err(TreeError::NoSuchNode);
        }
        let (mut depth, mut above) = (1, parent.0);
        while let Some(node) = self.nodes.get(above as usize) {
            (depth, above) = (depth + 1, node.parent);
        }
        if depth + height > DEPTH { Err(TreeError::TooDeep) } else { Ok(()) }
    }
}
