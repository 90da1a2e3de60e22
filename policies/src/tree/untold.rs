//! What happens is told to the classes above it level by level, in steps.
//!
//! What a CPU has run is a *debt*, charged to one node a step, from the leaf upwards. A node that
//! has changed is *untold*: a step tells its class, which is untold then if that changes it. Debts
//! come before changes, and changes in the order in which they happened, each up to the root. So
//! all comes out as if it had been told at once, and a decision begins where nothing is untold.
//!
//! Between two steps anything may happen. What happens then is noted behind what is untold: a leaf
//! that blocks and becomes ready before its class was told goes on. What a CPU runs after its
//! decision has begun is owed ([`Tree::owe`]), so a decision that is left is never longer by that.
//!
//! Whoever changes, moves or removes a node has all of that CPU told at once before, as has the
//! class that all CPUs share.

use super::NodeId;
use super::Tree;
use super::avl::NIL;
use super::curve::NEVER;
use super::node::Role;
use super::plain::Place;
use abi::reservation::Policy;
use core::mem;

/// What a CPU has run and is not charged to all levels.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Debt {
    /// The node that is charged next, or none.
    at: u32,
    leaf: u32,
    time: u64,
    /// When it was chosen, and until when it has run.
    ran: (u64, u64),
    /// The node of the background that it ran in, or none.
    behind: u32,
    /// The leaf that is charged as well, or none.
    helped: u32,
}

/// Changes that are untold at most: a message blocks one leaf and wakes another.
const MOST_UNTOLD: u32 = 2;

/// Levels that are charged in one step at most, where each takes a few instructions.
const CHEAP_LEVELS: u32 = 4;

impl Debt {
    pub(super) const NONE: Debt =
        Debt { at: NIL, leaf: NIL, time: 0, ran: (0, 0), behind: NIL, helped: NIL };
}

/// What a node's class was not told of it.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Untold {
    /// The next node of its CPU that is untold, or none.
    next: u32,
    is_in: bool,
    /// When it has changed.
    since: u64,
    /// Whether this is a leaf whose server is to sleep from then on.
    pub(super) sleeps: bool,
}

impl Untold {
    pub(super) const NOTHING: Untold = Untold { next: NIL, is_in: false, since: 0, sleeps: false };
}

