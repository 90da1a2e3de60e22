//! Instants of the scheduling tree that may go before a thread's: budgets, windows, jobs, curves.
//!
//! They interrupt alike, whatever runs, so all can come at the instant of the highest thread. What
//! one costs is what a herd of them has cost a thread, for each of the herd.

use super::Term;
use super::recorded::Recorded;
use super::section::unrecorded;
use abi::object::Resource;
use abi::reservation::Policy;
use manifest::{Span, System, TREE};

/// What the terms are of.
pub const WHAT: &str = "instants";

/// The threads of the recorded herd.
const HERD: u64 = 128;

/// The attacks of `herd`: for each thread a budget, a job with a deadline, a class of two windows,
/// a leaf with a curve.
const BUDGETS: &str = "budgets";
const MISSES: &str = "misses";
const WINDOWS: &str = "windows";
const CURVES: &str = "curves";

/// Nanoseconds within which an instant of a reservation does not come again: the least period.
pub const ONCE: u64 = 100_000;

/// What the instants of all reservations of a CPU take, and of those that programs may make.
///
/// # Errors
/// A figure is not recorded.
pub fn terms(system: &System, cpu: u32, recorded: &Recorded) -> Result<Vec<Term>, (String, Span)> {
    let made = system.domains.iter().filter(|it| it.quota[Resource::Reservations as usize] > 0);
    let mut terms = Vec::new();
    if system.kernel != TREE {
        return Ok(terms);
    }
    for (index, node) in system.reservations.iter().enumerate() {
        if node.cpu != cpu && node.cpu != abi::boot::ALL_CPUS {
            continue;
        }
        let on = system.domains.iter().filter(|domain| domain.reservation == Some(index));
        let threads: u64 =
            on.map(|it| u64::from(it.threads) + it.quota[Resource::Threads as usize]).sum();
        let class = node.class.and_then(|class| system.reservations[class].policy);
        let each = match class {
            Some(Policy::ServiceCurves) => CURVES,
            _ => MISSES,
        };
        let budgets = u64::from(node.limit().is_some());
        // Without a thread of the manifest, one that is moved there.
        let jobs = if node.policy.is_none() { threads.max(1) } else { 0 };
        // Those of one class come one after the other, and each lasts longer than that.
        let windows = u64::from(!node.windows.is_empty());
        let cause = (format!("reservation `{}`", node.name), node.at.clone());
        for (attack, count) in [(BUDGETS, budgets), (each, jobs), (WINDOWS, windows)] {
            terms.extend(term(system, recorded, attack, count, cause.clone())?);
        }
    }
    for domain in made {
        let [nodes, threads] = [Resource::Reservations, Resource::Threads]
            .map(|resource| domain.quota[resource as usize]);
        let count = nodes.max(threads);
        let why = format!("the {nodes} reservations that `{}` may make", domain.name);
        let cause = (why, domain.program_at.clone());
        terms.extend(term(system, recorded, CURVES, count, cause)?);
    }
    Ok(terms)
}

fn term(
    system: &System,
    recorded: &Recorded,
    attack: &str,
    count: u64,
    cause: (String, Span),
) -> Result<Option<Term>, (String, Span)> {
    if count == 0 {
        return Ok(None);
    }
    let key = format!("{TREE} delay-worst event=timer attack={attack} threads={HERD}");
    let herd = recorded.limit("herd", &key).ok_or_else(|| unrecorded(system))?;
    let each = herd.instructions.div_ceil(HERD);
    let recorded = format!("{count} x {each}, of {}", herd.name);
    Ok(Some(Term { what: WHAT, instructions: count * each, recorded, cause }))
}
