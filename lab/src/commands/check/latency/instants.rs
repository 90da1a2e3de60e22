//! Instants of the scheduling tree that may go before a thread's: budgets, windows, jobs, curves.
//!
//! Those that are no less urgent than the highest thread can all come at its instant. Each is a
//! step of a decision, which is no longer than the longest stretch of a load of such classes.

use super::Term;
use super::recorded::Recorded;
use super::section::{group, sharing, unrecorded};
use crate::experiment::sections::{LOAD, LONGEST};
use abi::object::Resource;
use manifest::{Span, System, TREE};

/// What the terms are of.
pub const WHAT: &str = "instants";

/// Nanoseconds within which an instant of a reservation does not come again: the least period.
pub const ONCE: u64 = 100_000;

/// What the instants of reservations of a CPU take that are no less urgent than its highest thread,
/// and of those that programs may make.
///
/// # Errors
/// A figure is not recorded.
pub fn terms(
    system: &System,
    (cpu, highest): (u32, u16),
    recorded: &Recorded,
) -> Result<Vec<Term>, (String, Span)> {
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
        let is_urgent = system.urgency_of(index) >= highest || node.cpu == abi::boot::ALL_CPUS;
        let budgets = u64::from(is_urgent && node.limit().is_some());
        // Those of one class come one after the other, and each lasts longer than that.
        let windows = u64::from(is_urgent && !node.windows.is_empty());
        // Those of threads that others lend to, or whose misses the manifest has told, are as
        // urgent as any. Without a thread of the manifest, one that is moved there.
        let has_jobs = is_urgent || node.monitor.is_some() || sharing(system).is_some();
        let jobs = if has_jobs && node.policy.is_none() { threads.max(1) } else { 0 };
        let load = group(system, index).map(|case| format!("{LOAD} {case}"));
        let cause = (format!("reservation `{}`", node.name), node.at.clone());
        terms.extend(term(system, recorded, load, budgets + windows + jobs, cause)?);
    }
    for domain in made {
        let [nodes, threads] = [Resource::Reservations, Resource::Threads]
            .map(|resource| domain.quota[resource as usize]);
        let count = nodes.max(threads);
        let why = format!("the {nodes} reservations that `{}` may make", domain.name);
        let cause = (why, domain.program_at.clone());
        terms.extend(term(system, recorded, None, count, cause)?);
    }
    Ok(terms)
}

/// So many instants of nodes of a load, or of any.
fn term(
    system: &System,
    recorded: &Recorded,
    load: Option<String>,
    count: u64,
    cause: (String, Span),
) -> Result<Option<Term>, (String, Span)> {
    if count == 0 {
        return Ok(None);
    }
    let key = format!("{TREE} {}", load.unwrap_or_else(|| format!("{LONGEST} any")));
    let each = recorded.limit("sections", &key).ok_or_else(|| unrecorded(system))?;
    let recorded = format!("{count} x {}, of {}", each.instructions, each.name);
    Ok(Some(Term { what: WHAT, instructions: count * each.instructions, recorded, cause }))
}
