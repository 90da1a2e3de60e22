//! No class promises more than it has (S4-02): the kernel's own admission, in the same numbers and
//! with the same rounding. Where budgets follow demand it is that of their controller, which takes
//! its decisions in millionths of a CPU.

use std::collections::BTreeSet;

use abi::bandwidth::{self, CPU};
use abi::boot::ALL_CPUS;
use abi::reservation::{Budget, Curve, Policy, Server, Share, WHOLE};

use super::{Draft, place, span_of};
use crate::problem::{Problem, quote};
use crate::system::{Reservation, System};
use crate::units::{spell_duration, spell_part, spell_part_up, spell_percent};
use crate::values::Values;

/// Different bends that the curves in one class may have.
const BENDS: usize = 8;

/// The first promise of each class that it cannot keep.
pub fn excess(values: &Values, drafts: &[Draft], all: &[Reservation], cpus: u32) -> Vec<Problem> {
    let of = |at: usize| match all[at].policy {
        Some(Policy::EarliestDeadline | Policy::FixedPriority) => {
            budgets(values, drafts, all, Class::of(Some(at), all[at].cpu))
        }
        Some(Policy::ServiceCurves) => curves(values, drafts, all, at),
        _ => None,
    };
    let root = |class| budgets(values, drafts, all, class);
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
    let keeps = |class: Class| {
        let children = || class.children(all).filter(|_| class.admits(all));
        let mut each = children().map(|child| class.gives(all, child));
        each.all(|each| each <= CPU)
            && children().map(|child| class.gives(all, child)).sum::<u64>() <= class.has(all)
    };
    let of = |at: usize| match all[at].policy {
        Some(Policy::EarliestDeadline | Policy::FixedPriority) => {
            keeps(Class::of(Some(at), all[at].cpu))
        }
        Some(Policy::ServiceCurves) => {
            let children = Class::of(Some(at), all[at].cpu).children(all);
            let promised = children.filter_map(|child| match all[child].share {
                Share::Curve { guaranteed, .. } => guaranteed,
                _ => None,
            });
            let promised: Vec<Curve> = promised.collect();
            supplies(all, at).iter().all(|within| above(&promised, within).is_none())
        }
        _ => true,
    };
    (0..all.len()).all(of) && roots(cpus).all(keeps)
}

/// The roots, and the class that all CPUs share.
fn roots(cpus: u32) -> impl Iterator<Item = Class> {
    (0..cpus).map(move |cpu| Class::root(cpu, 1)).chain([Class::root(ALL_CPUS, cpus)])
}

/// A class: a reservation, the root of a CPU, or the one that all CPUs share.
#[derive(Clone, Copy)]
pub(super) struct Class {
    /// None: a root.
    pub at: Option<usize>,
    cpu: u32,
    /// Of a root: how many CPUs it has.
    cpus: u32,
}

impl Class {
    /// A class among the reservations of a CPU.
    pub(super) fn of(at: Option<usize>, cpu: u32) -> Class {
        Class { at, cpu, cpus: 1 }
    }

    /// A root, which has so many CPUs.
    fn root(cpu: u32, cpus: u32) -> Class {
        Class { at: None, cpu, cpus }
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
            Some(Policy::FixedPriority) => self.follows_demand(all),
            _ => false,
        }
    }

    /// Whether budgets in it follow demand.
    fn follows_demand(self, all: &[Reservation]) -> bool {
        self.children(all).any(|child| all[child].adaptive.is_some())
    }

    /// What a child takes by its budget, in parts of a CPU; nothing without a limit.
    fn gives(self, all: &[Reservation], child: usize) -> u64 {
        let Some(limit) = limit(&all[child]) else { return 0 };
        match self.follows_demand(all) {
            true => {
                let millionths = u32::try_from(takes(all, child, None)).unwrap_or(u32::MAX);
                bandwidth::from_millionths(millionths)
            }
            false => bandwidth::taken(limit.budget, within(all, child)),
        }
    }

    /// What it has in the long run, in parts of a CPU.
    fn has(self, all: &[Reservation]) -> u64 {
        let Some(at) = self.at else {
            return CPU * u64::from(self.cpus) + self.rounded(all);
        };
        if self.follows_demand(all) {
            let millionths = capacity(all, at).iter().map(|curve| curve.rest).min();
            return bandwidth::from_millionths(millionths.unwrap_or(0)) + self.rounded(all);
        }
        let own = limit(&all[at]).map_or(CPU, |own| bandwidth::brought(own.budget, own.period));
        bandwidth::from_millionths(guaranteed(all, at).rest).min(own)
    }

    /// By how much what children take may have been rounded up.
    fn rounded(self, all: &[Reservation]) -> u64 {
        let follows_demand = self.follows_demand(all);
        self.children(all).filter(|_| follows_demand).count() as u64
    }
}

