//! A plain model of the tree: lists and scans, 128-bit times, no sorted sets and no cached state
//! but that of servers, jobs and windows. It is told what the tree runs, says what each node has
//! to be like, and whether a choice is one that the policies allow. Service curves have tests of
//! their own: here any ready child is as good as another.

use super::*;
use abi::reservation::LEAST_BUDGET;

pub(super) struct ModelServer {
    limits: Budget,
    left: i128,
    until: u64,
    idle: Option<u64>,
    /// Of a sporadic server: instants and amounts.
    list: Vec<(u64, u64)>,
    throttled: bool,
    overruns: u32,
}

impl ModelServer {
    fn new(limits: Budget, now: u64, overruns: u32) -> ModelServer {
        let until = if limits.server == Server::Periodic { now + limits.period } else { now };
        let (left, list) = (limits.budget.into(), vec![(now, limits.budget)]);
        ModelServer { limits, left, until, idle: Some(now), list, throttled: false, overruns }
    }

    fn wake(&mut self, now: u64) {
        let Budget { server, budget, period } = self.limits;
        let (full, idle) = (i128::from(budget), self.idle.take());
        match server {
            Server::Periodic => {
                while self.until <= now {
                    self.next_period();
                }
                let since = idle.unwrap_or(now).max(self.until - period);
                let floor = self.left.min(0);
                self.left = (self.left - i128::from(now - since)).max(floor);
            }
            Server::Constant | Server::ConstantSoft if self.throttled => self.catch_up(now),
            Server::Constant | Server::ConstantSoft => {
                let time = i128::from(self.until) - i128::from(now);
                if time <= 0 || self.left * i128::from(period) >= time * full {
                    (self.until, self.left) = (now + period, full);
                }
            }
            Server::Sporadic => {
                let due = self.list.iter().take_while(|entry| entry.0 <= now).count();
                let amount = self.list.drain(..due).map(|entry| entry.1).sum();
                if due > 0 {
                    self.list.insert(0, (now, amount));
                    self.join_small();
                }
            }
        }
        self.throttled = self.is_exhausted(now);
    }

    fn next_period(&mut self) {
        self.until += self.limits.period;
        self.left =
            (self.left.min(0) + i128::from(self.limits.budget)).min(self.limits.budget.into());
    }

    /// A deadline that is over: each period since brings a budget, and the last one a deadline.
    fn catch_up(&mut self, now: u64) {
        let first = self.until;
        while self.until <= now {
            self.next_period();
        }
        if self.until > first + self.limits.period {
            self.until = now + self.limits.period;
        }
    }

    fn is_exhausted(&self, now: u64) -> bool {
        match self.limits.server {
            Server::Sporadic => self.list[0].0 > now,
            _ => self.left <= 0,
        }
    }

    fn join_small(&mut self) {
        while self.list.len() > 1 && self.list[0].1 < LEAST_BUDGET {
            let (_, small) = self.list.remove(0);
            self.list[0].1 += small;
        }
    }

    fn charge(&mut self, time: u64, now: u64) {
        let Budget { server, budget, period } = self.limits;
        self.left -= i128::from(time);
        let mut rest = time;
        let oldest = (now - time).saturating_sub(period);
        self.list.iter_mut().for_each(|entry| entry.0 = entry.0.max(oldest));
        while server == Server::Sporadic && rest > 0 {
            let used = rest.min(self.list[0].1);
            let at = self.list[0].0 + period;
            (rest, self.list[0].1) = (rest - used, self.list[0].1 - used);
            if self.list[0].1 == 0 {
                self.list.remove(0);
            }
            let full = self.list.len() == REPLENISHMENTS;
            match self.list.last_mut() {
                Some(last) if full || last.0 == at => *last = (at, last.1 + used),
                _ => self.list.push((at, used)),
            }
        }
        self.join_small();
        if self.throttled || !self.is_exhausted(now) {
            return;
        }
        self.overruns += 1;
        self.throttled = server != Server::ConstantSoft;
        while !self.throttled && self.left <= 0 {
            self.left += i128::from(budget);
            self.until += period;
        }
    }

    /// Its next instant, while something in it is ready.
    fn event(&self) -> Option<u64> {
        match self.limits.server {
            Server::Periodic => Some(self.until),
            Server::Constant => self.throttled.then_some(self.until),
            Server::Sporadic => self.throttled.then_some(self.list[0].0),
            Server::ConstantSoft => None,
        }
    }

    fn replenish(&mut self, now: u64) {
        match self.limits.server {
            Server::Periodic => {
                while self.until <= now {
                    self.next_period();
                }
            }
            Server::Constant | Server::ConstantSoft => self.catch_up(now),
            Server::Sporadic => {}
        }
        self.throttled = self.is_exhausted(now);
    }

    /// When it is exhausted if it runs on.
    fn end(&self, now: u64) -> u64 {
        match self.limits.server {
            Server::Sporadic => now + self.list[0].1,
            _ => now + u64::try_from(self.left.max(0)).expect("small"),
        }
    }

    fn deadline(&self) -> u64 {
        match self.limits.server {
            Server::Sporadic => self.list[0].0 + self.limits.period,
            _ => self.until,
        }
    }
}

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
    pub(super) timing: Option<Timing>,
    job: ModelJob,
    pub(super) windows: (Vec<Window>, u64),
    pub(super) ready: bool,
    /// Taken out of its class while it is changed.
    held: bool,
    pub(super) service: u64,
}

