//! Who controls budgets that follow demand (S2B-12), beside what, and what it is told.

use std::collections::BTreeSet;

use abi::adaptive::{MOST, PREFIX};
use abi::boot::ALL_CPUS;
use abi::reservation::{Policy, Share};
use abi::{Rights, adaptive};

use super::adaptive::{has, taken};
use super::promised::{Class, within};
use super::{drafts, span_of};
use crate::problem::{Problem, quote};
use crate::schema::Manifest;
use crate::system::{Capability, Domain, Reservation, System};
use crate::target::Target;
use crate::values::Values;

/// What would keep budgets from following demand, or others from theirs.
pub fn problems(values: &Values, manifest: &Manifest, system: &System) -> Vec<Problem> {
    let all = &system.reservations;
    let mut problems = Vec::new();
    for (index, node) in all.iter().enumerate().filter(|(_, node)| node.adaptive.is_some()) {
        let drafts = drafts(manifest);
        let draft =
            drafts.iter().find(|draft| draft.name.is_some_and(|it| *it.get_ref() == node.name));
        let Some(draft) = draft else { continue };
        let mut problem = |message, help: &str| {
            let span = span_of(draft.given.adaptive.as_ref(), &draft.at);
            problems.push(values.source.problem(&span, message, help));
        };
        if let Some(class) = node.class
            && all[class].policy == Some(Policy::FixedPriority)
            && all[class].limit.is_none_or(|limit| limit.budget == limit.period)
        {
            let name = quote(&all[class].name);
            let message = format!("{name} has no budget, so nothing says what it can give");
            problem(message, "give the class a `budget` below its `period`");
        } else if let Some(other) = unlimited(system, index) {
            let message = format!("{other} is as urgent or more, and nothing limits it");
            problem(message, "give that a `budget`, or a lower priority");
        }
    }
    problems.extend(together(values, manifest, system));
    problems
}

/// What in the same class of fixed priorities is no less urgent and has no limit.
fn unlimited(system: &System, index: usize) -> Option<String> {
    let all = &system.reservations;
    let node = &all[index];
    let Share::Priority(own) = node.share else { return None };
    let is_first = |other: &usize| match all[*other].share {
        Share::Priority(priority) => *other != index && priority >= own,
        _ => false,
    };
    let has_no_limit =
        |other: &usize| all[*other].limit.is_none_or(|limit| limit.budget == limit.period);
    let class = Class::of(node.class, node.cpu);
    if let Some(other) = class.children(all).filter(is_first).find(has_no_limit) {
        return Some(quote(&all[other].name));
    }
    if node.class.is_some() {
        return None;
    }
    let is_shared = all.iter().any(|one| one.cpu == ALL_CPUS);
    if is_shared && u64::from(system.shared_priority) >= u64::from(own) {
        return Some("what all CPUs share".to_string());
    }
    let mut threads = system.domains.iter().filter(|domain| {
        domain.reservation.is_none()
            && domain.cpu == node.cpu
            && u16::from(domain.max_priority) >= own
    });
    threads.next().map(|domain| format!("domain {}", quote(&domain.name)))
}

/// The reservations that a domain may control and whose budgets follow demand.
fn controlled(system: &System, domain: &Domain) -> BTreeSet<usize> {
    let of = |cap: &Capability| match cap.target {
        Target::Reservation(index) if cap.rights.contains(Rights::CONTROL) => Some(index),
        _ => None,
    };
    let all = domain.caps.iter().filter_map(of);
    all.filter(|index| system.reservations[*index].adaptive.is_some()).collect()
}

/// A controller has all budgets that depend on each other: those of a class, and those in it.
fn together(values: &Values, manifest: &Manifest, system: &System) -> Vec<Problem> {
    let all = &system.reservations;
    let mut problems = Vec::new();
    for (table, domain) in manifest.domain.iter().zip(&system.domains) {
        let held = controlled(system, domain);
        let depends = |one: usize, other: usize| {
            let (of, to): (&Reservation, &Reservation) = (&all[one], &all[other]);
            (of.class, of.cpu) == (to.class, to.cpu)
                || of.class == Some(other)
                || to.class == Some(one)
        };
        let follows = |index: &usize| all[*index].adaptive.is_some() && !held.contains(index);
        let missing = |one: &usize| (0..all.len()).filter(follows).find(|it| depends(*one, *it));
        let name = quote(&domain.name);
        if let Some((one, other)) = held.iter().find_map(|one| Some((*one, missing(one)?))) {
            let [one, other] = [one, other].map(|at| quote(&all[at].name));
            let message = format!("{name} controls {one} and not {other}, which depends on it");
            let help = "budgets of a class and in it have one controller: give it both";
            problems.push(values.source.problem(&table.span(), message, help));
        } else if held.len() > MOST {
            let message = format!("{name} controls {} budgets that follow demand", held.len());
            let help = format!("it can control {MOST}: let another domain control some of them");
            problems.push(values.source.problem(&table.span(), message, help));
        }
    }
    problems
}

/// What the environment tells a domain of those reservations that it may control.
pub fn lines(system: &System, domain: &Domain) -> Vec<String> {
    let held = controlled(system, domain);
    let all = &system.reservations;
    let line = |cap: &Capability| {
        let Target::Reservation(index) = cap.target else { return None };
        let node = &all[index];
        let (own, limit) = (node.adaptive?, node.limit?);
        if !held.contains(&index) || !cap.rights.contains(Rights::CONTROL) {
            return None;
        }
        let class = Class::of(node.class, node.cpu);
        let kept = class.at.and_then(|at| all[at].adaptive).map(|it| it.least);
        let inside = Class::of(Some(index), node.cpu);
        let told = adaptive::Adaptive {
            number: index as u64,
            class: class.at.map_or(all.len() as u64 + u64::from(node.cpu), |at| at as u64),
            supply: has(all, class, kept).saturating_sub(taken(all, class)) as u32,
            taken: taken(all, inside) as u32,
            importance: own.importance,
            every: own.every,
            history: own.history,
            least: own.least,
            within: within(all, index),
            limit,
        };
        Some(format!("{PREFIX}{}={told}\n", cap.name))
    };
    domain.caps.iter().filter_map(line).collect()
}
