//! No class promises more than it has (S4-02): the kernel's own admission, in the same numbers and
//! with the same rounding.

use std::collections::BTreeSet;

use abi::boot::ALL_CPUS;
use abi::reservation::{Budget, Curve, Policy, Server, Share, WHOLE};

use super::{Draft, place, span_of};
use crate::problem::{Problem, quote};
use crate::system::Reservation;
use crate::units::{spell_duration, spell_percent};
use crate::values::Values;

/// Different bends that the curves in one class may have.
const BENDS: usize = 8;

/// The first promise of each class that it cannot keep.
pub fn excess(values: &Values, drafts: &[Draft], all: &[Reservation], cpus: u32) -> Vec<Problem> {
    let class = |class: usize| match all[class].policy {
        Some(Policy::EarliestDeadline) => {
            let has = capacity(all, class).iter().map(|curve| u64::from(curve.rest)).min()?;
            bandwidth(values, drafts, all, Above { class: Some(class), has })
        }
        Some(Policy::ServiceCurves) => curves(values, drafts, all, class),
        _ => None,
    };
    let shared = Above { class: None, has: u64::from(WHOLE) * u64::from(cpus) };
    let shared = bandwidth(values, drafts, all, shared);
    (0..all.len()).filter_map(class).chain(shared).collect()
}

/// A class of EDF; none: the one that all CPUs share.
struct Above {
    class: Option<usize>,
    /// What it has, in millionths of a CPU.
    has: u64,
}

/// The children of a class.
pub(super) fn children(all: &[Reservation], class: usize) -> impl Iterator<Item = usize> + '_ {
    (0..all.len()).filter(move |index| all[*index].class == Some(class))
}

/// What a budget that is a limit takes of each period, in millionths of it.
pub(super) fn rate(limit: Option<Budget>) -> Option<(u128, u128)> {
    let limit = limit.filter(|limit| limit.budget < limit.period)?;
    Some((u128::from(limit.budget) * u128::from(WHOLE), limit.period.into()))
}

/// What it takes below EDF, in millionths: there a server that is not of constant bandwidth uses it
/// by the deadlines of its jobs.
fn demand(one: &Reservation) -> Option<u64> {
    let (budget, period) = rate(one.limit)?;
    let is_constant = one
        .limit
        .is_some_and(|limit| matches!(limit.server, Server::Constant | Server::ConstantSoft));
    let deadline = one.timing.filter(|_| !is_constant);
    let within = deadline.map_or(period, |timing| period.min(timing.deadline.into()));
    Some((budget.div_ceil(within) as u64).min(WHOLE.into()))
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

/// Servers below EDF.
fn bandwidth(
    values: &Values,
    drafts: &[Draft],
    all: &[Reservation],
    Above { class, has }: Above,
) -> Option<Problem> {
    let is_in = |one: &Reservation| match class {
        Some(_) => one.class == class,
        None => one.class.is_none() && one.cpu == ALL_CPUS,
    };
    let mut promised = 0;
    (0..all.len()).filter(|index| is_in(&all[*index])).find_map(|child| {
        let more = demand(&all[child])?;
        let left = has - promised;
        promised += more;
        if promised <= has {
            return None;
        }
        let [more, left, has] = [more, left, has].map(spell_percent);
        let child_name = quote(place::name(&drafts[child]));
        let (name, of) = match class {
            Some(class) => (quote(place::name(&drafts[class])), "the CPU"),
            None => (quote(place::SHARED), "a CPU"),
        };
        let message = format!(
            "{child_name} takes {more} of {of} by its budget, and {name} has {left} left of {has}"
        );
        let help = match class {
            Some(_) => "lower this budget or another one in the class, or give the class more",
            None => "lower this budget or another one in the class, or add CPUs",
        };
        let at = span_of(drafts[child].given.budget.as_ref(), &drafts[child].at);
        Some(values.source.problem(&at, message, help))
    })
}

/// Curves below service curves.
fn curves(values: &Values, drafts: &[Draft], all: &[Reservation], class: usize) -> Option<Problem> {
    let has = capacity(all, class);
    let mut promised: Vec<Curve> = Vec::new();
    children(all, class).find_map(|child| {
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
