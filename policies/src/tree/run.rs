//! What happens to nodes: they become ready and block, are charged, and their instants come.

use super::admit::span;
use super::avl::{self, NIL};
use super::curve::NEVER;
use super::job::Job;
use super::node::{ByEligible, ByKey, Node, Role};
use super::{NodeId, Tree};
use abi::reservation::{LEVELS, Policy, Share};
use core::mem;

/// Added to the deadlines of what has no limit: above all others.
const UNPROMISED: u128 = 1 << 64;

impl Tree<'_> {
    /// A thread of this leaf became ready, at an instant: the first one, or nothing changes.
    /// Whether something has, so that a decision is due. Nothing happens if this is no leaf.
    pub fn wake(&mut self, leaf: NodeId, now: u64) -> bool {
        self.wake_late(leaf, now, now)
    }

    /// The same, told only now: it became ready at an instant that is past. All of this comes out
    /// as if it had been told then, but not before the last instant at which the child of the root
    /// that it is in could have run: since then its CPU has run nothing but what is above that, and
    /// nothing in it was blocked or changed. So whatever instant is told, nothing could have come
    /// out otherwise meanwhile. In the class that all CPUs share it is now.
    pub fn wake_late(&mut self, leaf: NodeId, since: u64, now: u64) -> bool {
        self.wake_for(leaf, (since, now), Job::release)
    }

    /// The same for a thread that starts up, and has no job before [`Tree::next_job`] says so.
    pub fn start(&mut self, leaf: NodeId, now: u64) -> bool {
        self.wake_for(leaf, (now, now), |job, now| job.start(NEVER, now))
    }

    /// As [`Tree::wake_late`], for a thread that may have no job: [`Tree::next_job`] says so if it
    /// has one, released when it became ready, or later.
    pub fn start_again(&mut self, leaf: NodeId, since: u64, now: u64) -> bool {
        self.wake_for(leaf, (since, now), |job, since| job.start(since, since))
    }

    #[inline(always)]
    fn wake_for(
        &mut self,
        leaf: NodeId,
        (since, now): (u64, u64),
        begin: impl Fn(&mut Job, u64),
    ) -> bool {
        if let Some(plain) = self.plain(leaf.0) {
            return self.wake_plain(plain);
        }
        if !self.is_leaf(leaf) {
            return false;
        }
        if self.nodes[leaf.index()].ready {
            if self.nodes[leaf.index()].server.stands_by {
                self.stands_by(leaf, false, now);
            }
            return false;
        }
        let accounted = self.account_to(self.cpu_of(leaf.0), now);
        let since = if since < now { self.quiet_since(leaf, since, accounted) } else { accounted };
        let node = &mut self.nodes[leaf.index()];
        node.ready = true;
        begin(&mut node.job, since);
        if !node.behind.is_late {
            node.server.wake(since);
        }
        self.refresh(leaf.0, since);
        true
    }

    /// An instant, but not before the child of the root that a leaf is in could have run last, or
    /// something in it was blocked or changed. Now in the class that all CPUs share, where no child
    /// is above others for good.
    #[cold]
    #[inline(never)]
    fn quiet_since(&self, leaf: NodeId, since: u64, now: u64) -> u64 {
        let (root, child) = self.top(leaf.0);
        if self.is_shared_class(root) {
            return now;
        }
        let (child, home) = (&self.nodes[child as usize], self.nodes[root as usize].cpu);
        let levels = &self.cpus[usize::from(home)].levels;
        since.max(child.stirred).max(levels.above_since(child.priority())).min(now)
    }

    /// Something in a node that its CPU does not run is blocked, or something is changed: what has
    /// run is charged before. The instant, as [`Tree::account_to`] says it.
    #[cold]
    #[inline(never)]
    pub(super) fn stir(&mut self, mut at: u32, now: u64) -> u64 {
        let now = self.account_to(self.cpu_of(at), now);
        while let Some(node) = self.nodes.get_mut(at as usize) {
            node.stirred = now;
            at = node.parent;
        }
        now
    }

    /// No thread of this leaf is ready any more. Its job ends, or is to go on later. The CPU runs
    /// it no longer; until the next decision there ends, the kernel works for it. Nothing happens
    /// if this is no leaf.
    pub fn block(&mut self, leaf: NodeId, now: u64, ends_job: bool) {
        if let Some(plain) = self.plain(leaf.0) {
            return self.block_plain(leaf.0, plain, now);
        }
        if !self.is_leaf(leaf) || !self.nodes[leaf.index()].ready {
            return;
        }
        let cpu = self.cpu_of(leaf.0);
        let now = self.account_to(cpu, now);
        if self.cpus[cpu].running == leaf.0 {
            self.stop_running(cpu);
        } else {
            self.stir(leaf.0, now);
        }
        let node = &mut self.nodes[leaf.index()];
        node.ready = false;
        let is_miss = ends_job && node.job.end(now);
        if !node.behind.is_late {
            node.server.sleep(now);
        }
        node.behind.is_late &= !ends_job;
        self.refresh(leaf.0, now);
        if is_miss {
            self.notice_miss(leaf.0);
        }
    }

    /// The job of a leaf ends, and its next one is there: it was released at this instant, or where
    /// that is not known (`None`) as early as jobs of its kind may come. So the leaf does not
    /// block. Whether its urgency may be another one, so that a decision is due. Nothing happens if
    /// this is no leaf.
    pub fn next_job(&mut self, leaf: NodeId, released: Option<u64>, now: u64) -> bool {
        if !self.is_leaf(leaf) {
            return false;
        }
        let now = self.account_to(self.cpu_of(leaf.0), now);
        let node = &mut self.nodes[leaf.index()];
        let is_miss = node.job.next(released, now);
        if node.job.timing.is_none() && !node.behind.is_late {
            return false;
        }
        node.catch_up(now);
        self.sort_by_deadline(leaf.0);
        self.refresh(leaf.0, now);
        if is_miss {
            self.notice_miss(leaf.0);
        }
        true
    }

    /// The thread whose job it was has ended: so has the job, unless other threads of this leaf are
    /// ready. What runs on it next begins with a job of its own. No monitor is told.
    pub fn end_job(&mut self, leaf: NodeId, now: u64) {
        if !self.is_leaf(leaf) || self.nodes[leaf.index()].ready {
            return;
        }
        let now = self.account_to(self.cpu_of(leaf.0), now);
        let node = &mut self.nodes[leaf.index()];
        node.job.end(now);
        node.behind.is_late = false;
        self.refresh(leaf.0, now);
    }

    /// A leaf that is ready goes behind its equals, in a class of fixed priorities.
    pub fn rotate(&mut self, leaf: NodeId, now: u64) {
        if let Some(plain) = self.plain(leaf.0) {
            self.account_to(plain.0, now);
            return self.rotate_plain(plain);
        }
        if !self.is_leaf(leaf) {
            return;
        }
        self.account_to(self.cpu_of(leaf.0), now);
        let parent = self.nodes[leaf.index()].parent;
        if self.policy_of(parent) == Some(Policy::FixedPriority) {
            self.nodes[leaf.index()].slice = self.slice;
            self.move_back(leaf.0);
        }
    }

    /// Charges what the CPU has run to the leaf, and to all classes above it.
    pub fn account(&mut self, cpu: usize, now: u64) {
        if cpu < self.cpus.len() {
            self.account_to(cpu, now);
        }
    }

    /// The same for all CPUs.
    pub fn account_all(&mut self, now: u64) {
        (0..self.cpus.len()).for_each(|cpu| self.account(cpu, now));
    }

    /// The same. The instant, or that of the last charge if that was later: time does not go back.
    pub(super) fn account_to(&mut self, cpu: usize, now: u64) -> u64 {
        let state = &mut self.cpus[cpu];
        let now = now.max(state.since);
        let time = now - state.since;
        let (leaf, payer) = (state.running, state.payer);
        if payer != NIL {
            self.owe(cpu, NodeId(payer), now);
            return now;
        }
        state.since = now;
        if leaf == NIL && state.idles {
            state.levels.ran(0, now);
        }
        if leaf == NIL || time == 0 {
            return now;
        }
        let (behind, helped, began, own) = (state.behind, state.helped, state.began, state.root);
        let (mut at, mut changed, mut level) = (leaf, false, 0);
        if let Some(plain) = self.plain(leaf) {
            self.charge_plain(plain, time);
            (at, level) = (NIL, plain.1 as u16);
        }
        while at != behind && at != NIL {
            let owed = mem::take(&mut self.nodes[at as usize].owed);
            changed |= self.charge(at, (time.saturating_add(owed), began), now);
            let node = &self.nodes[at as usize];
            at = node.parent;
            if at == own {
                level = node.priority();
            }
        }
        self.cpus[cpu].levels.ran(level, now);
        if changed && self.throttle(leaf, now) {
            self.cpus[cpu].has_ended = true;
        }
        if at != NIL {
            self.charge_behind(at, time);
        } else if helped != NIL {
            self.charge_helped(helped, leaf, time, now);
        }
        now
    }

    /// Charges one node, which was chosen at an instant. Whether its budget is exhausted, or its
    /// server has another instant. Two charges that follow each other come out as one.
    fn charge(&mut self, at: u32, (time, began): (u64, u64), now: u64) -> bool {
        let parent = self.nodes[at as usize].parent;
        let policy = self.policy_of(parent);
        let node = &mut self.nodes[at as usize];
        node.service = node.service.saturating_add(time);
        // What runs on while nothing in a class is ready moves the instants that it shows.
        let is_changed = node.server.charge((time, began), now) || !node.ready;
        match policy {
            Some(Policy::FixedPriority) => {
                if time < node.slice {
                    node.slice -= time;
                } else {
                    node.slice = self.slice - (time - node.slice) % self.slice;
                    self.move_back(at);
                }
            }
            Some(Policy::ServiceCurves) => {
                self.charge_curves(at, parent, (time, self.quantum), now)
            }
            _ => {}
        }
        is_changed
    }

    /// A child of a class of service curves has run for so long; if its guarantee was why it was
    /// chosen, up to `beyond` was for what that brings later.
    pub(super) fn charge_curves(
        &mut self,
        at: u32,
        parent: u32,
        (time, beyond): (u64, u64),
        now: u64,
    ) {
        let quantum = self.quantum;
        let node = &mut self.nodes[at as usize];
        node.fair.charge(time);
        let part = node.fair.guaranteed_part(time, now, beyond);
        if part > 0 && node.fair.eligible.is_in() {
            let top = self.top_of(parent);
            let waiting = self.nodes[top as usize].fair.waiting;
            let waiting = avl::change::<Node, ByEligible>(self.nodes, waiting, at, true, |node| {
                node.fair.charge_guaranteed(part, quantum);
            });
            self.nodes[top as usize].fair.waiting = waiting;
        } else if part > 0 {
            node.fair.charge_guaranteed(part, quantum);
        }
        let key = self.nodes[at as usize].fair.virtual_time;
        self.set_key(at, key);
    }

    /// Nodes above and with this leaf whose budget is exhausted leave their queues, or have another
    /// deadline. Whether any has left.
    #[cold]
    fn throttle(&mut self, leaf: u32, now: u64) -> bool {
        let (mut at, mut leaves) = (leaf, false);
        while at != NIL {
            self.plan(at);
            self.notice_overrun(at);
            let parent = self.nodes[at as usize].parent;
            if self.nodes[at as usize].server.is_throttled {
                self.refresh(at, now);
                leaves = true;
            } else {
                self.sort_by_deadline(at);
            }
            at = parent;
        }
        leaves
    }

    /// A node's readiness or its budget has changed: its class's queue follows, and the class's
    /// own readiness.
    pub(super) fn refresh(&mut self, mut at: u32, mut now: u64) {
        loop {
            self.follow_background(at, now);
            let node = &self.nodes[at as usize];
            let (parent, wants) = (node.parent, node.wants());
            if parent == NIL || wants == node.is_queued() {
                return self.plan(at);
            }
            if wants {
                self.enqueue(parent, at, now);
            } else {
                self.dequeue(parent, at);
            }
            self.plan(at);
            let Some(since) = self.refresh_class(parent, now) else { return };
            (at, now) = (parent, since);
        }
    }

    /// If the readiness of a class has changed, since when: an instant inside that has come and was
    /// not served yet has made it ready before.
    pub(super) fn refresh_class(&mut self, class: u32, now: u64) -> Option<u64> {
        let ready = self.has_choice(class, now);
        let node = &mut self.nodes[class as usize];
        if node.ready == ready {
            if matches!(node.role, Role::Class(Policy::Partitions)) {
                self.show(class);
            }
            return None;
        }
        node.ready = ready;
        if !ready {
            node.server.sleep(now);
            return Some(now);
        }
        let since = self.first_choice(class, now);
        self.nodes[class as usize].server.wake(since);
        Some(since)
    }

    /// Whether a class has a child that can be chosen now.
    fn has_choice(&mut self, class: u32, now: u64) -> bool {
        let node = &self.nodes[class as usize];
        let queue = node.queue;
        let Some(frame) = self.frames.get_mut(node.frame as usize) else { return queue != NIL };
        frame.go_to(now);
        let partition = frame.partition();
        self.partition(queue, 0) != NIL || self.partition(queue, partition) != NIL
    }

    /// The queued child of this partition, or none.
    pub(super) fn partition(&self, queue: u32, number: u16) -> u32 {
        avl::find::<Node, ByKey>(self.nodes, queue, number.into())
    }

    fn enqueue(&mut self, class: u32, at: u32, now: u64) {
        let key = match self.policy_of(class) {
            Some(Policy::FixedPriority) => {
                u128::from(LEVELS - 1 - self.nodes[at as usize].priority())
            }
            Some(Policy::EarliestDeadline) => self.deadline_of(at),
            Some(Policy::ServiceCurves) => self.wake_curves(class, at, now),
            Some(Policy::Partitions) => match self.nodes[at as usize].share {
                Share::Partition { number, .. } => u128::from(number),
                _ => 0,
            },
            None => 0,
        };
        let sequence = self.next_place();
        let node = &mut self.nodes[at as usize];
        (node.key, node.sequence) = (key, sequence);
        self.insert(class, at);
    }

    /// A child of a class of service curves joins its ready siblings, or begins above all that
    /// were.
    fn wake_curves(&mut self, class: u32, at: u32, now: u64) -> u128 {
        let siblings = match self.nodes[class as usize].queue {
            NIL => self.nodes[class as usize].fair.above,
            queue => self.between(queue, at),
        };
        let (quantum, kept) = (self.quantum, self.nodes[at as usize].fair.is_active);
        let least = if kept { self.kept_up(class) } else { 0 };
        let node = &mut self.nodes[at as usize];
        let is_guaranteed = node.is_leaf_of_one_curve();
        let Share::Curve { guaranteed, share } = node.share else { return 0 };
        match kept {
            true => node.fair.come_back(&share, least),
            false => node.fair.wake(&share, siblings, is_guaranteed),
        }
        node.fair.is_active = true;
        let key = node.fair.virtual_time;
        let is_inner = node.policy() == Some(Policy::ServiceCurves);
        if let (Some(curve), false) = (guaranteed, is_inner) {
            match kept {
                true => node.fair.forfeit(now, quantum),
                false => node.fair.wake_guaranteed(&curve, now, quantum),
            }
            let top = self.top_of(class);
            self.join_waiting(top, at);
        }
        key
    }

    /// The midpoint of the least and the greatest virtual time (S4-04), for a leaf whose share is
    /// its guarantee beside such a last sibling. Others only if a quantum by its share may have
    /// brought the last one so far ahead: one that is served by a guarantee above its share, or
    /// whose share is flat at first, may be ahead by any time, and who lives by shares would wait
    /// for half of that.
    fn between(&self, queue: u32, newcomer: u32) -> u128 {
        let first = &self.nodes[avl::first::<Node, ByKey>(self.nodes, queue) as usize];
        let last = &self.nodes[avl::last::<Node, ByKey>(self.nodes, queue) as usize];
        let is_guaranteed = self.nodes[newcomer as usize].is_leaf_of_one_curve();
        let is_alike = is_guaranteed && last.is_leaf_of_one_curve();
        let is_fair = is_alike || last.key - first.key <= self.quantum_of(last).into();
        if is_fair { first.key.midpoint(last.key) } else { first.key }
    }

    pub(super) fn dequeue(&mut self, class: u32, at: u32) {
        self.remove(class, at);
        if self.policy_of(class) == Some(Policy::ServiceCurves) {
            if self.nodes[at as usize].fair.eligible.is_in() {
                let top = self.top_of(class);
                self.leave_waiting(top, at);
            }
            let fair = &mut self.nodes[at as usize].fair;
            fair.is_active = fair.lent > 0;
            let reached = fair.virtual_time;
            let beside = reached.saturating_sub(self.quantum_of(&self.nodes[at as usize]).into());
            let fair = &mut self.nodes[class as usize].fair;
            (fair.above, fair.beside) = (fair.above.max(reached), fair.beside.max(beside));
        }
    }

    fn insert(&mut self, class: u32, at: u32) {
        let queue = self.nodes[class as usize].queue;
        let queue = avl::insert::<Node, ByKey>(self.nodes, queue, at);
        self.nodes[class as usize].queue = queue;
    }

    fn remove(&mut self, class: u32, at: u32) {
        let queue = self.nodes[class as usize].queue;
        let queue = avl::remove::<Node, ByKey>(self.nodes, queue, at);
        self.nodes[class as usize].queue = queue;
    }

    fn join_waiting(&mut self, top: u32, at: u32) {
        let waiting = self.nodes[top as usize].fair.waiting;
        let waiting = avl::insert::<Node, ByEligible>(self.nodes, waiting, at);
        self.nodes[top as usize].fair.waiting = waiting;
    }

    fn leave_waiting(&mut self, top: u32, at: u32) {
        let waiting = self.nodes[top as usize].fair.waiting;
        let waiting = avl::remove::<Node, ByEligible>(self.nodes, waiting, at);
        self.nodes[top as usize].fair.waiting = waiting;
    }

    /// The class that the guarantees of a class's children are kept in: the last above it of
    /// service curves in a row.
    pub(super) fn top_of(&self, class: u32) -> u32 {
        let mut top = class;
        loop {
            let above = self.nodes[top as usize].parent;
            if self.policy_of(above) != Some(Policy::ServiceCurves) {
                return top;
            }
            top = above;
        }
    }

    /// Puts a node that is queued at the place of another key.
    fn set_key(&mut self, at: u32, key: u128) {
        if self.nodes[at as usize].key != key {
            self.replace(at, |node| node.key = key);
        }
    }

    /// Puts a node that is queued behind its equals.
    fn move_back(&mut self, at: u32) {
        let sequence = self.next_place();
        self.replace(at, |node| node.sequence = sequence);
    }

    /// Changes what a node that is queued goes by.
    #[inline(always)]
    fn replace(&mut self, at: u32, change: impl FnOnce(&mut Node)) {
        let node = &self.nodes[at as usize];
        if !node.is_queued() {
            return;
        }
        let class = node.parent;
        let queue = self.nodes[class as usize].queue;
        let queue = avl::change::<Node, ByKey>(self.nodes, queue, at, true, change);
        self.nodes[class as usize].queue = queue;
    }

    /// A child of a class of earliest deadlines goes to the place of the deadline that it has now.
    pub(super) fn sort_by_deadline(&mut self, at: u32) {
        if self.policy_of(self.nodes[at as usize].parent) == Some(Policy::EarliestDeadline) {
            let key = self.deadline_of(at);
            self.set_key(at, key);
        }
    }

    /// The deadline that a node is sorted by. A limit is promised, so what goes by it is never
    /// sorted before the deadline of the budget that it uses: that of its server, or if its jobs
    /// have deadlines as long behind the instant at which the budget came. A node without a limit
    /// is promised nothing: it is behind all that have one, by the deadline of its job.
    pub(super) fn deadline_of(&self, at: u32) -> u128 {
        let node = &self.nodes[at as usize];
        match (node.server.deadline(), node.job.timing) {
            (Some(_), Some(_)) if !node.server.is_constant() => {
                let budget = self.budget_deadline(at);
                node.job.deadline.max(budget).max(node.server.earliest).into()
            }
            (Some(budget), _) => budget.into(),
            (None, _) => u128::from(node.job.deadline.max(node.server.earliest)) + UNPROMISED,
        }
    }

    /// The deadline of the budget that a node has now; 0 without a limit.
    pub(super) fn budget_deadline(&self, at: u32) -> u64 {
        let Node { ref server, ref job, .. } = self.nodes[at as usize];
        let (Some(limits), Some(deadline)) = (server.limits, server.deadline()) else { return 0 };
        deadline.saturating_sub(limits.period - span(limits, job.timing))
    }

    #[inline(always)]
    pub(super) fn policy_of(&self, at: u32) -> Option<Policy> {
        self.nodes.get(at as usize)?.policy()
    }
}
