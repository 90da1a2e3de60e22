//! Making, changing, moving and removing nodes, at any time. Each checks everything first; an
//! error leaves the tree as it was.

use super::avl::NIL;
use super::curve::{Curve, NEVER, WHOLE};
use super::error::TreeError;
use super::frame::Frame;
use super::job::Timing;
use super::node::{NodeId, PRIORITIES, Policy, Role, Share};
use super::promised::{Promised, bandwidth};
use super::server::{Budget, Kind, Server};
use super::{DEPTH, Tree};

/// The longest period, deadline and bend: 2^62 ns, so that instants and debts never wrap.
const LONGEST: u64 = 1 << 62;

impl Tree<'_> {
    /// Makes a leaf, or with a policy a class, below a class.
    ///
    /// # Errors
    /// [`TreeError::Full`], [`TreeError::NoSuchNode`], [`TreeError::TooDeep`], and those of
    /// [`Tree::set_share`].
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
        self.check_share(parent.0, share)?;
        if let Some(Policy::Partitions(table)) = policy
            && self.frames.get(usize::from(table)).is_none()
        {
            return Err(TreeError::InvalidParameter);
        }
        let promise = Promise { share, bandwidth: 0 };
        self.promise(parent.0, promise)?;
        let at = self.take(policy.map_or(Role::Leaf, Role::Class));
        self.nodes[at as usize].share = share;
        self.attach(parent.0, at);
        Ok(NodeId(at))
    }

    /// Removes a node. What it was promised is free at once (S4-09).
    ///
    /// # Errors
    /// [`TreeError::HasChildren`], or [`TreeError::NoSuchNode`] for a root or a vacant node.
    pub fn remove_node(&mut self, at: NodeId, now: u64) -> Result<(), TreeError> {
        self.check_inner(at)?;
        if self.nodes[at.index()].children > 0 {
            return Err(TreeError::HasChildren);
        }
        let cpu = self.cpu_of(at.0);
        self.account(cpu, now);
        if self.cpus[cpu].running == at.0 {
            self.cpus[cpu].running = NIL;
        }
        self.nodes[at.index()].ready = false;
        self.refresh(at.0, now);
        self.set_event(at.0, NEVER);
        let parent = self.nodes[at.index()].parent;
        self.release(parent, self.promise_of(at.0));
        self.nodes[parent as usize].children -= 1;
        self.nodes[at.index()].role = Role::Vacant(self.free);
        self.nodes[at.index()].parent = NIL;
        self.free = at.0;
        self.used -= 1;
        Ok(())
    }

    /// Changes what a node is among its siblings. A curve begins anew.
    ///
    /// # Errors
    /// [`TreeError::WrongShare`], [`TreeError::InvalidParameter`], [`TreeError::Overcommitted`],
    /// [`TreeError::TooManyBends`], [`TreeError::NoSuchNode`].
    pub fn set_share(&mut self, at: NodeId, share: Share, now: u64) -> Result<(), TreeError> {
        self.check_inner(at)?;
        let parent = self.nodes[at.index()].parent;
        self.check_share(parent, share)?;
        self.check_children(at.0, share, self.nodes[at.index()].server.limits)?;
        let old = self.promise_of(at.0);
        self.exchange(parent, old, Promise { share, ..old })?;
        self.change(at.0, now, |node| {
            node.share = share;
            node.fair.begin_anew();
        });
        Ok(())
    }

    /// Gives a node a server, another one, or none; it begins with its whole budget. A budget that
    /// is the period is no limit.
    ///
    /// # Errors
    /// [`TreeError::InvalidParameter`]: budget or period are zero or too long, the budget is above
    /// the period, or the node is a class of service curves inside another one.
    /// [`TreeError::Overcommitted`], [`TreeError::NoSuchNode`].
    pub fn set_budget(
        &mut self,
        at: NodeId,
        budget: Option<Budget>,
        now: u64,
    ) -> Result<(), TreeError> {
        self.check_inner(at)?;
        let parent = self.nodes[at.index()].parent;
        if let Some(Budget { budget, period, .. }) = budget {
            let inner = self.policy_of(at.0) == Some(Policy::ServiceCurves)
                && self.policy_of(parent) == Some(Policy::ServiceCurves);
            if budget == 0 || budget > period || period > LONGEST || inner {
                return Err(TreeError::InvalidParameter);
            }
        }
        self.check_children(at.0, self.nodes[at.index()].share, budget)?;
        let old = self.promise_of(at.0);
        let bandwidth = budget.map_or(0, |Budget { budget, period, .. }| bandwidth(budget, period));
        self.exchange(parent, old, Promise { bandwidth, ..old })?;
        self.change(at.0, now, |node| {
            let overruns = node.server.overruns;
            node.server = Server::new(budget, now);
            node.server.overruns = overruns;
            if node.ready {
                node.server.wake(now);
            }
        });
        Ok(())
    }

    /// Gives a leaf's jobs deadlines, other ones, or none.
    ///
    /// # Errors
    /// [`TreeError::InvalidParameter`]: a time is zero or too long. [`TreeError::NoSuchNode`]: it
    /// is no leaf.
    pub fn set_timing(
        &mut self,
        at: NodeId,
        timing: Option<Timing>,
        now: u64,
    ) -> Result<(), TreeError> {
        self.check_inner(at)?;
        if self.nodes[at.index()].role != Role::Leaf {
            return Err(TreeError::NoSuchNode);
        }
        let is_valid = |time| (1..=LONGEST).contains(&time);
        if timing.is_some_and(|timing| !is_valid(timing.deadline) || !is_valid(timing.period)) {
            return Err(TreeError::InvalidParameter);
        }
        self.change(at.0, now, |node| node.job.set(timing));
        Ok(())
    }

    /// Moves a node below another class of the same CPU (S4-02).
    ///
    /// # Errors
    /// [`TreeError::Cycle`], [`TreeError::OtherCpu`], [`TreeError::Busy`] for a class of service
    /// curves in which something is ready, and those of [`Tree::create`].
    pub fn join(
        &mut self,
        at: NodeId,
        parent: NodeId,
        share: Share,
        now: u64,
    ) -> Result<(), TreeError> {
        self.check_inner(at)?;
        let height = self.nodes[at.index()].height;
        let policy = self.policy_of(at.0);
        let mut above = parent.0;
        while let Some(node) = self.nodes.get(above as usize) {
            if above == at.0 {
                return Err(TreeError::Cycle);
            }
            above = node.parent;
        }
        self.check_place(parent, height)?;
        let cpu = self.cpu_of(at.0);
        if cpu != self.cpu_of(parent.0) {
            return Err(TreeError::OtherCpu);
        }
        if policy == Some(Policy::ServiceCurves) && self.nodes[at.index()].ready {
            return Err(TreeError::Busy);
        }
        self.check_share(parent.0, share)?;
        let old_parent = self.nodes[at.index()].parent;
        let old = self.promise_of(at.0);
        self.release(old_parent, old);
        let promised = self.promise(parent.0, Promise { share, ..old });
        if let Err(error) = promised {
            self.restore(old_parent, old);
            return Err(error);
        }
        self.account(cpu, now);
        let was_ready = core::mem::replace(&mut self.nodes[at.index()].ready, false);
        self.refresh(at.0, now);
        self.nodes[old_parent as usize].children -= 1;
        let node = &mut self.nodes[at.index()];
        node.share = share;
        node.fair.begin_anew();
        (node.fair.virtual_time, node.ready) = (0, was_ready);
        self.attach(parent.0, at.0);
        self.refresh(at.0, now);
        Ok(())
    }

    /// Gives a class of time partitions other windows.
    ///
    /// # Errors
    /// [`TreeError::NoSuchNode`]: it is no such class.
    pub fn set_frame(&mut self, at: NodeId, frame: Frame, now: u64) -> Result<(), TreeError> {
        let Some(Policy::Partitions(table)) = self.policy_of(at.0) else {
            return Err(TreeError::NoSuchNode);
        };
        self.account(self.cpu_of(at.0), now);
        self.frames[usize::from(table)] = frame;
        if self.refresh_class(at.0, now) {
            self.refresh(at.0, now);
        }
        self.plan(at.0);
        Ok(())
    }

    /// Changes a node outside of its class's queue.
    fn change(&mut self, at: u32, now: u64, change: impl FnOnce(&mut super::Node)) {
        self.account(self.cpu_of(at), now);
        let ready = core::mem::replace(&mut self.nodes[at as usize].ready, false);
        self.refresh(at, now);
        let node = &mut self.nodes[at as usize];
        node.ready = ready;
        change(node);
        self.refresh(at, now);
        self.plan(at);
    }

    fn attach(&mut self, parent: u32, at: u32) {
        self.nodes[at as usize].parent = parent;
        self.nodes[parent as usize].children += 1;
        let (mut above, mut height) = (parent, self.nodes[at as usize].height);
        while let Some(node) = self.nodes.get_mut(above as usize) {
            height += 1;
            node.height = node.height.max(height);
            height = node.height;
            above = node.parent;
        }
    }

    /// A node that exists and is no root.
    fn check_inner(&self, at: NodeId) -> Result<(), TreeError> {
        match self.nodes.get(at.index()) {
            Some(node) if node.parent != NIL => Ok(()),
            _ => Err(TreeError::NoSuchNode),
        }
    }

    /// Whether a node with so many levels below it can be below this class.
    fn check_place(&self, parent: NodeId, height: u8) -> Result<(), TreeError> {
        let is_class = self.policy_of(parent.0).is_some();
        if !is_class {
            return Err(TreeError::NoSuchNode);
        }
        let (mut depth, mut above) = (1, parent.0);
        while let Some(node) = self.nodes.get(above as usize) {
            (depth, above) = (depth + 1, node.parent);
        }
        if depth + height > DEPTH { Err(TreeError::TooDeep) } else { Ok(()) }
    }

    fn check_share(&self, parent: u32, share: Share) -> Result<(), TreeError> {
        let is_valid = match (self.policy_of(parent), share) {
            (Some(Policy::FixedPriority), Share::Priority(priority)) => priority < PRIORITIES,
            (Some(Policy::EarliestDeadline), Share::Deadline) => true,
            (Some(Policy::ServiceCurves), Share::Curve { guaranteed, share }) => {
                let is_valid = |curve: &Curve| {
                    let bounded = curve.slope <= WHOLE && curve.rest <= WHOLE;
                    bounded && curve.rest > 0 && curve.bend <= LONGEST
                };
                is_valid(&share) && guaranteed.as_ref().is_none_or(is_valid)
            }
            (Some(Policy::Partitions(_)), Share::Partition { priority, .. }) => {
                priority < PRIORITIES
            }
            _ => return Err(TreeError::WrongShare),
        };
        if is_valid { Ok(()) } else { Err(TreeError::InvalidParameter) }
    }

    /// What a node with this share and budget can promise to its children.
    fn capacity(&self, at: u32, share: Share, budget: Option<Budget>) -> Curve {
        let parent = self.nodes[at as usize].parent;
        match share {
            Share::Curve { guaranteed, .. }
                if self.policy_of(parent) == Some(Policy::ServiceCurves) =>
            {
                guaranteed.unwrap_or(Curve::linear(0))
            }
            _ => Curve::linear(match budget {
                Some(Budget { budget, period, .. }) => {
                    (u128::from(budget) * u128::from(WHOLE) / u128::from(period.max(1))) as u32
                }
                None => WHOLE,
            }),
        }
    }

    /// Whether a class keeps its promises with another share and budget.
    fn check_children(
        &self,
        at: u32,
        share: Share,
        budget: Option<Budget>,
    ) -> Result<(), TreeError> {
        let capacity = self.capacity(at, share, budget);
        let promised = &self.nodes[at as usize].promised;
        let has_bandwidth = promised.bandwidth() <= u64::from(capacity.rest);
        if has_bandwidth && promised.fits(&capacity) {
            Ok(())
        } else {
            Err(TreeError::Overcommitted)
        }
    }

    fn promise_of(&self, at: u32) -> Promise {
        let node = &self.nodes[at as usize];
        let bandwidth =
            node.server.limits.map_or(0, |limits| bandwidth(limits.budget, limits.period));
        Promise { share: node.share, bandwidth }
    }

    /// Promises a class's capacity to a child.
    fn promise(&mut self, class: u32, new: Promise) -> Result<(), TreeError> {
        let node = &self.nodes[class as usize];
        let capacity = self.capacity(class, node.share, node.server.limits);
        let policy = node.policy();
        let promised = &mut self.nodes[class as usize].promised;
        match (policy, new.share) {
            (Some(Policy::EarliestDeadline), _) => {
                promised.add_bandwidth(new.bandwidth, u64::from(capacity.rest))
            }
            (Some(Policy::ServiceCurves), Share::Curve { guaranteed: Some(curve), .. }) => {
                promised.add_curve(&curve, &capacity)
            }
            _ => Ok(()),
        }
    }

    fn release(&mut self, class: u32, old: Promise) {
        let policy = self.policy_of(class);
        let promised = &mut self.nodes[class as usize].promised;
        match (policy, old.share) {
            (Some(Policy::EarliestDeadline), _) => promised.remove_bandwidth(old.bandwidth),
            (Some(Policy::ServiceCurves), Share::Curve { guaranteed: Some(curve), .. }) => {
                promised.remove_curve(&curve);
            }
            _ => {}
        }
    }

    /// Promises something else instead.
    fn exchange(&mut self, class: u32, old: Promise, new: Promise) -> Result<(), TreeError> {
        let before: Promised = self.nodes[class as usize].promised.clone();
        self.release(class, old);
        let result = self.promise(class, new);
        if result.is_err() {
            self.nodes[class as usize].promised = before;
        }
        result
    }

    /// Promises again what was just released.
    fn restore(&mut self, class: u32, old: Promise) {
        let restored = self.promise(class, old);
        debug_assert!(restored.is_ok(), "a promise that was kept cannot be kept");
    }
}

/// What a node is promised by its class.
#[derive(Clone, Copy)]
struct Promise {
    share: Share,
    bandwidth: u64,
}

impl Budget {
    /// A server of this kind, times in nanoseconds.
    pub const fn new(kind: Kind, budget: u64, period: u64) -> Budget {
        Budget { kind, budget, period }
    }
}
