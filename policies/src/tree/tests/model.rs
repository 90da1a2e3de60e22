//! A plain model of the tree: lists and scans, 128-bit times, no sorted sets and no cached state
//! but that of servers, jobs and windows. It is told what the tree runs, says what each node has
//! to be like, and whether a choice is one that the policies allow. Service curves have tests of
//! their own: here any ready child is as good as another.

use super::model_freed::{Begins, ModelFreed};
use super::model_server::ModelServer;
use super::*;

#[derive(Clone, Copy, Default)]
pub(super) struct ModelJob {
    open: bool,
    release: u64,
    deadline: Option<u64>,
    regular: u64,
    next: u64,
    jobs: Jobs,
}

impl ModelJob {
    fn describe(&mut self, timing: Option<Timing>) {
        self.deadline = timing.map(|timing| self.regular + timing.deadline);
        self.next = timing.map_or(self.next, |timing| self.regular + timing.period);
    }

    /// By how much it is late.
    fn late(&self, now: u64) -> Option<u64> {
        now.checked_sub(self.deadline?).filter(|late| *late > 0)
    }
}

pub(super) struct ModelNode {
    pub(super) id: NodeId,
    pub(super) parent: Option<NodeId>,
    pub(super) policy: Option<Policy>,
    pub(super) share: Share,
    pub(super) server: Option<ModelServer>,
    overruns: u32,
    /// When all that an earlier server had used has come back.
    gave_up: u64,
    /// Without a server: before this it is not due.
    earliest: u64,
    pub(super) timing: Option<Timing>,
    job: ModelJob,
    pub(super) windows: (Vec<Window>, u64),
    /// Of a class of time partitions: when its windows were last looked at, and which children
    /// could be chosen then but for these.
    pub(super) seen: u64,
    queued: Vec<NodeId>,
    pub(super) ready: bool,
    /// Taken out of its class while it is changed.
    held: bool,
    pub(super) service: u64,
    /// What it had used ahead when its promise last changed, and its service then.
    pub(super) ahead: (i128, u64),
    /// Of a class of earliest deadlines: what it has promised before.
    pub(super) freed: ModelFreed,
}

/// The nodes but the root, which is [`Model::ROOT`].
pub(super) struct Model {
    pub(super) nodes: Vec<ModelNode>,
    pub(super) running: Option<NodeId>,
    pub(super) since: u64,
    /// When what runs was chosen.
    began: u64,
}

impl Model {
    pub(super) const ROOT: NodeId = NodeId(0);

    pub(super) fn new() -> Model {
        let mut model = Model { nodes: vec![], running: None, since: 0, began: 0 };
        model.create(Model::ROOT, None, Some(Policy::FixedPriority), Share::Priority(0));
        model
    }

    pub(super) fn create(
        &mut self,
        id: NodeId,
        parent: Option<NodeId>,
        policy: Option<Policy>,
        share: Share,
    ) {
        self.nodes.push(ModelNode {
            id,
            parent,
            policy,
            share,
            server: None,
            overruns: 0,
            gave_up: 0,
            earliest: 0,
            timing: None,
            job: ModelJob::default(),
            windows: (vec![], 0),
            seen: 0,
            queued: vec![],
            ready: false,
            held: false,
            service: 0,
            ahead: (0, 0),
            freed: ModelFreed::default(),
        });
    }

