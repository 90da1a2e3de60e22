//! Where each reservation is: the class above it, its CPU, and how deep.

use abi::boot::ALL_CPUS;
use abi::reservation::Policy;

use super::Draft;
use crate::problem::{Problem, quote};
use crate::values::Values;

/// Levels of a CPU's tree, the root's included.
const LEVELS: usize = 8;

/// How manifests spell the policies, in the order of [`Policy::ALL`].
const POLICIES: [&str; 4] = ["fixed-priority", "edf", "service-curves", "partitions"];

/// What manifests call the class that all CPUs share.
pub const SHARED: &str = "cpus";

/// A reservation's place in the tree.
pub struct Place {
    /// The class above it; none: the root of its CPU.
    pub class: Option<usize>,
    /// Its CPU, or [`ALL_CPUS`].
    pub cpu: u32,
    /// Its own policy, if it is a class.
    pub policy: Option<Policy>,
    /// The policy of the class above it.
    pub above: Policy,
    /// What messages call that class.
    pub above_name: String,
}

/// The places of all reservations.
pub fn places(values: &Values, drafts: &[Draft], cpus: u32) -> Result<Vec<Place>, Vec<Problem>> {
    let nameless = drafts.iter().filter(|draft| draft.name.is_none());
    let nameless: Vec<Problem> = nameless
        .map(|draft| {
            values.source.problem(&draft.at, "`name` is missing", "write `name = \"NAME\"`")
        })
        .collect();
    if !nameless.is_empty() {
        return Err(nameless);
    }
    let mut problems = Vec::new();
    let mut keep = |problem: Problem| problems.push(problem);
    let mut policies = Vec::new();
    for draft in drafts {
        policies.push(policy(values, draft).unwrap_or_else(|problem| {
            keep(problem);
            None
        }));
    }
    let mut places = Vec::new();
    for (draft, policy) in drafts.iter().zip(&policies) {
        let found = class(values, draft, drafts).and_then(|class| {
            let cpu = if class.is_none() { own_cpu(values, draft, cpus)? } else { 0 };
            let (above, above_name) = match class {
                Some(class) => (policies[class], quote(name(&drafts[class]))),
                None if cpu == ALL_CPUS => (Some(Policy::EarliestDeadline), quote(SHARED)),
                None => (None, "the root".to_string()),
            };
            let above = above.unwrap_or(Policy::FixedPriority);
            Ok(Place { class, cpu, policy: *policy, above, above_name })
        });
        match found {
            Ok(place) => places.push(place),
            Err(problem) => keep(problem),
        }
    }
    if problems.is_empty() {
        problems.extend(cycle(values, drafts, &places));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    for index in 0..places.len() {
        let (levels, top) = climb(&places, index);
        places[index].cpu = places[top].cpu;
        // What is below it is too deep as well.
        if levels == LEVELS {
            let at = super::span_of(drafts[index].given.class.as_ref(), &drafts[index].at);
            let message =
                format!("{} is on level 9 of its CPU's tree", quote(name(&drafts[index])));
            let help = "there are 8 levels, the root's included: join two of the classes above it";
            problems.push(values.source.problem(&at, message, help));
        }
    }
    if problems.is_empty() { Ok(places) } else { Err(problems) }
}

/// What messages call a reservation.
pub fn name<'a>(draft: &Draft<'a>) -> &'a str {
    draft.name.map_or("", |name| name.get_ref())
}

