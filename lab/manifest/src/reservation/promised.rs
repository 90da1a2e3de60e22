//! No class promises more than it has (S4-02): the kernel's own admission, in the same numbers and
//! with the same rounding.

use std::collections::BTreeSet;

use abi::boot::ALL_CPUS;
use abi::reservation::{Budget, Curve, Policy, Server, Share, WHOLE};

use super::{Draft, place, span_of};
use crate::problem::{Problem, quote};
use crate::system::{Reservation, System};
use crate::units::{spell_duration, spell_percent};
use crate::values::Values;

/// Different bends that the curves in one class may have.
const BENDS: usize = 8;

/// The first promise of each class that it cannot keep.
pub fn excess(values: &Values, drafts: &[Draft], all: &[Reservation], cpus: u32) -> Vec<Problem> {
    let of = |at: usize| match all[at].policy {
        Some(Policy::EarliestDeadline | Policy::FixedPriority) => {
            bandwidth(values, drafts, all, Class::of(Some(at), all[at].cpu), rate_of(all, at)?)
        }
        Some(Policy::ServiceCurves) => curves(values, drafts, all, at),
        _ => None,
    };
    let root = |(cpu, has)| bandwidth(values, drafts, all, Class::of(None, cpu), has);
    (0..all.len()).filter_map(of).chain(roots(cpus).filter_map(root)).collect()
}

impl System {
    /// Whether each class of reservations has what it promises, as in a system that was read. One
    /// whose budgets were changed behind that may not.
    pub fn is_promised(&self) -> bool {
        is_kept(&self.reservations, self.cpus)
    }
}

/// Whether each class has what it promises.
fn is_kept(all: &[Reservation], cpus: u32) -> bool {
    let keeps = |class: Class, has: u64| {
        let children = || class.children(all).filter(|_| class.admits(all));
        let mut more = children().map(|child| takes(all, child, None));
        more.all(|more| more <= WHOLE.into())
            && children().map(|child| takes(all, child, None)).sum::<u64>() <= has
    };
    let of = |at: usize| match all[at].policy {
        Some(Policy::EarliestDeadline | Policy::FixedPriority) => {
            rate_of(all, at).is_none_or(|has| keeps(Class::of(Some(at), all[at].cpu), has))
        }
        Some(Policy::ServiceCurves) => {
            let children = Class::of(Some(at), all[at].cpu).children(all);
            let promised = children.filter_map(|child| match all[child].share {
                Share::Curve { guaranteed, .. } => guaranteed,
                _ => None,
            });
            let promised: Vec<Curve> = promised.collect();
            capacity(all, at).iter().all(|within| above(&promised, within).is_none())
        }
        _ => true,
    };
    (0..all.len()).all(of) && roots(cpus).all(|(cpu, has)| keeps(Class::of(None, cpu), has))
}

/// What a class has in the long run, in millionths of a CPU.
fn rate_of(all: &[Reservation], class: usize) -> Option<u64> {
    capacity(all, class).iter().map(|curve| u64::from(curve.rest)).min()
}

/// The roots, and the class that all CPUs share, with what each has.
fn roots(cpus: u32) -> impl Iterator<Item = (u32, u64)> {
    let whole = u64::from(WHOLE);
    (0..cpus).map(move |cpu| (cpu, whole)).chain([(ALL_CPUS, whole * u64::from(cpus))])
}

/// A class: a reservation, the root of a CPU, or the one that all CPUs share.
#[derive(Clone, Copy)]
pub(super) struct Class {
    /// None: a root.
    pub at: Option<usize>,
    cpu: u32,
}

impl Class {
    /// A class among the reservations of a CPU.
    pub(super) fn of(at: Option<usize>, cpu: u32) -> Class {
        Class { at, cpu }
    }

