//! Budgets that follow demand (S2B-12): what is to be stated of them, and what the domain that
//! controls them is told.

use abi::adaptive::{CHILDREN, HISTORY, PREFIX};
use abi::reservation::{Budget, LEAST_BUDGET, Policy};
use abi::{Rights, adaptive};

use super::place::Place;
use super::promised::{capacity, children, rate};
use super::{Draft, span_of};
use crate::problem::Problem;
use crate::system::{Adaptive, Domain, Reservation, System, Target};
use crate::units::spell_duration;
use crate::values::Values;

/// Periods between two decisions, if it is not said.
const EVERY: u64 = 5;
/// Decisions that are looked back, if it is not said.
const BACK: u64 = 8;
/// Without a least budget of its own a reservation keeps this part of its first one.
const PART: u64 = 10;

/// Reads how a reservation's budget follows demand.
pub fn read(
    values: &Values,
    draft: &Draft,
    place: &Place,
    limit: Option<Budget>,
) -> Result<Option<Adaptive>, Problem> {
    let Some(given) = &draft.given.adaptive else { return Ok(None) };
    if place.class.is_none() || place.above != Policy::EarliestDeadline {
        let message = format!("{} is no class of EDF on one CPU", place.above_name);
        let help = "put it `in` a class of EDF: only that knows what its budgets leave";
        return Err(values.problem(given, message, help));
    }
    let Some(Budget { budget, .. }) = limit else {
        let message = "there is no budget that could follow demand";
        let help = "write a `budget` to begin with, below its `period`";
        return Err(values.problem(given, message, help));
    };
    let own = given.get_ref();
    let usual = Ok((budget / PART).max(LEAST_BUDGET));
    let least =
        own.least.as_ref().map_or(usual, |word| values.duration(word, LEAST_BUDGET..=u64::MAX))?;
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

/// The first reservation that is one too many for the controller of its class.
pub fn too_many(values: &Values, drafts: &[Draft], all: &[Reservation]) -> Option<Problem> {
    let follows = |index: &usize| all[*index].adaptive.is_some();
    let beyond = |class: usize| children(all, class).filter(follows).nth(CHILDREN);
    let at = (0..all.len()).find_map(beyond)?;
    let message = format!("a class has {CHILDREN} budgets that follow demand at most");
    let help = "put some of them into a class of their own, or let this budget be fixed";
    let given = drafts[at].given.adaptive.as_ref();
    Some(values.source.problem(&span_of(given, &drafts[at].at), message, help))
}

/// What the environment tells a domain of those reservations that it may control.
pub fn lines(system: &System, domain: &Domain) -> Vec<String> {
    let all = &system.reservations;
    let line = |cap: &crate::system::Capability| {
        let Target::Reservation(index) = cap.target else { return None };
        let node = &all[index];
        let (Some(own), Some(limit), Some(class)) = (node.adaptive, node.limit, node.class) else {
            return None;
        };
        let others = children(all, class).filter(|child| all[*child].adaptive.is_none());
        let others = others.filter_map(|child| rate(all[child].limit));
        let others: u64 = others.map(|(budget, period)| budget.div_ceil(period) as u64).sum();
        let has = capacity(all, class).iter().map(|curve| curve.rest).min()?;
        let told = adaptive::Adaptive {
            class: class as u64,
            supply: u64::from(has).saturating_sub(others) as u32,
            importance: own.importance,
            every: own.every,
            history: own.history,
            least: own.least,
            limit,
        };
        let is_held = cap.rights.contains(Rights::CONTROL);
        is_held.then(|| format!("{PREFIX}{}={told}\n", cap.name))
    };
    domain.caps.iter().filter_map(line).collect()
}