/// A reservation's policy, if it is a class.
fn policy(values: &Values, draft: &Draft) -> Result<Option<Policy>, Problem> {
    if draft.domain.is_some()
        && let Some(name) = &draft.given.name
    {
        let help = "it is called as its domain is: leave `name` out";
        return Err(values.problem(name, "a domain's own reservation has no other name", help));
    }
    if let Some(name) = draft.name.filter(|name| root(name.get_ref()).is_some()) {
        let message = match name.get_ref() == SHARED {
            true => format!("{} is the class that all CPUs share", quote(SHARED)),
            false => format!("{} is the root of a CPU", quote(name.get_ref())),
        };
        return Err(values.problem(name, message, "choose another name"));
    }
    let Some(word) = &draft.given.policy else { return Ok(None) };
    if draft.domain.is_some() {
        let help = "make it a `[[reservation]]`, and let the domain name a reservation in it";
        return Err(values.problem(word, "a class has reservations in it, not threads", help));
    }
    let policy = values.one_of("policy", word, &POLICIES)?;
    let policies = POLICIES.iter().zip(Policy::ALL);
    Ok(policies.filter(|(name, _)| **name == policy).map(|(_, policy)| policy).next())
}

/// The CPU whose root has this name; [`ALL_CPUS`]: the class that all of them share.
pub fn root(name: &str) -> Option<u32> {
    if name == SHARED {
        return Some(ALL_CPUS);
    }
    let digits = name.strip_prefix("cpu")?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty();
    is_plain.then(|| digits.parse().unwrap_or(u32::MAX))
}

/// The class that a reservation is in.
fn class(values: &Values, draft: &Draft, drafts: &[Draft]) -> Result<Option<usize>, Problem> {
    let Some(word) = draft.given.class.as_ref().filter(|_| !is_shared(draft)) else {
        return Ok(None);
    };
    if root(word.get_ref()).is_some() {
        let help = "leave `in` out, and write `cpu = N` for another CPU than 0";
        return Err(values.problem(word, "what is right below a root has no `in`", help));
    }
    let class = values.find("reservation", word)?;
    if drafts[class].given.policy.is_none() {
        let message = format!("{} is no class", quote(word.get_ref()));
        let help = "a class has a `policy`: give it one, or name another";
        return Err(values.problem(word, message, help));
    }
    if let Some(cpu) = &draft.given.cpu {
        let message = "`cpu` means nothing here: the CPU is that of the class in `in`";
        return Err(values.problem(cpu, message, "leave it out"));
    }
    Ok(Some(class))
}

/// Whether a reservation is right below the class that all CPUs share.
fn is_shared(draft: &Draft) -> bool {
    draft.given.class.as_ref().is_some_and(|word| word.get_ref() == SHARED)
}

/// The CPU of a reservation right below a root.
fn own_cpu(values: &Values, draft: &Draft, cpus: u32) -> Result<u32, Problem> {
    let last = u64::from(cpus) - 1;
    if is_shared(draft) {
        let Some(cpu) = &draft.given.cpu else { return Ok(ALL_CPUS) };
        let message = "`cpu` means nothing here: any CPU runs what is in \"cpus\"";
        return Err(values.problem(cpu, message, "leave it out"));
    }
    let Some(domain) = draft.domain else {
        return Ok(values.number(&draft.given.cpu, 0, 0..=last)? as u32);
    };
    match &draft.given.cpu {
        Some(cpu) => {
            let message = "`cpu` means nothing here: the CPU is that of the domain";
            Err(values.problem(cpu, message, "leave it out"))
        }
        // A wrong one is told where the domain is read.
        None => Ok(values.number(&domain.cpu, 0, 0..=last).unwrap_or(0) as u32),
    }
}

/// A class that is in itself.
fn cycle(values: &Values, drafts: &[Draft], places: &[Place]) -> Option<Problem> {
    let index = (0..places.len()).find(|index| {
        let above = std::iter::successors(places[*index].class, |at| places[*at].class);
        above.take(places.len()).any(|above| above == *index)
    })?;
    let word = drafts[index].given.class.as_ref()?;
    let message = format!("{} would be in itself", quote(name(&drafts[index])));
    let help = "let one of the classes be in another one, or right below the root: without `in`";
    Some(values.problem(word, message, help))
}

/// How many levels lie above a reservation, the root's included, and which one is right below it.
fn climb(places: &[Place], index: usize) -> (usize, usize) {
    let way = std::iter::successors(Some(index), |at| places[*at].class);
    way.fold((0, index), |(levels, _), at| (levels + 1, at))
}
