//! What the children of a class are promised together, so that no more is promised than there is.
//!
//! Curves are summed up for each instant at which one of them bends, [`BENDS`] different ones at
//! most, so that admission is exact and takes a bounded number of steps.

#[cfg(test)]
use super::admit::Promise;
use super::error::TreeError;
use super::freed::Freed;
use abi::bandwidth::{self, CPU};
use abi::reservation::{Curve, WHOLE};
#[cfg(test)]
use abi::reservation::{Policy, Share};
#[cfg(test)]
extern crate std;

/// Different bends that the curves of one class's children may have.
pub const BENDS: usize = 8;

/// The curves that bend at one instant, as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bend {
    at: u64,
    slope: u64,
    rest: u64,
    count: u32,
}

/// Sums over the children of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Promised {
    bends: [Bend; BENDS],
    /// Budgets of servers by their periods or deadlines, in parts of a [`CPU`].
    bandwidth: u64,
    /// Bandwidth that is free and was used ahead.
    pub(super) freed: Freed,
}

impl Promised {
    /// Nothing is promised.
    pub(super) const NONE: Promised = Promised {
        bends: [Bend { at: 0, slope: 0, rest: 0, count: 0 }; BENDS],
        bandwidth: 0,
        freed: Freed::NONE,
    };

    /// Promises a curve more, unless the sum then exceeds what the class has at some instant.
    pub(super) fn add_curve(&mut self, curve: &Curve, within: &Capacity) -> Result<(), TreeError> {
        let place = self.bends.iter().position(|bend| bend.count > 0 && bend.at == curve.bend);
        let place = place.or_else(|| self.bends.iter().position(|bend| bend.count == 0));
        let bend = place.and_then(|place| self.bends.get_mut(place));
        let Some(bend) = bend else { return Err(TreeError::TooManyBends) };
        let before = *bend;
        *bend = Bend {
            at: curve.bend,
            slope: before.slope + u64::from(curve.slope),
            rest: before.rest + u64::from(curve.rest),
            count: before.count + 1,
        };
        if self.fits(within) {
            return Ok(());
        }
        self.bends[place.unwrap_or(0)] = before;
        Err(TreeError::Overcommitted)
    }

    /// A curve is not promised any more.
    pub(super) fn remove_curve(&mut self, curve: &Curve) {
        let mut bends = self.bends.iter_mut();
        if let Some(bend) = bends.find(|bend| bend.count > 0 && bend.at == curve.bend) {
            bend.slope -= u64::from(curve.slope);
            bend.rest -= u64::from(curve.rest);
            bend.count -= 1;
        }
    }

    /// Whether no more is promised than this (S4-02).
    pub(super) fn fits(&self, within: &Capacity) -> bool {
        let used = || self.bends.iter().filter(|bend| bend.count > 0);
        let below =
            |time: u64| used().map(|bend| bend.service(time)).sum::<u128>() <= within.service(time);
        let rest = used().map(|bend| bend.rest).sum::<u64>();
        let bends = || used().map(|bend| bend.at).chain([within.guaranteed.bend]);
        rest <= within.rest() && bends().all(below) && self.bandwidth <= within.bandwidth()
    }

    /// Promises a bandwidth more, in parts of a [`CPU`].
    pub(super) fn add_bandwidth(&mut self, more: u64, within: &Capacity) -> Result<(), TreeError> {
        let sum = self.bandwidth.saturating_add(more);
        // A thread runs on one CPU at a time.
        if more > CPU || sum > within.bandwidth() {
            return Err(TreeError::Overcommitted);
        }
        self.bandwidth = sum;
        Ok(())
    }

    /// The bandwidth that can be promised yet.
    pub(super) fn free(&self, within: &Capacity) -> u64 {
        within.bandwidth().saturating_sub(self.bandwidth)
    }

    /// A bandwidth is not promised any more.
    pub(super) fn remove_bandwidth(&mut self, less: u64) {
        self.bandwidth -= less;
    }
}

