//! The longest section of a system: that of the loads which can do what its programs can.

use super::Term;
use super::recorded::Recorded;
use crate::experiment::sections::loads::{CURVES, EDF, FIXED_PRIORITY, PARTITIONS, PLAIN};
use crate::experiment::sections::{LENDING, LOAD, LONGEST, PATH};
use abi::Rights;
use abi::boot::ALL_CPUS;
use abi::object::Resource;
use abi::reservation::{Inheritance, Policy};
use manifest::{Domain, Span, System, TREE, Target};

/// Dequeues between two polls in the loads.
const DEQUEUES: std::ops::RangeInclusive<u32> = 1..=4;

/// Classes in each other of fixed priorities in the load.
const FIXED_LEVELS: usize = 6;

/// What of the manifest brings something, and where.
type Cause = (String, Span);

/// The longest section of a system.
///
/// # Errors
/// None is recorded for its kernel, or options leave sections without a bound: why, and where.
pub fn longest(system: &System, recorded: &Recorded) -> Result<Term, Cause> {
    let kernel = &system.kernel;
    let is_lazy = kernel.ends_with("-lazy") || kernel.ends_with("path");
    if is_lazy && !DEQUEUES.contains(&system.lazy_dequeues) {
        let why = format!("`lazy_dequeues = {}` is not what was measured", system.lazy_dequeues);
        return Err((why, system.kernel_at.clone()));
    }
    if !system.preempt_chains {
        let why = "a chain of transfers has no preemption point, by `preempt_chains = false`";
        return Err((why.to_string(), system.kernel_at.clone()));
    }
    let limits = reach(system).into_iter().filter_map(|(key, cause)| {
        let limit = recorded.limit("sections", &format!("{kernel} {key}"))?;
        Some((limit, cause))
    });
    // Of equal ones the last, which is the innermost of reservations.
    let (all, cause) =
        limits.max_by_key(|(limit, _)| limit.instructions).ok_or_else(|| unrecorded(system))?;
    let usual = Term { what: "section", instructions: all.instructions, recorded: all.name, cause };
    let faults = system.domains.iter().find(|domain| domain.may_fault);
    let Some(domain) = faults else { return Ok(usual) };
    let key = format!("{kernel} {LONGEST} fault-unhandled");
    let line = recorded.limit("sections", &key).ok_or_else(|| unrecorded(system))?;
    let cause = (format!("faults that `{}` may have", domain.name), domain.program_at.clone());
    let line =
        Term { what: "section", instructions: line.instructions, recorded: line.name, cause };
    Ok(if line.instructions > usual.instructions { line } else { usual })
}

/// Why a kernel has no bound.
pub fn unrecorded(system: &System) -> Cause {
    let why = format!("no longest section is recorded for kernel `{}`", system.kernel);
    (why, system.kernel_at.clone())
}

/// The key of the path of a wake-up of these domains, and what brings it.
pub fn path(system: &System, highest: &[&Domain]) -> (String, Cause) {
    let shares = highest.iter().find_map(|domain| shares(system, domain, Rights::SEND));
    let node = system.reservations.first();
    let leaves = node.map(|node| (format!("reservation `{}`", node.name), node.at.clone()));
    let (case, cause) = match shares.or(leaves).or_else(|| dividing(system)) {
        Some(cause) => ("any", cause),
        None => (PLAIN, kernel(system)),
    };
    (format!("{} {PATH} {case}", system.kernel), cause)
}

/// The cases of `sections` that stand for what a system's programs can do, with what brings them.
fn reach(system: &System) -> Vec<(String, Cause)> {
    let plain = (format!("{LOAD} {PLAIN}"), kernel(system));
    let any = format!("{LONGEST} any");
    let shares = sharing(system);
    if system.kernel != TREE {
        return shares.map(|cause| (any, cause)).into_iter().chain([plain]).collect();
    }
    let all = |cause: Cause| {
        let groups = [FIXED_PRIORITY, EDF, PARTITIONS].into_iter();
        let groups = groups.chain(CURVES.iter().map(|(case, _)| *case));
        let keys = groups.map(|case| format!("{LOAD} {case}")).chain([any.clone()]);
        keys.map(move |key| (key, cause.clone())).collect::<Vec<_>>()
    };
    let divides = dividing(system);
    let has_leaves = !system.reservations.is_empty() || divides.is_some();
    let lends = has_leaves && system.inheritance != Inheritance::None;
    let lending = shares.clone().filter(|_| lends).map(|cause| (format!("{LENDING} any"), cause));
    if let Some(cause) = divides.or(shares) {
        return all(cause).into_iter().chain(lending).collect();
    }
    let mut found = vec![plain];
    for (index, node) in system.reservations.iter().enumerate() {
        let cause = (format!("reservation `{}`", node.name), node.at.clone());
        match group(system, index) {
            Some(case) => found.push((format!("{LOAD} {case}"), cause)),
            None => found.extend(all(cause)),
        }
    }
    found
}

