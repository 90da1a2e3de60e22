//! The plain model's classes of earliest deadlines: what was promised before and used ahead.

use super::model::{Model, ModelNode};
use super::*;

#[derive(Clone, Copy, Default)]
pub(super) struct ModelFreed {
    bandwidth: i128,
    /// In nanoseconds by [`ALL`]: nothing is rounded while time passes.
    lag: i128,
    since: u64,
}

#[derive(Clone, Copy)]
pub(super) struct Begins {
    pub(super) anew: u64,
    pub(super) more: u64,
}

const ALL: i128 = 1 << 56;

fn round_up(dividend: i128, divisor: i128) -> i128 {
    (dividend + divisor - 1) / divisor
}

impl ModelFreed {
    fn pass(&mut self, now: u64) {
        self.lag -= i128::from(now - self.since) * self.bandwidth;
        self.since = now;
        if self.lag <= 0 {
            (self.lag, self.bandwidth) = (0, 0);
        }
    }
}

impl ModelNode {
    fn bandwidth(&self, limits: Option<Budget>) -> i128 {
        limits.map_or(0, |limits| i128::from(limits.budget) * ALL / i128::from(self.span(limits)))
    }
}

impl Model {
    /// The bandwidth that a class can promise.
    fn capacity(&self, class: NodeId) -> i128 {
        let node = self.node(class);
        let above = node.parent.and_then(|above| self.node(above).policy);
        let limits = node.limits();
        let guaranteed = match (above, node.share) {
            (Some(Policy::EarliestDeadline), _) if limits.is_none() => 0,
            (Some(Policy::ServiceCurves), Share::Curve { guaranteed, .. }) => {
                guaranteed.map_or(0, |curve| round_up(i128::from(curve.rest) * ALL, WHOLE.into()))
            }
            _ => ALL,
        };
        let own =
            limits.map_or(ALL, |own| i128::from(own.budget) * ALL / i128::from(own.period) + 1);
        guaranteed.min(own)
    }

    fn promised(&self, class: NodeId, but: NodeId) -> i128 {
        let children =
            self.nodes.iter().filter(|node| node.parent == Some(class) && node.id != but);
        children.map(|node| node.bandwidth(node.limits())).sum()
    }

    /// A node is about to be below this class with this limit and these jobs.
    pub(super) fn exchange(
        &mut self,
        id: NodeId,
        (to, limits): (Option<NodeId>, Option<Budget>),
        timing: Option<Timing>,
        now: u64,
    ) -> Begins {
        let by_deadline =
            |class: &NodeId| self.node(*class).policy == Some(Policy::EarliestDeadline);
        let from = self.node(id).parent.filter(by_deadline);
        let to = to.filter(by_deadline);
        let node = self.node(id);
        let old = if from.is_some() { node.bandwidth(node.limits()) } else { 0 };
        let ((used, later), grown) = match (&node.server, from) {
            (Some(server), Some(_)) => {
                let grown =
                    round_up(old * i128::from(server.later(now)), server.limits.budget.into());
                let limits = server.limits;
                let served = i128::from(node.service - node.ahead.1);
                let most = match limits.server {
                    Server::ConstantSoft => node.ahead.0 + served,
                    _ => node.ahead.0 + served.min(limits.budget.into()),
                };
                let (used, later) = server.lag(node.span(limits), now);
                let used = used.min(most);
                ((used, later.min(most - used)), grown)
            }
            _ => ((0, 0), 0),
        };
        let lag = used + later;
        let mut left = lag;
        let before = core::mem::replace(&mut self.node_mut(id).timing, timing);
        let new = if to.is_some() { self.node(id).bandwidth(limits) } else { 0 };
        self.node_mut(id).timing = before;
        let kept = if from == to { old.min(new) } else { 0 };
        if let Some(from) = from {
            let first = grown.min(old - kept);
            let part = round_up(used * (old - kept - first), (old - grown).max(1))
                + round_up(later * first, grown.max(1));
            left = (left - part).max(0);
            let freed = &mut self.node_mut(from).freed;
            freed.pass(now);
            if part > 0 {
                (freed.bandwidth, freed.lag) =
                    (freed.bandwidth + old - kept, freed.lag + part * ALL);
            }
        }
        let mut more = i128::from(now);
        if let Some(to) = to {
            let free = (self.capacity(to) - self.promised(to, id) - new).max(0);
            let freed = &mut self.node_mut(to).freed;
            freed.pass(now);
            let taken = (freed.bandwidth - free).clamp(0, new - kept);
            if taken > 0 {
                let lag = round_up(freed.lag, ALL);
                let rest = round_up(lag * (freed.bandwidth - taken), freed.bandwidth);
                more += round_up((lag - rest) * ALL, new - kept);
                left += lag - rest;
                (freed.bandwidth, freed.lag) = (freed.bandwidth - taken, rest * ALL);
            }
        }
        let node = self.node_mut(id);
        node.ahead = (left, node.service);
        let own = if kept > 0 { round_up(lag * ALL, old) } else { 0 };
        Begins { anew: more.max(i128::from(now) + own) as u64, more: more as u64 }
    }
}