    pub(super) fn node(&self, id: NodeId) -> &ModelNode {
        self.nodes.iter().find(|node| node.id == id).expect("it exists")
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut ModelNode {
        self.nodes.iter_mut().find(|node| node.id == id).expect("it exists")
    }

    fn children(&self, id: NodeId) -> impl Iterator<Item = &ModelNode> {
        self.nodes.iter().filter(move |node| node.parent == Some(id))
    }

    /// The children that can be chosen by their own state.
    fn candidates(&self, id: NodeId) -> Vec<&ModelNode> {
        let current = self.node(id).partition(self.node(id).seen);
        self.children(id)
            .filter(|child| child.is_queued())
            .filter(|child| match child.share {
                Share::Partition { number, .. } => number == 0 || number == current,
                _ => true,
            })
            .collect()
    }

    /// Classes become ready and sleep, from the leaves upwards.
    fn settle(&mut self, now: u64) {
        let mut order: Vec<(usize, NodeId)> =
            self.nodes.iter().map(|node| (self.depth(node.id), node.id)).collect();
        order.sort_by_key(|(depth, _)| core::cmp::Reverse(*depth));
        for (_, id) in order {
            if self.node(id).policy.is_some() {
                let queued = self.children(id).filter(|child| child.is_queued());
                let queued: Vec<NodeId> = queued.map(|child| child.id).collect();
                let node = self.node_mut(id);
                if node.queued != queued {
                    (node.queued, node.seen) = (queued, now);
                }
                let ready = !self.candidates(id).is_empty();
                self.node_mut(id).set_ready(ready, now);
            }
        }
    }

    pub(super) fn depth(&self, id: NodeId) -> usize {
        self.path(id).len()
    }

    /// A node and all classes above it.
    pub(super) fn path(&self, id: NodeId) -> Vec<NodeId> {
        let mut path = vec![id];
        while let Some(parent) = self.node(path[path.len() - 1]).parent {
            path.push(parent);
        }
        path
    }

    pub(super) fn account(&mut self, now: u64) {
        let time = now - self.since;
        self.since = now;
        let Some(leaf) = self.running.filter(|_| time > 0) else { return };
        let began = self.began;
        for id in self.path(leaf) {
            let node = self.node_mut(id);
            node.service += time;
            if let Some(server) = &mut node.server {
                server.charge((time, began), now);
            }
        }
        self.settle(now);
    }

    pub(super) fn wake(&mut self, id: NodeId, now: u64) {
        self.account(now);
        let node = self.node_mut(id);
        if !node.ready {
            node.release(now);
            node.set_ready(true, now);
            self.settle(now);
        }
    }

    pub(super) fn block(&mut self, id: NodeId, now: u64, ends: bool) {
        self.account(now);
        let node = self.node_mut(id);
        if node.ready {
            if ends {
                node.end(now);
            }
            node.set_ready(false, now);
            self.running = self.running.filter(|running| *running != id);
            self.settle(now);
        }
    }

    /// Takes a node out of its class, changes it, and puts it back.
    pub(super) fn change(&mut self, id: NodeId, now: u64, change: impl FnOnce(&mut ModelNode)) {
        self.account(now);
        self.node_mut(id).held = true;
        self.settle(now);
        let node = self.node_mut(id);
        change(node);
        node.held = false;
        self.settle(now);
    }

    pub(super) fn remove(&mut self, id: NodeId, now: u64) {
        self.block(id, now, false);
        self.account(now);
        self.exchange(id, (None, None), None, now);
        self.nodes.retain(|node| node.id != id);
        self.settle(now);
    }

    /// The next instant that can change the choice of a class: of its children no less urgent than
    /// `least` those that wait for budget, and what waits in those with nothing ready, but not
    /// before these have budget themselves.
    fn next_event(&self, class: NodeId, least: u16, now: u64) -> u64 {
        let current = self.node(class).partition(now);
        let matters = |child: &&ModelNode| match child.share {
            Share::Priority(priority) => priority >= least,
            Share::Partition { number, .. } => number == 0 || number == current,
            _ => true,
        };
        let instant = |child: &ModelNode| match (child.ready, &child.server) {
            (true, Some(server)) if server.throttled => server.comes_back(),
            (true, _) if self.is_inner_curves(child) => Some(self.next_event(child.id, 0, now)),
            (true, _) => None,
            (false, server) => {
                let inside = self.next_event(child.id, 0, now);
                match server.clone().filter(|_| inside != NEVER) {
                    None => Some(inside),
                    Some(mut then) => {
                        then.wake(inside);
                        if then.throttled {
                            then.comes_back().max(Some(inside))
                        } else {
                            Some(inside)
                        }
                    }
                }
            }
        };
        self.children(class).filter(matters).filter_map(instant).min().unwrap_or(NEVER)
    }

    /// Guarantees in a class of service curves inside another one are served by the outer one.
    fn is_inner_curves(&self, node: &ModelNode) -> bool {
        let class = node.parent.map(|class| self.node(class).policy);
        [node.policy, class.flatten()] == [Some(Policy::ServiceCurves); 2]
    }

    /// Gives a node a limit.
    pub(super) fn set_budget(&mut self, id: NodeId, limits: Option<Budget>, now: u64) {
        self.account(now);
        let class = self.node(id).parent.expect("no root has a limit");
        let limits = limits.filter(|limits| limits.budget < limits.period);
        let timing = self.node(id).timing;
        let begins = self.exchange(id, (Some(class), limits), timing, now);
        let by_deadline = self.node(class).policy == Some(Policy::EarliestDeadline);
        self.change(id, now, |node| {
            let span = limits.filter(|_| by_deadline).map(|limits| node.span(limits));
            node.set_budget(limits, begins, span, now);
        });
    }

    /// Describes the jobs of a leaf.
    pub(super) fn set_timing(&mut self, id: NodeId, timing: Option<Timing>, now: u64) {
        self.account(now);
        let (class, limits) = (self.node(id).parent, self.node(id).limits());
        let begins = self.exchange(id, (class, limits), timing, now);
        self.change(id, now, |node| node.set_timing(timing, begins, now));
    }

    /// Moves a node to a class.
    pub(super) fn join(&mut self, id: NodeId, to: NodeId, share: Share, now: u64) {
        self.account(now);
        let enters = self.node(id).parent != Some(to)
            && self.node(to).policy == Some(Policy::EarliestDeadline);
        let (limits, timing) = (self.node(id).limits(), self.node(id).timing);
        let begins = self.exchange(id, (Some(to), limits), timing, now);
        self.change(id, now, |node| {
            (node.share, node.parent) = (share, Some(to));
            if let Some(server) = node.server.take() {
                let (limits, overruns) = (server.limits, server.overruns);
                node.server = Some(match enters {
                    true => ModelServer::begin(limits, begins.anew, now, overruns),
                    false => server,
                });
            }
            if enters {
                node.arrive(now);
            }
        });
    }

    /// Serves all instants that have come.
    pub(super) fn advance(&mut self, now: u64) {
        self.account(now);
        self.settle(now);
        loop {
            let due = |node: &&ModelNode| -> Option<u64> {
                let server = node.server.as_ref().filter(|_| node.ready);
                let events = [server.and_then(ModelServer::event), node.next_window()];
                events.into_iter().flatten().min().filter(|event| *event <= now)
            };
            let all = self.nodes.iter().filter(|node| due(node).is_some());
            let first = all.min_by_key(due).map(|node| (node.id, due(&node)));
            let Some((id, Some(came))) = first else { return };
            let node = self.node_mut(id);
            let is_ready = node.ready;
            if let Some(server) = &mut node.server
                && server.event().is_some_and(|event| is_ready && event <= came)
            {
                server.replenish(came);
            }
            node.seen = came;
            self.settle(came);
        }
    }

    /// Checks a choice against all policies on the path to it, and notes it.
    pub(super) fn choose(&mut self, pick: Pick, now: u64) {
        let path = pick.leaf.map_or(vec![Model::ROOT], |leaf| self.path(leaf));
        let top = path.iter().rev().nth(1).map_or(0, |top| self.node(*top).priority());
        let windows = self.nodes.iter().filter(|node| node.priority() >= top);
        let mut latest = windows.filter_map(ModelNode::next_window).min().unwrap_or(NEVER);
        for pair in path.windows(2).rev() {
            let (child, class) = (self.node(pair[0]), self.node(pair[1]));
            let others = self.candidates(class.id);
            latest = latest.min(self.next_event(class.id, child.priority(), now));
            assert!(others.iter().any(|other| other.id == child.id), "it cannot run");
            let is_best = |rank: &dyn Fn(&ModelNode) -> u64| {
                others.iter().all(|other| rank(other) <= rank(child))
            };
            let best = match class.policy {
                Some(Policy::FixedPriority) => is_best(&|node| node.priority().into()),
                Some(Policy::EarliestDeadline) => {
                    others.iter().all(|other| other.deadline() >= child.deadline())
                }
                Some(Policy::Partitions) => {
                    is_best(&|node| 2 * u64::from(self.urgency(node)) + node.is_background())
                }
                _ => true,
            };
            assert!(best, "{:?} chooses another child", class.policy);
            latest = latest.min(child.server.as_ref().map_or(NEVER, |server| server.end(now)));
        }
        assert_eq!(pick.leaf.is_some(), self.node(Model::ROOT).ready, "something ready waits");
        assert!(pick.until <= latest, "the decision is too late: {} {latest}", pick.until);
        (self.running, self.began) = (pick.leaf, now);
    }

    fn urgency(&self, node: &ModelNode) -> u16 {
        if node.policy != Some(Policy::FixedPriority) {
            return node.priority();
        }
        let children = self.candidates(node.id);
        let most = children.into_iter().map(ModelNode::priority).max().unwrap_or(0);
        most.min(node.priority())
    }

    /// All that can be seen of the tree is as it is here.
    pub(super) fn compare(&self, tree: &Tree<'_>) {
        for node in &self.nodes {
            let state = tree.inspect(node.id).expect("it exists");
            let server = node.server.as_ref();
            let expected = NodeState {
                parent: node.parent,
                policy: node.policy,
                share: node.share,
                budget: server.map(|server| server.limits),
                timing: node.timing,
                is_ready: node.ready,
                is_throttled: node.ready && node.is_throttled(),
                service: node.service,
                jobs: node.counted(self.since),
                overruns: server.map_or(node.overruns, |server| server.overruns),
            };
            assert_eq!(state, expected);
        }
        let leaves = self.nodes.iter().filter(|node| node.policy.is_none());
        for leaf in leaves.filter(|leaf| leaf.ready && !leaf.is_throttled()) {
            assert!(self.running.is_some() || self.is_held_back(leaf.id), "the CPU idles");
        }
    }

    /// Whether a class above waits for budget or a window.
    fn is_held_back(&self, id: NodeId) -> bool {
        let path = self.path(id);
        let partitioned = path.iter().any(|id| self.node(*id).policy == Some(Policy::Partitions));
        partitioned || path.iter().any(|id| self.node(*id).is_throttled())
    }
}

impl ModelNode {
    fn is_throttled(&self) -> bool {
        self.server.as_ref().is_some_and(|server| server.throttled)
    }