/// What a class can promise to its children: at each instant the least of two curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Capacity {
    /// What the class itself is promised.
    pub(super) guaranteed: Curve,
    /// What its own budget lets through, in parts of a [`CPU`].
    pub(super) limit: u64,
}

impl Capacity {
    /// All of so many CPUs.
    pub(super) fn of_cpus(cpus: usize) -> Capacity {
        let guaranteed = Curve::linear(WHOLE.saturating_mul(cpus as u32));
        Capacity { guaranteed, limit: CPU.saturating_mul(cpus as u64) }
    }

    /// What there is in the long run, in parts of a [`CPU`].
    fn bandwidth(&self) -> u64 {
        bandwidth::from_millionths(self.guaranteed.rest).min(self.limit)
    }

    /// The same in whole millionths.
    fn rest(&self) -> u64 {
        bandwidth::to_millionths(self.limit).min(self.guaranteed.rest.into())
    }

    /// Service within a time, times [`WHOLE`].
    fn service(&self, time: u64) -> u128 {
        let Curve { slope, bend, rest } = self.guaranteed;
        let guaranteed = Bend { at: bend, slope: slope.into(), rest: rest.into(), count: 1 };
        guaranteed.service(time).min(bandwidth::service(self.limit, time))
    }
}

impl Bend {
    /// Service within a time, times [`WHOLE`].
    fn service(&self, time: u64) -> u128 {
        let first = u128::from(time.min(self.at));
        first * u128::from(self.slope) + (u128::from(time) - first) * u128::from(self.rest)
    }
}

#[cfg(test)]
impl Promised {
    /// Adds a promise without asking.
    pub(super) fn add(&mut self, policy: Option<Policy>, new: Promise) {
        let whole = Capacity { guaranteed: Curve::linear(WHOLE), limit: CPU };
        match (policy, new.share) {
            (Some(Policy::EarliestDeadline), _) => self.bandwidth += new.bandwidth,
            (Some(Policy::ServiceCurves), Share::Curve { guaranteed: Some(curve), .. }) => {
                assert_eq!(self.add_curve(&curve, &whole), Ok(()), "more than there is");
            }
            _ => {}
        }
    }

    /// The same sums, whatever the order.
    pub(super) fn assert_same(&self, other: &Promised) {
        let used = |sums: &Promised| {
            let mut used = sums.bends.to_vec();
            used.retain(|bend| bend.count > 0);
            used.sort_unstable_by_key(|bend| bend.at);
            used
        };
        assert_eq!(used(self), used(other), "curves");
        assert_eq!(self.bandwidth, other.bandwidth, "bandwidths");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::curve::fits;
    use proptest::prelude::*;
    extern crate std;
    use std::vec::Vec;

    proptest! {
        /// Against sums at each bend, of curves that come and go.
        #[test]
        fn agrees_with_a_list_of_curves(
            steps in prop::collection::vec(
                (any::<bool>(), 0u32..600_000, 0u64..4, 0u32..600_000), 1..40),
            slope in 0u32..=WHOLE, bend in 0u64..4, rest in 0u32..=WHOLE, limit in 0u32..=WHOLE,
        ) {
            let (limit, parts) = (Curve::linear(limit), bandwidth::from_millionths(limit));
            let within = Curve { slope, bend: bend * WHOLE as u64, rest };
            let (mut sums, mut model) = (Promised::NONE, Vec::<Curve>::new());
            for (add, slope, bend, rest) in steps {
                let curve = Curve { slope, bend: bend * WHOLE as u64, rest };
                if add {
                    model.push(curve);
                    let expected = fits(model.iter(), &within) && fits(model.iter(), &limit);
                    let within = Capacity { guaranteed: within, limit: parts };
                    prop_assert_eq!(sums.add_curve(&curve, &within).is_ok(), expected);
                    if !expected {
                        model.pop();
                    }
                } else if let Some(gone) = model.pop() {
                    sums.remove_curve(&gone);
                }
            }
            for curve in model {
                sums.remove_curve(&curve);
            }
            prop_assert!(sums.bends.iter().all(|bend| bend.count == 0 && bend.slope == 0));
        }
    }
}