    /// Its children.
    pub(super) fn children(self, all: &[Reservation]) -> impl Iterator<Item = usize> + '_ {
        let is_in = move |one: &Reservation| (one.class, one.cpu) == (self.at, self.cpu);
        (0..all.len()).filter(move |index| is_in(&all[*index]))
    }

    /// Its policy.
    fn policy(self, all: &[Reservation]) -> Option<Policy> {
        match (self.at, self.cpu) {
            (Some(at), _) => all[at].policy,
            (None, ALL_CPUS) => Some(Policy::EarliestDeadline),
            (None, _) => Some(Policy::FixedPriority),
        }
    }

    /// Whether it admits no more budgets than it has: below EDF the kernel does, and below fixed
    /// priorities the controller of budgets that follow demand.
    fn admits(self, all: &[Reservation]) -> bool {
        match self.policy(all) {
            Some(Policy::EarliestDeadline) => true,
            Some(Policy::FixedPriority) => {
                self.children(all).any(|child| all[child].adaptive.is_some())
            }
            _ => false,
        }
    }
}

/// What a budget that is a limit takes of each period, in millionths of it.
fn rate(limit: Option<Budget>) -> Option<(u128, u128)> {
    let limit = limit.filter(|limit| limit.budget < limit.period)?;
    Some((u128::from(limit.budget) * u128::from(WHOLE), limit.period.into()))
}

/// The time within which a class promises a child its budget. Below EDF a server that is not of
/// constant bandwidth uses it by the deadlines of its jobs.
pub(super) fn within(all: &[Reservation], index: usize) -> u64 {
    let one = &all[index];
    let Some(limit) = one.limit else { return 1 };
    let by_deadline = Class::of(one.class, one.cpu).policy(all) == Some(Policy::EarliestDeadline);
    let is_constant = matches!(limit.server, Server::Constant | Server::ConstantSoft);
    let deadline = one.timing.filter(|_| by_deadline && !is_constant);
    deadline.map_or(limit.period, |timing| limit.period.min(timing.deadline))
}

/// What a child takes of its class by its budget, or by this one, in millionths of a CPU; nothing
/// without a limit.
pub(super) fn takes(all: &[Reservation], index: usize, budget: Option<u64>) -> u64 {
    let Some((own, _)) = rate(all[index].limit) else { return 0 };
    let asked = budget.map_or(own, |budget| u128::from(budget) * u128::from(WHOLE));
    u64::try_from(asked.div_ceil(within(all, index).into())).unwrap_or(u64::MAX)
}

/// What a class has: its own curve, and what its budget amounts to.
pub(super) fn capacity(all: &[Reservation], class: usize) -> Vec<Curve> {
    let curve = match all[class].share {
        Share::Curve { guaranteed, .. } => guaranteed.unwrap_or(Curve::linear(0)),
        _ => Curve::linear(WHOLE),
    };
    let budget = rate(all[class].limit).map(|(budget, period)| (budget / period) as u32);
    [curve].into_iter().chain(budget.map(Curve::linear)).collect()
}

/// Servers below EDF, and below fixed priorities where budgets follow demand.
fn bandwidth(
    values: &Values,
    drafts: &[Draft],
    all: &[Reservation],
    class: Class,
    has: u64,
) -> Option<Problem> {
    let mut promised = 0;
    class.children(all).filter(|_| class.admits(all)).find_map(|child| {
        let more = takes(all, child, None);
        if more > WHOLE.into() {
            return Some(above_deadline(values, drafts, all, child));
        }
        let left = has - promised;
        promised += more;
        if promised <= has {
            return None;
        }
        let [more, left, has] = [more, left, has].map(spell_percent);
        let child_name = quote(place::name(&drafts[child]));
        let (name, of) = match (class.at, class.cpu) {
            (Some(class), _) => (quote(place::name(&drafts[class])), "the CPU"),
            (None, ALL_CPUS) => (quote(place::SHARED), "a CPU"),
            (None, _) => ("the root".to_string(), "the CPU"),
        };
        let message = format!(
            "{child_name} takes {more} of {of} by its budget, and {name} has {left} left of {has}"
        );
        let help = match (class.at, class.cpu) {
            (None, ALL_CPUS) => "lower this budget or another one in the class, or add CPUs",
            (None, _) => "lower this budget or another one right below the root",
            _ => "lower this budget or another one in the class, or give the class more",
        };
        let at = span_of(drafts[child].given.budget.as_ref(), &drafts[child].at);
        Some(values.source.problem(&at, message, help))
    })
}