    /// Whether it can be chosen by its own state.
    fn is_queued(&self) -> bool {
        self.ready && !self.held && !self.is_throttled()
    }

    fn set_ready(&mut self, ready: bool, now: u64) {
        if core::mem::replace(&mut self.ready, ready) == ready {
            return;
        }
        if let Some(server) = &mut self.server {
            if ready {
                server.wake(now);
            } else {
                // What comes at this instant has come before.
                if server.event().is_some_and(|event| event <= now) {
                    server.replenish(now);
                }
                server.idle = Some(now);
            }
        }
    }

    fn priority(&self) -> u16 {
        match self.share {
            Share::Priority(priority) | Share::Partition { priority, .. } => priority,
            _ => 0,
        }
    }

    fn is_background(&self) -> u64 {
        u64::from(matches!(self.share, Share::Partition { number: 0, .. }))
    }

    /// Whether it is served behind those with a limit, and its deadline.
    fn deadline(&self) -> (bool, u64) {
        let job = self.job.deadline.filter(|_| self.job.open).unwrap_or(NEVER);
        let constant =
            |limits: Budget| !matches!(limits.server, Server::Periodic | Server::Sporadic);
        match (&self.server, self.timing) {
            (None, _) => (true, job.max(self.earliest)),
            (Some(server), Some(_)) if !constant(server.limits) => {
                let budget = server.deadline() - server.limits.period + self.span(server.limits);
                (false, job.max(budget).max(server.earliest))
            }
            (Some(server), _) => (false, server.deadline()),
        }
    }

