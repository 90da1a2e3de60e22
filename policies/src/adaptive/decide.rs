//! What classes give to their children, and take from others for it.

use super::server::{Above, MOST, Refused, Server, check, children, rank};
use core::cmp::Reverse;

/// The budgets of all servers from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    budgets: [u64; MOST],
    asked: [u64; MOST],
    before: [u64; MOST],
    count: usize,
}

impl Decision {
    /// The budgets, in the order of the servers.
    pub fn budgets(&self) -> &[u64] {
        &self.budgets[..self.count]
    }

    /// What each of them has asked for by now.
    pub fn asked(&self) -> &[u64] {
        &self.asked[..self.count]
    }

    /// The servers whose budgets are to be changed, and their new budgets. Those that get less come
    /// first, children before their classes, then those that get more, classes before their
    /// children: set in this order, no class ever promises more than it has.
    pub fn changes(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let all = || (0..self.count).map(|at| (at, self.budgets[at]));
        let less = all().rev().filter(|(at, new)| *new < self.before[*at]);
        less.chain(all().filter(|(at, new)| *new > self.before[*at]))
    }
}

/// Decides about those servers for which it is known what their own tasks want, in nanoseconds in
/// each period (S2B-12).
///
/// Children come first: each of these servers asks for what its tasks want, and for what its
/// children ask for and have. What asks for less than it has gives that back. Then, from the root
/// on and by importance, each gets what it asks for, as far as more important siblings and the
/// least budgets of the others leave it. Where the class has not enough for all of them, less
/// important ones get less, the least important first, none below its least budget; in a class that
/// gets less, its children do in the same way. O(n^2) steps for n servers, [`MOST`] at most.
///
/// # Errors
/// [`Refused`]: nothing is changed.
pub fn decide(servers: &[Server], wanted: &[Option<u64>]) -> Result<Decision, Refused> {
    check(servers)?;
    if wanted.len() != servers.len() {
        return Err(Refused::Unsound);
    }
    let mut plan = Plan::of(servers);
    for (at, wanted) in wanted.iter().enumerate().rev() {
        if let Some(wanted) = wanted {
            plan.ask(at, *wanted);
        }
    }
    let mut order = [0; MOST];
    let mut count = 0;
    for (at, _) in wanted.iter().enumerate().filter(|(_, wanted)| wanted.is_some()) {
        (order[count], count) = (at, count + 1);
    }
    let order = &mut order[..count];
    order.sort_unstable_by_key(|at| (depth(servers, *at), Reverse(rank(servers, *at))));
    order.iter().for_each(|at| plan.grant(*at));
    Ok(plan.decision)
}

/// A decision that is being taken.
struct Plan<'a> {
    servers: &'a [Server],
    decision: Decision,
}

impl Plan<'_> {
    /// All stays as it is.
    fn of(servers: &[Server]) -> Plan<'_> {
        let (mut before, mut asked) = ([0; MOST], [0; MOST]);
        for (at, server) in servers.iter().enumerate() {
            (before[at], asked[at]) = (server.budget, server.asked);
        }
        let decision = Decision { budgets: before, asked, before, count: servers.len() };
        Plan { servers, decision }
    }

    /// What its tasks want, and what is inside has or asks for.
    fn ask(&mut self, at: usize, wanted: u64) {
        let Decision { budgets, asked, .. } = &mut self.decision;
        let inside = children(self.servers, Above::Adaptive(at));
        let inside = inside.map(|child| self.servers[child].rate(asked[child].max(budgets[child])));
        let server = &self.servers[at];
        asked[at] = wanted.saturating_add(server.budget_for(inside.sum()));
        budgets[at] = budgets[at].min(asked[at].max(server.least));
    }

    /// What it asks for, as far as its class can give it.
    fn grant(&mut self, at: usize) {
        let server = &self.servers[at];
        let own = rank(self.servers, at);
        // What no decision about this one touches: the more important ones, and least budgets.
        let others = children(self.servers, server.above).filter(|other| *other != at);
        let kept = others.map(|other| match rank(self.servers, other) < own {
            true => self.servers[other].rate(self.servers[other].least),
            false => self.servers[other].rate(self.decision.budgets[other]),
        });
        let available = self.supply(server.above).saturating_sub(kept.sum());
        // All that there is now fits, so what it has is available.
        let most = server.budget_of(available).max(self.decision.budgets[at]);
        self.decision.budgets[at] = self.decision.asked[at].clamp(server.least, most);
        let mut is_cut = [false; MOST];
        self.cut(server.above, own, &mut is_cut);
        for class in 0..self.servers.len() {
            if is_cut[class] {
                self.cut(Above::Adaptive(class), (u32::MAX, Reverse(0)), &mut is_cut);
            }
        }
    }

    /// Takes what a class lacks from those of its children that are below a rank.
    fn cut(&mut self, class: Above, below: (u32, Reverse<usize>), is_cut: &mut [bool; MOST]) {
        let servers = self.servers;
        let budgets = &mut self.decision.budgets;
        let promised: u64 = children(servers, class).map(|at| servers[at].rate(budgets[at])).sum();
        let mut excess = promised.saturating_sub(self.supply(class));
        if excess == 0 {
            return;
        }
        let mut order = [0; MOST];
        let mut count = 0;
        for at in children(servers, class).filter(|at| rank(servers, *at) < below) {
            (order[count], count) = (at, count + 1);
        }
        let order = &mut order[..count];
        order.sort_unstable_by_key(|at| rank(servers, *at));
        for at in order.iter().copied() {
            let (server, budget) = (&servers[at], self.decision.budgets[at]);
            let had = server.rate(budget);
            let left = server.budget_of(had.saturating_sub(excess)).clamp(server.least, budget);
            self.decision.budgets[at] = left;
            excess = excess.saturating_sub(had - server.rate(left));
            is_cut[at] |= left < budget;
        }
    }

    /// What a class has for these servers, in millionths.
    fn supply(&self, class: Above) -> u64 {
        match class {
            Above::Fixed { supply, .. } => supply.into(),
            Above::Adaptive(at) => self.servers[at].supply(self.decision.budgets[at]),
        }
    }
}

/// Classes of these above a server.
fn depth(servers: &[Server], at: usize) -> usize {
    let above = |at: &usize| match servers[*at].above {
        Above::Adaptive(class) => Some(class),
        Above::Fixed { .. } => None,
    };
    core::iter::successors(above(&at), above).count()
}
