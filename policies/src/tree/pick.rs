//! The decision: which leaf a CPU runs, and until when at most.

use super::avl::{self, NIL};
use super::curve::NEVER;
use super::frame::Frame;
use super::node::{ByEligible, ByKey, Node, Role};
use super::shared::Asked;
use super::{NodeId, Tree, TreeCpu};
use abi::reservation::Policy;

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The leaf to run; none: nothing is ready, or may run.
    pub leaf: Option<NodeId>,
    /// When the next decision is due, unless something happens before; [`NEVER`] if never.
    pub until: u64,
}

/// What a step of a decision has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It has passed a level: charged it for what ran, or told it what has happened below. The next
    /// step is at the same instant, unless something happens before.
    Passed,
    /// It has served an instant of this node that had come. That takes its time, which the node
    /// pays for: [`Tree::owe`].
    Served(NodeId),
    /// It has decided.
    Chosen(Pick),
}

/// What is to be served before a decision.
pub(super) enum Due {
    /// What has come to this node.
    Node(u32),
    /// This node of the background, which may not run there any more.
    Behind(u32),
}

impl Tree<'_> {
    /// Decides for a CPU, all steps at one instant.
    pub fn pick(&mut self, cpu: usize, now: u64) -> Pick {
        loop {
            if let Step::Chosen(pick) = self.step(cpu, now) {
                self.settle_decision(cpu, now);
                return pick;
            }
        }
    }

    /// Takes the next step of a CPU's decision: it passes a level, serves one instant that has
    /// come, or decides. A leaf that is chosen is charged from then on. Between two steps anything
    /// may happen, and what the CPU runs then is charged as before.
    #[inline(always)]
    pub fn step(&mut self, cpu: usize, now: u64) -> Step {
        if cpu >= self.shared_cpu() {
            return Step::Chosen(Pick { leaf: None, until: NEVER });
        }
        let now = self.note(cpu, now);
        self.begin_decision(cpu);
        let passed = self.pass_level(cpu);
        let state = &mut self.cpus[cpu];
        if state.has_ended && state.payer == NIL {
            state.payer = state.running;
        }
        if let Some(told) = passed {
            // Of several leaves that were woken the last one would pay for all.
            let others = told != NIL && state.payer != NIL && state.payer != told;
            return if others { Step::Served(NodeId(told)) } else { Step::Passed };
        }
        if let Some(leaf) = self.only_plain(cpu) {
            return Step::Chosen(self.chosen(cpu, (leaf, NEVER), NIL, now));
        }
        match self.decide(cpu, now) {
            Ok(((leaf, until), behind)) => {
                let pick = self.chosen(cpu, (leaf, until), behind, now);
                if self.looks_at_shared(cpu) {
                    self.take_child(cpu, leaf);
                }
                Step::Chosen(pick)
            }
            Err(due) => Step::Served(NodeId(self.serve_before(due, now))),
        }
    }

    /// The decision of a CPU is left: what it runs and waits for budget runs no longer, so that
    /// what happens before the decision is not at its cost.
    pub fn leave_decision(&mut self, cpu: usize) {
        if let Some(state) = self.cpus.get_mut(cpu).filter(|state| state.has_ended) {
            state.running = NIL;
        }
    }

    /// Whether a decision of a CPU begins with levels to be passed, perhaps.
    #[inline(always)]
    pub fn passes_levels(&self, cpu: usize) -> bool {
        let runs_node = |state: &TreeCpu| self.nodes.len() > state.running as usize;
        self.cpus.get(cpu).is_some_and(|state| runs_node(state) || self.has_untold(cpu))
    }

    /// A CPU runs a leaf, or none, until an instant; in the background, if in a node there.
    #[inline(always)]
    fn chosen(&mut self, cpu: usize, (leaf, until): (u32, u64), behind: u32, now: u64) -> Pick {
        let state = &mut self.cpus[cpu];
        (state.running, state.until, state.began) = (leaf, until, now);
        state.idles = leaf == NIL;
        (state.behind, state.asked) = (behind, Asked::No);
        (state.has_ended, state.decides) = (false, false);
        if state.payer == leaf {
            // It pays as what runs.
            state.payer = NIL;
        }
        Pick { leaf: (leaf != NIL).then_some(NodeId(leaf)), until }
    }

    /// Serves what has come to a node.
    #[cold]
    #[inline(never)]
    fn serve_before(&mut self, due: Due, now: u64) -> u32 {
        match due {
            Due::Node(at) => {
                if !self.sees_miss(at, now) {
                    self.serve(at, now);
                }
                at
            }
            Due::Behind(at) => {
                self.send_back(at, now);
                at
            }
        }
    }

    /// A leaf, or [`NIL`], until when, and the node of the background that it is in, or [`NIL`]; or
    /// what must be served before.
    #[inline(always)]
    fn decide(&mut self, cpu: usize, now: u64) -> Result<((u32, u64), u32), Due> {
        let (leaf, until) = match self.looks_at_shared(cpu) {
            true => self.choose_with_shared(cpu, now)?,
            false => self.choose_own(cpu, now)?,
        };
        let until = until.min(self.due_misses(cpu, leaf, now).map_err(Due::Node)?);
        match leaf == NIL && self.cpus[cpu].background != NIL {
            true => self.choose_behind(cpu, until, now),
            false => Ok(((leaf, until), NIL)),
        }
    }

    /// What goes first below a CPU's own root.
    #[inline(always)]
    pub(super) fn choose_own(&mut self, cpu: usize, now: u64) -> Result<(u32, u64), Due> {
        let chosen = match self.chaos {
            0 => self.choose_at_root(cpu, now),
            _ => self.descend_by_chance(self.cpus[cpu].root, now),
        };
        chosen.map_err(Due::Node)
    }

    /// The same below a child of the shared class.
    #[inline(always)]
    pub(super) fn choose(&mut self, top: u32, now: u64) -> Result<(u32, u64), Due> {
        let chosen = match self.chaos {
            0 => self.descend(top, NIL, now),
            _ => self.descend_by_chance(top, now),
        };
        chosen.map_err(Due::Node)
    }

    /// The leaf that is chosen, or [`NIL`], and until when; or a node whose instant has come, which
    /// must be served before. The limit of one node does not hold.
    pub(super) fn descend(&mut self, top: u32, free: u32, now: u64) -> Result<(u32, u64), u32> {
        let mut until = NEVER;
        let mut at = top;
        while let Some(node) = self.nodes.get(at as usize) {
            if at != free {
                if node.server.is_overdue(now) {
                    return Err(at);
                }
                let by_deadline = self.policy_of(node.parent) == Some(Policy::EarliestDeadline);
                let period = if by_deadline { node.server.period_end() } else { NEVER };
                until = until.min(now.saturating_add(node.server.left())).min(period);
            }
            let (queue, role) = (node.queue, node.role);
            if role == Role::Leaf {
                let miss = node.job.event();
                let is_due = miss <= now && miss != NEVER;
                return if is_due { Err(at) } else { Ok((at, until.min(miss))) };
            }
            until = until.min(self.due_in(at, now)?).min(self.due_in_partitions(at, now)?);
            at = match role {
                Role::Class(Policy::FixedPriority) => self.pick_highest(queue, now, &mut until),
                Role::Class(Policy::EarliestDeadline) => {
                    avl::first::<Node, ByKey>(self.nodes, queue)
                }
                Role::Class(Policy::ServiceCurves) => self.pick_curve(at, now, &mut until),
                Role::Class(Policy::Partitions) => self.pick_partition(at),
                Role::Leaf | Role::Vacant(_) => NIL,
            };
        }
        Ok((NIL, until))
    }

    /// The same of a class of time partitions: its window may have ended, and how urgent its
    /// candidates are goes by what is ready in them.
    #[inline(always)]
    pub(super) fn due_in_partitions(&self, class: u32, now: u64) -> Result<u64, u32> {
        let node = &self.nodes[class as usize];
        let Some(frame) = self.frames.get(node.frame as usize) else { return Ok(NEVER) };
        if self.window_is_over(class, now) {
            return Err(class);
        }
        let mut until = frame.until();
        for number in [0, frame.partition()] {
            let candidate = self.partition(node.queue, number);
            if self.policy_of(candidate) == Some(Policy::FixedPriority) {
                until = until.min(self.due_in(candidate, now)?);
            }
        }
        Ok(until)
    }

    fn pick_highest(&self, queue: u32, now: u64, until: &mut u64) -> u32 {
        let first = avl::first::<Node, ByKey>(self.nodes, queue);
        if avl::has_two::<Node, ByKey>(self.nodes, queue) {
            let node = &self.nodes[first as usize];
            let next = avl::next::<Node, ByKey>(self.nodes, first);
            if self.nodes.get(next as usize).is_some_and(|next| next.key == node.key) {
                *until = (*until).min(now.saturating_add(node.slice));
            }
        }
        first
    }

    /// Of those that must be served the one of the earliest deadline; if there is none, down to
    /// the leaf the child of the least virtual time (S4-04).
    fn pick_curve(&mut self, top: u32, now: u64, until: &mut u64) -> u32 {
        let waiting = self.nodes[top as usize].fair.waiting;
        let due = avl::least_up_to::<Node, ByEligible>(self.nodes, waiting, now);
        let (chosen, mut rivals) = match due {
            NIL => self.pick_share(top),
            _ => (due, false),
        };
        if due != NIL {
            let mut class = self.nodes[due as usize].parent;
            loop {
                rivals |= avl::has_two::<Node, ByKey>(self.nodes, self.nodes[class as usize].queue);
                if class == top {
                    break;
                }
                class = self.nodes[class as usize].parent;
            }
        }
        if rivals {
            *until = (*until).min(now.saturating_add(self.quantum));
            if due == NIL {
                let first = avl::first::<Node, ByEligible>(self.nodes, waiting);
                let next = self.nodes.get(first as usize);
                *until = (*until).min(next.map_or(NEVER, |node| node.fair.eligible_at));
            }
        }
        if let Some(node) = self.nodes.get_mut(chosen as usize) {
            node.fair.is_due = due != NIL;
        }
        chosen
    }

    /// The child of the least virtual time, and again its child while that is a class of service
    /// curves; and whether any of them has a sibling.
    fn pick_share(&self, top: u32) -> (u32, bool) {
        let (mut at, mut rivals) = (top, false);
        loop {
            let queue = self.nodes[at as usize].queue;
            rivals |= avl::has_two::<Node, ByKey>(self.nodes, queue);
            at = avl::first::<Node, ByKey>(self.nodes, queue);
            if self.policy_of(at) != Some(Policy::ServiceCurves) {
                return (at, rivals);
            }
        }
    }

    /// The partition whose window it is or the background partition, whichever is more urgent; a
    /// tie goes to the background (S2D-08).
    #[inline(always)]
    fn pick_partition(&self, class: u32) -> u32 {
        let node = &self.nodes[class as usize];
        let queue = node.queue;
        let partition = self.frames.get(node.frame as usize).map_or(0, Frame::partition);
        let background = self.partition(queue, 0);
        let current = self.partition(queue, partition);
        if background == NIL {
            return current;
        }
        let wins = current != NIL && self.urgency(current) > self.urgency(background);
        if wins { current } else { background }
    }

    /// The priority of the node; of a class of fixed priorities that of its most urgent child, if
    /// it is lower: who makes leaves in a class cannot make it more urgent.
    fn urgency(&self, at: u32) -> u16 {
        let node = &self.nodes[at as usize];
        match node.policy() {
            Some(Policy::FixedPriority) => {
                let first = avl::first::<Node, ByKey>(self.nodes, node.queue);
                self.nodes.get(first as usize).map_or(0, Node::priority).min(node.priority())
            }
            _ => node.priority(),
        }
    }
}