    pub(super) fn limits(&self) -> Option<Budget> {
        self.server.as_ref().map(|server| server.limits)
    }

    fn set_budget(&mut self, limits: Option<Budget>, begins: Begins, span: Option<u64>, now: u64) {
        let old = self.server.take().map(|mut server| {
            if server.idle.is_some() {
                server.wake(now);
                server.idle = Some(now);
            }
            server
        });
        self.overruns = old.as_ref().map_or(self.overruns, |server| server.overruns);
        self.earliest = 0;
        let kind = |limits: Budget| (limits.server, limits.period);
        let is_new = span.is_none() && self.service == 0;
        let goes_on =
            |old: &ModelServer| !is_new && limits.is_some_and(|new| kind(old.limits) == kind(new));
        let used = old.as_ref().map_or(self.gave_up, ModelServer::last);
        self.server = match (old, limits) {
            (Some(old), Some(limits)) if goes_on(&old) => {
                Some(old.resized(limits, span, (begins.more, now)))
            }
            (old, Some(limits)) => {
                let grows = old.map_or(0, |old| old.grows.0);
                let at = match (span, self.service) {
                    (Some(_), _) | (None, 0) => begins.anew,
                    (None, _) => used.max(now + limits.period),
                };
                Some(ModelServer::begin(limits, at.max(grows), now, self.overruns))
            }
            (_, None) => None,
        };
        self.gave_up = if self.server.is_none() { used } else { 0 };
        if let (Some(server), true) = (&mut self.server, self.ready) {
            server.wake(now);
        }
    }