fn kernel(system: &System) -> Cause {
    (format!("kernel `{}`", system.kernel), system.kernel_at.clone())
}

/// The load whose classes are as those that a reservation is in; none: no load of its own has such.
pub fn group(system: &System, index: usize) -> Option<&'static str> {
    let policy = |at: usize| system.reservations[at].policy;
    let policies: Vec<Policy> = system.around(index).filter_map(policy).collect();
    let node = &system.reservations[index];
    if node.cpu == ALL_CPUS || node.adaptive.is_some() {
        return None;
    }
    let is_all = |policy: Policy| policies.iter().all(|own| *own == policy);
    match policies.last() {
        _ if is_all(Policy::FixedPriority) => {
            (policies.len() <= FIXED_LEVELS).then_some(FIXED_PRIORITY)
        }
        _ if is_all(Policy::EarliestDeadline) => (policies.len() == 1).then_some(EDF),
        _ if is_all(Policy::ServiceCurves) => {
            let deep = |(_, levels): &&(_, u64)| policies.len() as u64 <= *levels;
            CURVES.iter().find(deep).map(|(case, _)| *case)
        }
        Some(Policy::Partitions) => match policies[..] {
            [Policy::Partitions] | [Policy::FixedPriority, Policy::Partitions] => Some(PARTITIONS),
            _ => None,
        },
        _ => None,
    }
}

/// What lets threads of a system inherit from each other, or be in trains.
pub fn sharing(system: &System) -> Option<Cause> {
    system.domains.iter().find_map(|domain| shares(system, domain, Rights::RECEIVE))
}

/// What lets threads of a domain inherit, or be in trains: several threads, memory that it writes
/// and another, an endpoint with these rights where another is the other end, or trains.
fn shares(system: &System, domain: &Domain, end: Rights) -> Option<Cause> {
    let (name, at) = (&domain.name, domain.program_at.clone());
    let quota = |resource: Resource| domain.quota[resource as usize] > 0;
    if quota(Resource::Trains) {
        return Some((format!("trains of `{name}`"), at));
    }
    if domain.threads > 1 || quota(Resource::Threads) {
        return Some((format!("threads of `{name}`, which may share mutexes"), at));
    }
    let others = || system.domains.iter().filter(|other| other.name != *name);
    let writes = |domain: &Domain, memory: usize| {
        let mut maps = domain.maps.iter().filter(|map| map.rights.contains(Rights::WRITE));
        maps.any(|map| map.memory == memory)
    };
    let memories = 0..system.memories.len();
    let mut shared = memories
        .filter(|memory| writes(domain, *memory) && others().any(|other| writes(other, *memory)));
    if let Some(memory) = shared.next() {
        let memory = &system.memories[memory].name;
        let why = format!("memory `{memory}`, in which `{name}` and another may share mutexes");
        return Some((why, at));
    }
    let ends = 0..system.endpoints.len();
    let mut ends = ends.filter(|endpoint| {
        let may = |domain: &Domain, rights: Rights| domain.may(*endpoint, rights);
        let other = |own: Rights, their: Rights| {
            may(domain, own) && others().any(|other| may(other, their))
        };
        other(Rights::RECEIVE, Rights::SEND)
            || end == Rights::SEND && other(Rights::SEND, Rights::RECEIVE)
    });
    let endpoint = &system.endpoints[ends.next()?].name;
    Some((format!("calls at `{endpoint}`, where `{name}` may inherit from another"), at))
}

/// What lets programs change the scheduling tree.
pub fn dividing(system: &System) -> Option<Cause> {
    let mut able = system.domains.iter().filter(|domain| {
        let changes = |rights: Rights| (rights & (Rights::CONTROL | Rights::DIVIDE)).0 != 0;
        let mut caps = domain.caps.iter();
        domain.quota[Resource::Reservations as usize] > 0
            || caps.any(|cap| match cap.target {
                Target::Reservation(_) | Target::Root(_) => changes(cap.rights),
                _ => false,
            })
    });
    let domain = able.next()?;
    let why = format!("what `{}` may do with reservations", domain.name);
    Some((why, domain.program_at.clone()))
}
