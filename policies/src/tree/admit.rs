//! Admission: what a class promises to its children, and what it has to promise.
//!
//! A class of service curves promises the guaranteed curves of its children, a class of earliest
//! deadlines the bandwidths of their servers: budgets by periods, or where jobs have earlier
//! deadlines by these. What a class has is the least of what it is promised
//! itself and of its own budget by its period. Classes of fixed priorities and of time partitions
//! promise nothing: what a child of them has is its budget, or without one the whole CPU, if its
//! siblings leave it that. The class that all CPUs share has all of them: each child gets what it
//! was promised in the long run, and is late by a bounded time. Below earliest deadlines a node
//! without a limit is promised nothing, and has nothing to promise.

use super::Tree;
use super::error::TreeError;
use super::frame::PARTITIONS;
use super::promised::{Capacity, Promised};
use abi::bandwidth::{self, CPU};
use abi::reservation::{Budget, Curve, LEVELS, LONGEST, Policy, Server, Share, Timing, WHOLE};

/// What a node is promised by its class.
#[derive(Clone, Copy)]
pub(super) struct Promise {
    pub(super) share: Share,
    /// That of its server, in parts of a [`CPU`].
    pub(super) bandwidth: u64,
}

impl Promise {
    /// Nothing.
    pub(super) const NONE: Promise = Promise { share: Share::Deadline, bandwidth: 0 };

    /// That of a node with this share and limit, whose jobs are of this kind.
    pub(super) fn new(share: Share, limits: Option<Budget>, timing: Option<Timing>) -> Promise {
        let by = |limits: Budget| bandwidth::taken(limits.budget, span(limits, timing));
        Promise { share, bandwidth: limits.map_or(0, by) }
    }
}

/// Within which time below earliest deadlines a budget may be used: a server of constant bandwidth
/// goes by its own deadlines, the others by those of its jobs.
pub(super) fn span(limits: Budget, timing: Option<Timing>) -> u64 {
    match (limits.server, timing) {
        (Server::Periodic | Server::Sporadic, Some(timing)) => limits.period.min(timing.deadline),
        _ => limits.period,
    }
}

/// Everything that a class keeps of its promises.
struct Kept {
    promised: Promised,
    numbers: Option<[Option<u16>; PARTITIONS]>,
}