/// A budget that is a limit.
fn limit(one: &Reservation) -> Option<Budget> {
    one.limit.filter(|limit| limit.budget < limit.period)
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
    let Some(own) = limit(&all[index]) else { return 0 };
    let asked = u128::from(budget.unwrap_or(own.budget)) * u128::from(WHOLE);
    u64::try_from(asked.div_ceil(within(all, index).into())).unwrap_or(u64::MAX)
}

/// What a class has: its own curve, and what its budget amounts to, in whole millionths.
pub(super) fn capacity(all: &[Reservation], class: usize) -> Vec<Curve> {
    let own = limit(&all[class]).map(|own| {
        let millionths = u128::from(own.budget) * u128::from(WHOLE) / u128::from(own.period);
        Curve::linear(millionths as u32)
    });
    [guaranteed(all, class)].into_iter().chain(own).collect()
}

/// What its class guarantees to a class.
fn guaranteed(all: &[Reservation], class: usize) -> Curve {
    match all[class].share {
        Share::Curve { guaranteed, .. } => guaranteed.unwrap_or(Curve::linear(0)),
        _ => Curve::linear(WHOLE),
    }
}

/// What a class of curves has.
enum Has {
    Curve(Curve),
    /// Parts of a CPU.
    Budget(u64),
}

impl Has {
    /// In the long run, in millionths of a CPU.
    fn rest(&self) -> u64 {
        match self {
            Has::Curve(curve) => curve.rest.into(),
            Has::Budget(parts) => bandwidth::to_millionths(*parts),
        }
    }

    /// Within a time, in millionths of nanoseconds.
    fn service(&self, time: u64) -> u128 {
        match self {
            Has::Curve(curve) => service(curve, time),
            Has::Budget(parts) => bandwidth::service(*parts, time),
        }
    }

    fn bend(&self) -> u64 {
        match self {
            Has::Curve(curve) => curve.bend,
            Has::Budget(_) => 0,
        }
    }
}

/// The same for one whose children have curves.
fn supplies(all: &[Reservation], class: usize) -> Vec<Has> {
    let own = limit(&all[class]);
    let own = own.map(|own| Has::Budget(bandwidth::brought(own.budget, own.period)));
    [Has::Curve(guaranteed(all, class))].into_iter().chain(own).collect()
}

/// Servers below EDF, and below fixed priorities where budgets follow demand.
fn budgets(
    values: &Values,
    drafts: &[Draft],
    all: &[Reservation],
    class: Class,
) -> Option<Problem> {
    let (mut promised, has) = (0, class.has(all));
    class.children(all).filter(|_| class.admits(all)).find_map(|child| {
        let more = class.gives(all, child);
        if more > CPU {
            return Some(above_deadline(values, drafts, all, child));
        }
        let left = has - promised;
        promised += more;
        if promised <= has {
            return None;
        }
        let (more, [left, has]) = (spell_part_up(more), [left, has].map(spell_part));
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
    let has = supplies(all, class);
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

/// Where curves together exceed what their class has, in words.
fn above(curves: &[Curve], within: &Has) -> Option<String> {
    let sum = |time: u64| curves.iter().map(|curve| service(curve, time)).sum::<u128>();
    let bends = curves.iter().map(|curve| curve.bend).chain([within.bend()]);
    if let Some(bend) = bends.into_iter().find(|bend| sum(*bend) > within.service(*bend)) {
        let exact = |product: u128| spelled(product.div_ceil(u128::from(WHOLE)));
        let [asked, has] = [exact(sum(bend)), spelled(within.service(bend) / u128::from(WHOLE))];
        return Some(format!("{asked} within {}, and it has {has}", spell_duration(bend)));
    }
    let rest: u64 = curves.iter().map(|curve| u64::from(curve.rest)).sum();
    let [asked, has] = [rest, within.rest()].map(spell_percent);
    (rest > within.rest()).then(|| format!("{asked} of the CPU in the long run, and it has {has}"))
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