/// The nodes but the root, which is [`Model::ROOT`].
pub(super) struct Model {
    pub(super) nodes: Vec<ModelNode>,
    pub(super) running: Option<NodeId>,
    pub(super) since: u64,
}

impl Model {
    pub(super) const ROOT: NodeId = NodeId(0);

    pub(super) fn new() -> Model {
        let mut model = Model { nodes: vec![], running: None, since: 0 };
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
            timing: None,
            job: ModelJob::default(),
            windows: (vec![], 0),
            ready: false,
            held: false,
            service: 0,
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
    fn candidates(&self, id: NodeId, now: u64) -> Vec<&ModelNode> {
        let current = self.node(id).partition(now);
        self.children(id)
            .filter(|child| child.ready && !child.held && !child.is_throttled())
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
                let ready = !self.candidates(id, now).is_empty();
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
        for id in self.path(leaf) {
            let node = self.node_mut(id);
            node.service += time;
            if let Some(server) = &mut node.server {
                server.charge(time, now);
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
        self.nodes.retain(|node| node.id != id);
        self.settle(now);
    }

    /// The next instant of any server or window.
    pub(super) fn next_event(&self, now: u64) -> u64 {
        let servers = self.nodes.iter().filter(|node| node.ready);
        let servers = servers.filter_map(|node| node.server.as_ref()?.event());
        let waits = |child: &ModelNode| child.ready && !child.is_throttled();
        let windows = self.nodes.iter().filter(|node| self.children(node.id).any(waits));
        let windows = windows.filter_map(|node| node.next_window(now));
        servers.chain(windows).min().unwrap_or(NEVER)
    }

    /// Serves all instants that have come.
    pub(super) fn advance(&mut self, now: u64) {
        self.account(now);
        self.settle(now);
        loop {
            let due = |node: &&ModelNode| -> Option<u64> {
                node.server.as_ref()?.event().filter(|event| node.ready && *event <= now)
            };
            let first = self.nodes.iter().filter(|node| due(node).is_some()).min_by_key(due);
            let Some(id) = first.map(|node| node.id) else { return };
            if let Some(server) = &mut self.node_mut(id).server {
                server.replenish(now);
            }
            self.settle(now);
        }
    }

    /// Checks a choice against all policies on the path to it, and notes it.
    pub(super) fn choose(&mut self, pick: Pick, now: u64) {
        let mut latest = self.next_event(now);
        let path = pick.leaf.map_or(vec![Model::ROOT], |leaf| self.path(leaf));
        for pair in path.windows(2).rev() {
            let (child, class) = (self.node(pair[0]), self.node(pair[1]));
            let others = self.candidates(class.id, now);
            assert!(others.iter().any(|other| other.id == child.id), "it cannot run");
            let is_best = |rank: &dyn Fn(&ModelNode) -> u64| {
                others.iter().all(|other| rank(other) <= rank(child))
            };
            let best = match class.policy {
                Some(Policy::FixedPriority) => is_best(&|node| node.priority().into()),
                Some(Policy::EarliestDeadline) => is_best(&|node| NEVER - node.deadline()),
                Some(Policy::Partitions) => {
                    is_best(&|node| 2 * u64::from(self.urgency(node, now)) + node.is_background())
                }
                _ => true,
            };
            assert!(best, "{:?} chooses another child", class.policy);
            latest = latest.min(child.server.as_ref().map_or(NEVER, |server| server.end(now)));
        }
        assert_eq!(pick.leaf.is_some(), self.node(Model::ROOT).ready, "something ready waits");
        assert!(pick.until <= latest, "the decision is too late: {} {latest}", pick.until);
        self.running = pick.leaf;
    }

    fn urgency(&self, node: &ModelNode, now: u64) -> u16 {
        if node.policy != Some(Policy::FixedPriority) {
            return node.priority();
        }
        let children = self.candidates(node.id, now);
        children.into_iter().map(ModelNode::priority).max().unwrap_or(0)
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

    fn set_ready(&mut self, ready: bool, now: u64) {
        if core::mem::replace(&mut self.ready, ready) == ready {
            return;
        }
        if let Some(server) = &mut self.server {
            if ready {
                server.wake(now);
            } else {
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

    fn deadline(&self) -> u64 {
        let constant =
            |limits: Budget| !matches!(limits.server, Server::Periodic | Server::Sporadic);
        match &self.server {
            Some(server) if self.timing.is_none() || constant(server.limits) => server.deadline(),
            _ => self.job.deadline.unwrap_or(NEVER),
        }
    }

    pub(super) fn set_budget(&mut self, limits: Option<Budget>, now: u64) {
        let overruns = self.server.take().map_or(self.overruns, |server| server.overruns);
        self.overruns = overruns;
        let limits = limits.filter(|limits| limits.budget < limits.period);
        self.server = limits.map(|limits| ModelServer::new(limits, now, overruns));
        if let (Some(server), true) = (&mut self.server, self.ready) {
            server.wake(now);
        }
    }

    pub(super) fn set_timing(&mut self, timing: Option<Timing>, now: u64) {
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

    /// When the window ends that an instant is in.
    fn next_window(&self, now: u64) -> Option<u64> {
        let (windows, epoch) = &self.windows;
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