impl Tree<'_> {
    /// Whether this share is one of a child of this class.
    pub(super) fn check_share(&self, parent: u32, share: Share) -> Result<(), TreeError> {
        let is_valid = match (self.policy_of(parent), share) {
            (Some(Policy::FixedPriority), Share::Priority(priority)) => priority < LEVELS,
            (Some(Policy::EarliestDeadline), Share::Deadline) => true,
            (Some(Policy::ServiceCurves), Share::Curve { guaranteed, share }) => {
                let is_valid = |curve: &Curve| {
                    let bounded = curve.slope <= WHOLE && curve.rest <= WHOLE;
                    bounded && curve.rest > 0 && curve.bend <= LONGEST
                };
                is_valid(&share) && guaranteed.as_ref().is_none_or(is_valid)
            }
            (Some(Policy::Partitions), Share::Partition { priority, .. }) => priority < LEVELS,
            _ => return Err(TreeError::WrongShare),
        };
        if is_valid { Ok(()) } else { Err(TreeError::InvalidParameter) }
    }

    /// What a node with this share and limit, below this class, can promise to its children.
    fn capacity(&self, parent: u32, share: Share, limits: Option<Budget>) -> Capacity {
        let limit = limits.map_or(CPU, |own| bandwidth::brought(own.budget, own.period));
        let guaranteed = match (self.policy_of(parent), share) {
            (Some(Policy::ServiceCurves), Share::Curve { guaranteed, .. }) => {
                guaranteed.unwrap_or(Curve::linear(0))
            }
            (Some(Policy::EarliestDeadline), _) if limits.is_none() => Curve::linear(0),
            _ => Curve::linear(WHOLE),
        };
        Capacity { guaranteed, limit }
    }

    /// Whether a class keeps its promises with this share and limit, below this class.
    pub(super) fn check_children(
        &self,
        at: u32,
        parent: u32,
        share: Share,
        limits: Option<Budget>,
    ) -> Result<(), TreeError> {
        let capacity = self.capacity(parent, share, limits);
        let fits = self.nodes[at as usize].promised.fits(&capacity);
        if fits { Ok(()) } else { Err(TreeError::Overcommitted) }
    }

    /// A class of service curves inside another one has no budget: the guarantees inside it are
    /// served by the outer one.
    pub(super) fn check_limits(
        &self,
        at: u32,
        parent: u32,
        limits: Option<Budget>,
    ) -> Result<(), TreeError> {
        let (policy, above) = (self.policy_of(at), self.policy_of(parent));
        let is_inner = [policy, above] == [Some(Policy::ServiceCurves); 2];
        let has_windows = policy == Some(Policy::Partitions);
        let is_wrong = limits.is_some() && (is_inner || has_windows);
        if is_wrong { Err(TreeError::InvalidParameter) } else { Ok(()) }
    }

    /// What a node is promised.
    pub(super) fn promise_of(&self, at: u32) -> Promise {
        let node = &self.nodes[at as usize];
        Promise::new(node.share, node.server.limits, node.job.timing)
    }

    /// What a class can promise to its children.
    pub(super) fn capacity_of(&self, class: u32) -> Capacity {
        let node = &self.nodes[class as usize];
        match self.is_shared_class(class) {
            true => Capacity::of_cpus(self.shared_cpu()),
            false => self.capacity(node.parent, node.share, node.server.limits),
        }
    }

    /// Promises a class's capacity to a child. An error changes nothing.
    pub(super) fn promise(&mut self, class: u32, new: Promise) -> Result<(), TreeError> {
        let capacity = self.capacity_of(class);
        let node = &self.nodes[class as usize];
        let (policy, frame) = (node.policy(), node.frame as usize);
        let promised = &mut self.nodes[class as usize].promised;
        match (policy, new.share) {
            (Some(Policy::EarliestDeadline), _) => promised.add_bandwidth(new.bandwidth, &capacity),
            (Some(Policy::ServiceCurves), Share::Curve { guaranteed: Some(curve), .. }) => {
                promised.add_curve(&curve, &capacity)
            }
            (Some(Policy::Partitions), Share::Partition { number, .. }) => {
                self.frames.get_mut(frame).map_or(Ok(()), |frame| frame.add(number))
            }
            _ => Ok(()),
        }
    }

    /// Takes a promise back.
    pub(super) fn release(&mut self, class: u32, old: Promise) {
        let node = &mut self.nodes[class as usize];
        match (node.policy(), old.share) {
            (Some(Policy::EarliestDeadline), _) => node.promised.remove_bandwidth(old.bandwidth),
            (Some(Policy::ServiceCurves), Share::Curve { guaranteed: Some(curve), .. }) => {
                node.promised.remove_curve(&curve);
            }
            (Some(Policy::Partitions), Share::Partition { number, .. }) => {
                if let Some(frame) = self.frames.get_mut(node.frame as usize) {
                    frame.remove(number);
                }
            }
            _ => {}
        }
    }

    /// Takes one class's promise back for that of the same or another one. An error changes
    /// nothing.
    pub(super) fn exchange(
        &mut self,
        (from, old): (u32, Promise),
        (to, new): (u32, Promise),
    ) -> Result<(), TreeError> {
        let kept = self.kept(from);
        self.release(from, old);
        let result = self.promise(to, new);
        if result.is_err() {
            self.restore(from, kept);
        }
        result
    }

    fn kept(&self, class: u32) -> Kept {
        let node = &self.nodes[class as usize];
        let frame = self.frames.get(node.frame as usize);
        Kept { promised: node.promised.clone(), numbers: frame.map(|frame| frame.numbers()) }
    }

    fn restore(&mut self, class: u32, kept: Kept) {
        let node = &mut self.nodes[class as usize];
        node.promised = kept.promised;
        if let (Some(frame), Some(numbers)) =
            (self.frames.get_mut(node.frame as usize), kept.numbers)
        {
            frame.set_numbers(numbers);
        }
    }
}