    /// It has come to a class of earliest deadlines.
    fn arrive(&mut self, now: u64) {
        let earliest = self.timing.map_or(0, |timing| now + timing.deadline);
        match &mut self.server {
            Some(server) => {
                if self.ready {
                    server.wake(now);
                }
                server.earliest = earliest;
            }
            None => self.earliest = earliest,
        }
    }

    /// Within which time a budget may be used.
    pub(super) fn span(&self, limits: Budget) -> u64 {
        let jobs =
            self.timing.filter(|_| matches!(limits.server, Server::Periodic | Server::Sporadic));
        jobs.map_or(limits.period, |timing| limits.period.min(timing.deadline))
    }

    fn set_timing(&mut self, timing: Option<Timing>, begins: Begins, now: u64) {
        let span = self.server.as_ref().map_or(0, |server| self.span(server.limits));
        if let Some(server) = &mut self.server {
            let before = server.deadline() + span - server.limits.period;
            server.earliest = server.earliest.max(before);
            if begins.more > now {
                let next = timing.map_or(0, |timing| begins.more + timing.deadline);
                server.earliest = server.earliest.max(next);
            }
        }
        self.timing = timing;
        (self.job.next, self.job.regular) = (0, self.job.regular.min(now));
        if self.job.open {
            self.job.describe(timing);
        }
    }

    fn release(&mut self, now: u64) {
        if core::mem::replace(&mut self.job.open, true) {
            return;
        }
        self.job.release = now;
        self.job.regular = now.max(self.job.next);
        self.job.describe(self.timing);
    }

    fn end(&mut self, now: u64) {
        if !core::mem::replace(&mut self.job.open, false) {
            return;
        }
        let late = self.job.late(now);
        let jobs = &mut self.job.jobs;
        jobs.ended += 1;
        jobs.worst = jobs.worst.max(now - self.job.release);
        if let Some(late) = late {
            jobs.missed += 1;
            jobs.latest = jobs.latest.max(late);
        }
    }

    /// What is counted of its jobs, with one that is late and has not ended.
    fn counted(&self, now: u64) -> Jobs {
        let mut jobs = self.job.jobs;
        if let Some(late) = self.job.late(now).filter(|_| self.job.open) {
            jobs.missed += 1;
            jobs.worst = jobs.worst.max(now - self.job.release);
            jobs.latest = jobs.latest.max(late);
        }
        jobs
    }

    /// The partition whose window an instant is in.
    fn partition(&self, now: u64) -> u16 {
        let (windows, epoch) = &self.windows;
        let (Some(last), Some(time)) = (windows.last(), now.checked_sub(*epoch)) else { return 0 };
        let offset = time % last.end;
        windows.iter().find(|window| offset < window.end).map_or(0, |window| window.partition)
    }

    /// When the window ends that was seen last, if something waits for one.
    fn next_window(&self) -> Option<u64> {
        let now = self.seen;
        let (windows, epoch) = &self.windows;
        if self.queued.is_empty() {
            return None;
        }
        let last = windows.last()?;
        let Some(time) = now.checked_sub(*epoch) else { return Some(*epoch) };
        let offset = time % last.end;
        windows
            .iter()
            .map(|window| window.end)
            .find(|end| offset < *end)
            .map(|end| now - offset + end)
    }
}
