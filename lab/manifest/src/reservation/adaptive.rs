//! Budgets that follow demand (S2B-12): what is to be stated of them, and what always holds.

use abi::adaptive::HISTORY;
use abi::boot::ALL_CPUS;
use abi::reservation::{Budget, LEAST_BUDGET, Policy, Share, WHOLE};

use super::place::{Place, name};
use super::promised::{Class, capacity, takes};
use super::{Draft, span_of};
use crate::problem::{Problem, quote};
use crate::system::{Adaptive, Reservation, System};
use crate::units::spell_duration;
use crate::values::Values;

/// Periods between two decisions, if it is not said.
const EVERY: u64 = 5;
/// Decisions that are looked back, if it is not said.
const BACK: u64 = 8;
/// Without a least budget of its own a reservation keeps this part of its first one, or what it
/// needs for what is in it, if that is more.
const PART: u64 = 10;

/// Reads how a reservation's budget follows demand. What is in it is not known yet.
pub fn read(
    values: &Values,
    draft: &Draft,
    place: &Place,
    limit: Option<Budget>,
) -> Result<Option<Adaptive>, Problem> {
    let Some(given) = &draft.given.adaptive else { return Ok(None) };
    let is_shared = place.class.is_none() && place.cpu == ALL_CPUS;
    if is_shared || !matches!(place.above, Policy::EarliestDeadline | Policy::FixedPriority) {
        let message = format!("{} is no class of EDF or priorities on one CPU", place.above_name);
        let help = "put it `in` such a class: there budgets say what is left to others";
        return Err(values.problem(given, message, help));
    }
    let Some(Budget { budget, .. }) = limit else {
        let message = "there is no budget that could follow demand";
        let help = "write a `budget` to begin with, below its `period`";
        return Err(values.problem(given, message, help));
    };
    let own = given.get_ref();
    let usual = Ok((budget / PART).max(LEAST_BUDGET));
    let least = own.least.as_ref().map_or(usual, |word| values.budget(word, u64::MAX))?;
    if let (true, Some(word)) = (least > budget, &own.least) {
        let budget = spell_duration(budget);
        let message = format!("it begins with {budget}, less than it is always to have");
        return Err(values.problem(word, message, "lower `least`, or raise `budget`"));
    }
    Ok(Some(Adaptive {
        importance: values.within(&own.importance, 0..=u64::from(u32::MAX))? as u32,
        every: values.number(&own.every, EVERY, 1..=1_000)? as u32,
        history: values.number(&own.history, BACK, 1..=HISTORY)? as u32,
        least,
    }))
}

/// Sees to it that each class always keeps what those in it keep: raises what is not stated, and
/// tells of what is stated too low. No class has more promised than it has.
pub fn settle(values: &Values, drafts: &[Draft], all: &mut [Reservation]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut order: Vec<usize> = (0..all.len()).filter(|at| all[*at].adaptive.is_some()).collect();
    order.sort_by_key(|at| {
        std::cmp::Reverse(std::iter::successors(Some(*at), |at| all[*at].class).count())
    });
    for at in order {
        let (Some(limit), Some(own)) = (all[at].limit, all[at].adaptive) else { continue };
        let needed = needed(all, at);
        let least = needed.saturating_mul(limit.period.into()).div_ceil(WHOLE.into());
        // What manifests can say: whole microseconds.
        let least = u64::try_from(least.next_multiple_of(1_000)).unwrap_or(u64::MAX);
        if least <= own.least {
            continue;
        }
        let given = drafts[at].given.adaptive.as_ref().and_then(|it| it.get_ref().least.as_ref());
        let told = spell_duration(least);
        if given.is_some() || least > limit.budget {
            let message =
                format!("{} does not keep enough for what is in it", quote(name(&drafts[at])));
            let key = if least > limit.budget { "budget" } else { "least" };
            let help = format!("that always has {told} of each period: write `{key} = {told:?}`");
            let span = given.map(toml::Spanned::span);
            let span = span.unwrap_or(span_of(drafts[at].given.budget.as_ref(), &drafts[at].at));
            problems.push(values.source.problem(&span, message, help));
            continue;
        }
        if let Some(own) = &mut all[at].adaptive {
            own.least = least;
        }
    }
    problems
}

/// What those in a class have at least, in millionths of a CPU.
fn needed(all: &[Reservation], class: usize) -> u128 {
    let inside = Class::of(Some(class), all[class].cpu);
    let each = inside.children(all).map(|child| match (all[class].policy, all[child].share) {
        (Some(Policy::ServiceCurves), Share::Curve { guaranteed: Some(curve), .. }) => {
            u64::from(curve.slope.max(curve.rest))
        }
        (Some(Policy::EarliestDeadline | Policy::FixedPriority), _) => {
            takes(all, child, all[child].adaptive.map(|own| own.least))
        }
        _ => 0,
    });
    each.map(u128::from).sum()
}

/// What fixed budgets take of a class, in millionths of a CPU.
pub(super) fn taken(all: &[Reservation], class: Class) -> u64 {
    let fixed = class.children(all).filter(|child| all[*child].adaptive.is_none());
    fixed.map(|child| takes(all, child, None)).sum()
}

/// What a class has by its own budget, or by this one, in millionths of a CPU.
pub(super) fn has(all: &[Reservation], class: Class, budget: Option<u64>) -> u64 {
    let Some(at) = class.at else { return WHOLE.into() };
    let Some(budget) = budget else {
        return capacity(all, at).iter().map(|curve| u64::from(curve.rest)).min().unwrap_or(0);
    };
    let period = all[at].limit.map_or(1, |limit| limit.period);
    (u128::from(budget) * u128::from(WHOLE) / u128::from(period)) as u64
}

impl System {
    /// What a reservation whose budget follows demand can get at most in each period, in
    /// nanoseconds: if the more important ones in its class ask for nothing.
    pub fn most_budget(&self, index: usize) -> Option<u64> {
        let all = &self.reservations;
        let node = &all[index];
        let (own, limit) = (node.adaptive?, node.limit?);
        let class = Class::of(node.class, node.cpu);
        let has = has(all, class, class.at.and_then(|class| self.most_budget(class)));
        let others = class.children(all).filter(|other| *other != index);
        let kept: u64 =
            others.map(|other| takes(all, other, all[other].adaptive.map(|it| it.least))).sum();
        let rate = u128::from(has.saturating_sub(kept));
        let within = u128::from(super::promised::within(all, index));
        let most = (rate * within / u128::from(WHOLE)) as u64;
        Some(most.min(limit.period - 1).max(own.least))
    }
}
