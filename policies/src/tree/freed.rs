//! What a class of earliest deadlines has promised before and promises no more.
//!
//! A node that has used its budget ahead of its deadline keeps siblings waiting until then. When it
//! is given less, moved or removed, what it was promised can be promised again at once, but is
//! not to be used before the old promise would have brought what the node has had: the instant at
//! which its *lag* is zero. A class keeps one bandwidth with one lag for all of this, O(1): parts
//! with several instants have their mean.

use super::Tree;
use super::admit::{Promise, span};
use abi::bandwidth::CPU;
use abi::reservation::{Budget, Policy, Server};

/// Bandwidth that is free and was used ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Freed {
    /// In parts of a [`CPU`].
    bandwidth: u64,
    /// CPU time that was used ahead of it, in nanoseconds, at `since`.
    lag: u64,
    since: u64,
    /// What has been made up of the last of these nanoseconds, in parts of a [`CPU`]: less than
    /// that. So an instant at which the lag is looked at changes nothing later.
    rest: u64,
}

impl Freed {
    /// None.
    pub(super) const NONE: Freed = Freed { bandwidth: 0, lag: 0, since: 0, rest: 0 };

    /// What is left of the lag at an instant.
    pub(super) fn pass(&mut self, now: u64) {
        let passed = u128::from(now.saturating_sub(self.since)) * u128::from(self.bandwidth);
        let parts = passed + u128::from(self.rest);
        let whole = u64::try_from(parts / u128::from(CPU)).unwrap_or(u64::MAX);
        self.lag = self.lag.saturating_sub(whole);
        self.since = self.since.max(now);
        self.rest = (parts % u128::from(CPU)) as u64;
        if self.lag == 0 {
            (self.bandwidth, self.rest) = (0, 0);
        }
    }

    /// So much is promised no more, of which so much time was used ahead.
    pub(super) fn add(&mut self, bandwidth: u64, lag: u64, now: u64) {
        self.pass(now);
        if lag > 0 {
            self.bandwidth = self.bandwidth.saturating_add(bandwidth);
            self.lag = self.lag.saturating_add(lag);
        }
    }

    /// So much is promised anew, and so much is free yet: from when on it may be used, and the lag
    /// that goes with it. What was not used ahead goes first.
    pub(super) fn take(&mut self, more: u64, free: u64, now: u64) -> (u64, u64) {
        self.pass(now);
        let taken = self.bandwidth.saturating_sub(free).min(more);
        if taken == 0 {
            return (now, 0);
        }
        let rest = self.bandwidth - taken;
        let lag = part(self.lag, rest, self.bandwidth);
        let taken = self.lag - lag;
        let wait = part(taken, CPU, more);
        // What is begun of a nanosecond is rounded up, as the lag of each part is.
        (self.bandwidth, self.lag, self.rest) = (rest, lag, 0);
        (now.saturating_add(wait), taken)
    }
}

/// The most that a node can have used ahead: what that was when its promise last changed, and what
/// it was served since then, of which a hard server has no more than a budget ahead. The instants from which
/// its server has something say it exactly, but a change of the promise, such as a nearer deadline,
/// makes more of them than was ever used: the lags of a class are never more than its service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ahead {
    lag: u64,
    /// The node's service then.
    service: u64,
}

impl Ahead {
    /// Nothing.
    pub(super) const NONE: Ahead = Ahead { lag: 0, service: 0 };

    fn most(self, limits: Budget, service: u64) -> u64 {
        let served = service.saturating_sub(self.service);
        let ahead =
            if limits.server == Server::ConstantSoft { served } else { served.min(limits.budget) };
        self.lag.saturating_add(ahead)
    }
}

/// When something may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begins {
    /// The budget of a server that begins anew.
    pub(super) anew: u64,
    /// What a budget is more than before.
    pub(super) more: u64,
}

impl Begins {
    /// Whatever was used, a budget that begins anew comes a period later.
    pub(super) fn late(self, limits: Option<Budget>) -> Begins {
        let period = limits.map_or(0, |limits| limits.period);
        Begins { anew: self.anew.saturating_add(period), ..self }
    }
}

impl Tree<'_> {
    /// A node's promise has been exchanged for that of another or the same class, or for none: when
    /// what it is promised now may be used. The node is charged up to now, and has what it had.
    pub(super) fn settle(
        &mut self,
        at: u32,
        (from, old): (u32, Promise),
        (to, new): (u32, Promise),
        now: u64,
    ) -> Begins {
        let kept = if from == to { old.bandwidth.min(new.bandwidth) } else { 0 };
        let ([used, later], grown) = self.lag(at, from, old, now);
        let lag = used.saturating_add(later);
        let mut left = lag;
        if self.is_by_deadline(from) {
            let less = old.bandwidth - kept;
            let freed = &mut self.nodes[from as usize].promised.freed;
            // What it is less is first what has not begun.
            let first = less.min(grown);
            let ahead = part(used, less - first, old.bandwidth.saturating_sub(grown));
            let goes = ahead.saturating_add(part(later, first, grown));
            freed.add(less, goes, now);
            left = left.saturating_sub(goes);
        }
        let mut more = now;
        if self.is_by_deadline(to) {
            let capacity = self.capacity_of(to);
            let promised = &mut self.nodes[to as usize].promised;
            let free = promised.free(&capacity);
            let taken;
            (more, taken) = promised.freed.take(new.bandwidth - kept, free, now);
            left = left.saturating_add(taken);
        }
        let node = &mut self.nodes[at as usize];
        node.ahead = Ahead { lag: left, service: node.service };
        let own = if kept > 0 { part(lag, CPU, old.bandwidth) } else { 0 };
        Begins { anew: more.max(now.saturating_add(own)), more }
    }

    /// What a node has used ahead of its promise, and what of that comes later; and how much of the
    /// bandwidth that is.
    fn lag(&self, at: u32, class: u32, old: Promise, now: u64) -> ([u64; 2], u64) {
        let node = &self.nodes[at as usize];
        let Some(limits) = node.server.limits.filter(|_| self.is_by_deadline(class)) else {
            return ([0; 2], 0);
        };
        let most = node.ahead.most(limits, node.service);
        let [used, later] = node.server.lag(span(limits, node.job.timing), now);
        let used = used.min(most);
        let lag = [used, later.min(most - used)];
        (lag, part(old.bandwidth, node.server.later(now), limits.budget))
    }

    pub(super) fn is_by_deadline(&self, class: u32) -> bool {
        self.policy_of(class) == Some(Policy::EarliestDeadline)
    }
}

/// So many of so many parts, rounded up.
fn part(amount: u64, part: u64, whole: u64) -> u64 {
    let exact = (u128::from(amount) * u128::from(part)).div_ceil(u128::from(whole.max(1)));
    u64::try_from(exact).unwrap_or(u64::MAX)
}