/// A budget that is longer than the time within which it is promised.
fn above_deadline(values: &Values, drafts: &[Draft], all: &[Reservation], child: usize) -> Problem {
    let budget = spell_duration(all[child].limit.map_or(0, |limit| limit.budget));
    let deadline = spell_duration(within(all, child));
    let name = quote(place::name(&drafts[child]));
    let message = format!("{name} has a budget of {budget} for jobs that are due in {deadline}");
    let help = "lower the budget to the deadline, or let the jobs be due later";
    let at = span_of(drafts[child].given.budget.as_ref(), &drafts[child].at);
    values.source.problem(&at, message, help)
}

/// Curves below service curves.
fn curves(values: &Values, drafts: &[Draft], all: &[Reservation], class: usize) -> Option<Problem> {
    let has = capacity(all, class);
    let mut promised: Vec<Curve> = Vec::new();
    Class::of(Some(class), all[class].cpu).children(all).find_map(|child| {
        let Share::Curve { guaranteed: Some(curve), .. } = all[child].share else { return None };
        promised.push(curve);
        let at = span_of(drafts[child].given.curve.as_ref(), &drafts[child].at);
        let class = quote(place::name(&drafts[class]));
        let bends: BTreeSet<u64> = promised.iter().map(|curve| curve.bend).collect();
        if bends.len() > BENDS {
            let message = format!("the curves in {class} bend at more than {BENDS} instants");
            let help = "give some of them the same `d`";
            return Some(values.source.problem(&at, message, help));
        }
        let told = has.iter().find_map(|within| above(&promised, within))?;
        let message = format!("the curves in {class} ask for {told}");
        let help = "lower this curve or another one in the class, or give the class more";
        Some(values.source.problem(&at, message, help))
    })
}

/// Where curves together exceed another one, in words.
fn above(curves: &[Curve], within: &Curve) -> Option<String> {
    let sum = |time: u64| curves.iter().map(|curve| service(curve, time)).sum::<u128>();
    let bends = curves.iter().map(|curve| curve.bend).chain([within.bend]);
    if let Some(bend) = bends.into_iter().find(|bend| sum(*bend) > service(within, *bend)) {
        let exact = |product: u128| spelled(product.div_ceil(u128::from(WHOLE)));
        let [asked, has] = [exact(sum(bend)), spelled(service(within, bend) / u128::from(WHOLE))];
        return Some(format!("{asked} within {}, and it has {has}", spell_duration(bend)));
    }
    let rest: u64 = curves.iter().map(|curve| u64::from(curve.rest)).sum();
    let [asked, has] = [rest, u64::from(within.rest)].map(spell_percent);
    (rest > u64::from(within.rest))
        .then(|| format!("{asked} of the CPU in the long run, and it has {has}"))
}

/// A curve's service within a time, in millionths of nanoseconds.
fn service(curve: &Curve, time: u64) -> u128 {
    let first = u128::from(time.min(curve.bend));
    first * u128::from(curve.slope) + (u128::from(time) - first) * u128::from(curve.rest)
}

/// A time, exact in nanoseconds where it is no whole number of microseconds.
fn spelled(nanoseconds: u128) -> String {
    match u64::try_from(nanoseconds) {
        Ok(time) if time.is_multiple_of(1_000) => spell_duration(time),
        _ => format!("{nanoseconds}ns"),
    }
}