impl Tree<'_> {
    /// From now on what happens on a CPU is told by the steps of its next decision.
    #[must_use]
    pub fn told_in_steps(mut self) -> Self {
        self.in_steps = true;
        self
    }

    /// What has happened to a leaf is told at once, unless it is below the root of this CPU.
    pub fn tell_elsewhere(&mut self, cpu: usize, leaf: NodeId) {
        if self.is_leaf(leaf) {
            let home = self.home_of(leaf.0);
            if home != cpu {
                self.tell_all(home);
            }
        }
    }

    /// Passes a level of what is untold on a CPU, before something is changed there at this instant:
    /// whether there was one. What its leaf runs from now on is owed until its next decision. So is
    /// what it has run for less than `least` nanoseconds: who is preempted between two of these, and
    /// begins anew, gets on.
    pub fn tell_before(&mut self, cpu: usize, now: u64, least: u64) -> bool {
        let Some(state) = self.cpus.get(cpu) else { return false };
        let (time, leaf) = (now.saturating_sub(state.since), NodeId(state.running));
        if state.ran == 0 && time < least && self.is_leaf(leaf) {
            self.cpus[cpu].calls = true;
        }
        self.note(cpu, now);
        let passed = self.pass_level(cpu);
        self.cpus[cpu].calls = true;
        passed.is_some()
    }

    /// Notes what a CPU has run until now: what has no level is charged, the rest is owed or to be
    /// charged. The instant, or that of the last note if that was later.
    pub(super) fn note(&mut self, cpu: usize, now: u64) -> u64 {
        let state = &mut self.cpus[cpu];
        let now = now.max(state.since);
        let time = now - state.since;
        if time == 0 {
            return now;
        }
        let (leaf, helped) = (state.running, state.helped);
        if state.payer != NIL {
            let payer = NodeId(state.payer);
            self.owe(cpu, payer, now);
            return now;
        }
        if leaf == NIL {
            state.since = now;
            if state.idles {
                state.levels.ran(0, now);
            }
        } else if let Some(plain) = self.plain(leaf) {
            self.cpus[cpu].since = now;
            self.note_plain(cpu, plain, time, now);
            if helped != NIL {
                self.charge_helped(helped, leaf, time, now);
            }
        } else {
            let level = self.level_of_running(cpu);
            let state = &mut self.cpus[cpu];
            state.levels.ran(level, now);
            if state.decides || state.calls || state.debt.leaf != NIL {
                self.owe(cpu, NodeId(leaf), now);
            } else {
                state.ran += time;
                state.since = now;
            }
        }
        now
    }

    #[inline(always)]
    fn note_plain(&mut self, cpu: usize, plain: Place, time: u64, now: u64) {
        self.charge_plain(plain, time);
        self.cpus[cpu].levels.ran(plain.1 as u16, now);
    }

    /// The priority below its own root of what a CPU runs; 0 of what is elsewhere.
    fn level_of_running(&self, cpu: usize) -> u16 {
        let state = &self.cpus[cpu];
        if state.behind != NIL {
            return 0;
        }
        let (root, child) = self.top(state.running);
        if root == state.root { self.nodes[child as usize].priority() } else { 0 }
    }

    /// What a CPU has run is to be charged to all levels.
    pub(super) fn owe_levels(&mut self, cpu: usize) {
        let time = mem::take(&mut self.cpus[cpu].ran);
        if time > 0 {
            self.begin_debt(cpu, time);
        }
    }

    fn begin_debt(&mut self, cpu: usize, time: u64) {
        let state = &mut self.cpus[cpu];
        debug_assert!(state.debt.leaf == NIL, "what runs beside a debt is owed");
        let (leaf, ran) = (state.running, (state.began, state.since));
        let (behind, helped) = (state.behind, state.helped);
        state.debt = Debt { at: leaf, leaf, time, ran, behind, helped };
    }

    /// A decision begins: what its leaf owes is charged with what that has run.
    pub(super) fn begin_decision(&mut self, cpu: usize) {
        let state = &self.cpus[cpu];
        let (leaf, decides) = (state.running, state.decides);
        let owes = self.nodes.get(leaf as usize).is_some_and(|node| node.owed > 0);
        if owes && !decides && state.debt.leaf == NIL {
            self.owe_levels(cpu);
            if self.cpus[cpu].debt.leaf == NIL {
                self.begin_debt(cpu, 0);
            }
        }
        (self.cpus[cpu].decides, self.cpus[cpu].calls) = (true, false);
    }

    /// Whether anything on a CPU is not charged or not told.
    #[inline(always)]
    pub(super) fn has_untold(&self, cpu: usize) -> bool {
        let state = &self.cpus[cpu];
        state.ran > 0 || state.debt.leaf != NIL || state.untold[0] != NIL
    }

    /// Charges or tells one level, if there is one: the leaf of which all is told by that, or none.
    #[inline(always)]
    pub(super) fn pass_level(&mut self, cpu: usize) -> Option<u32> {
        self.has_untold(cpu).then(|| self.pass(cpu))
    }

    #[cold]
    #[inline(never)]
    fn pass(&mut self, cpu: usize) -> u32 {
        self.owe_levels(cpu);
        if self.cpus[cpu].debt.leaf != NIL {
            for _ in 0..CHEAP_LEVELS {
                self.charge_level(cpu);
                if !self.is_cheap(self.cpus[cpu].debt.at) {
                    break;
                }
            }
            if self.cpus[cpu].debt.leaf == NIL {
                self.tell_all(self.shared_cpu());
            }
            NIL
        } else {
            self.tell_first(cpu)
        }
    }

    /// All of a CPU is charged and told.
    pub(super) fn tell_all(&mut self, cpu: usize) {
        while self.pass_level(cpu).is_some() {}
    }

    /// Whether a node is charged in a few instructions: it is not sorted by that.
    fn is_cheap(&self, at: u32) -> bool {
        let node = self.nodes.get(at as usize);
        node.is_some_and(|node| self.policy_of(node.parent) != Some(Policy::ServiceCurves))
    }

    /// One level of what a CPU has run is charged.
    fn charge_level(&mut self, cpu: usize) {
        let Debt { at, leaf, time, ran: (began, now), behind, helped } = self.cpus[cpu].debt;
        if at == NIL {
            self.cpus[cpu].debt = Debt::NONE;
            return self.charge_helped(helped, leaf, time, now);
        }
        if at == behind {
            self.cpus[cpu].debt = Debt::NONE;
            return self.charge_behind(at, time);
        }
        let node = &mut self.nodes[at as usize];
        let (owed, parent) = (mem::take(&mut node.owed), node.parent);
        if self.charge(at, (time.saturating_add(owed), began), now) {
            self.notice_overrun(at);
            let node = &self.nodes[at as usize];
            if node.server.is_throttled {
                self.cpus[cpu].has_ended = true;
            } else if node.ready {
                self.sort_by_deadline(at);
            }
            self.is_untold(at, now);
        }
        let next = self.charge_root(parent, behind, time);
        match next == NIL && helped == NIL {
            true => self.cpus[cpu].debt = Debt::NONE,
            false => self.cpus[cpu].debt.at = next,
        }
    }

    /// A root has no limit and no siblings: it is charged with its child. The next node.
    fn charge_root(&mut self, at: u32, behind: u32, time: u64) -> u32 {
        match self.nodes.get_mut(at as usize) {
            Some(root) if root.parent == NIL && at != behind => {
                let time = time.saturating_add(mem::take(&mut root.owed));
                root.service = root.service.saturating_add(time);
                NIL
            }
            _ => at,
        }
    }

    /// A node has changed at an instant. So that a decision has little to be told, two of these are
    /// untold at most: who adds another one tells them at once.
    pub(super) fn has_changed(&mut self, at: u32, since: u64) {
        let home = self.home_of(at);
        if self.cpus[home].changes == MOST_UNTOLD {
            self.tell_all(home);
        }
        self.cpus[home].changes += 1;
        self.is_untold(at, since);
        self.plan_miss(at);
        if self.nodes[at as usize].ready {
            let rank = self.rank_below_root(at).1;
            let first = &mut self.cpus[home].first_untold;
            *first = rank.min(*first);
        }
        if !self.in_steps || home == self.shared_cpu() {
            self.tell_all(self.cpu_of(at));
            self.tell_all(home);
        }
    }

    /// A node is untold, behind all others.
    fn is_untold(&mut self, at: u32, since: u64) {
        let untold = &mut self.nodes[at as usize].untold;
        untold.since = since;
        if mem::replace(&mut untold.is_in, true) {
            return;
        }
        untold.next = NIL;
        let cpu = self.home_of(at);
        let [first, last] = &mut self.cpus[cpu].untold;
        match mem::replace(last, at) {
            NIL => *first = at,
            before => self.nodes[before as usize].untold.next = at,
        }
    }

    /// The first node that is untold is told to its class. If that has changed by it, it goes
    /// before all others. The leaf of which all is told now, or none.
    fn tell_first(&mut self, cpu: usize) -> u32 {
        let [at, last] = self.cpus[cpu].untold;
        let node = &mut self.nodes[at as usize];
        let Untold { next, since, sleeps, .. } = mem::replace(&mut node.untold, Untold::NOTHING);
        if sleeps {
            node.server.sleep(since);
        }
        let state = &mut self.cpus[cpu];
        state.untold = [next, if at == last { NIL } else { last }];
        if node.role == Role::Leaf {
            state.telling = at;
        }
        match self.tell(at, since) {
            Some((class, since)) if !self.nodes[class as usize].untold.is_in => {
                let [first, last] = &mut self.cpus[cpu].untold;
                let next = mem::replace(first, class);
                *last = if next == NIL { class } else { *last };
                self.nodes[class as usize].untold =
                    Untold { next, is_in: true, since, sleeps: false };
                NIL
            }
            _ => {
                let state = &mut self.cpus[cpu];
                if next == NIL {
                    (state.changes, state.first_untold) = (0, NEVER);
                }
                mem::replace(&mut state.telling, NIL)
            }
        }
    }

    /// A node's readiness, its budget or its instants have changed: its class's queue and instants
    /// follow. Its class, if that is to be told of it too, and since when that has changed.
    fn tell(&mut self, at: u32, now: u64) -> Option<(u32, u64)> {
        self.follow_background(at, now);
        let node = &self.nodes[at as usize];
        let (class, wants, was_queued) = (node.parent, node.wants(), node.is_queued());
        if class == NIL {
            return None;
        }
        match (wants, was_queued) {
            (true, false) => self.enqueue(class, at, now),
            (false, true) => self.dequeue(class, at),
            (true, true) => self.sort_by_deadline(at),
            (false, false) => {}
        }
        let is_shown = self.plan_level(at);
        let since = match wants == was_queued {
            true => None,
            false => self.refresh_class(class, now),
        };
        let has_class = self.nodes[class as usize].parent != NIL;
        (has_class && (is_shown || since.is_some())).then(|| (class, since.unwrap_or(now)))
    }

    /// The same of all levels, at once.
    pub(super) fn refresh(&mut self, mut at: u32, mut now: u64) {
        while let Some(class) = self.tell(at, now) {
            (at, now) = class;
        }
    }
}
