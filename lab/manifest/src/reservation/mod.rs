//! Reservations of CPU time and the classes that they are in: from `[[reservation]]` and the
//! tables of domains to a tree that the kernel accepts.

mod adaptive;
mod controlled;
mod defaults;
mod domains;
mod node;
mod place;
mod promised;
mod reaction;
mod windows;

pub use controlled::{lines, problems as uncontrolled};
pub use defaults::add as add_default_classes;
pub use domains::{TIMES, load, target};

use abi::boot::ALL_CPUS;
use toml::Spanned;

use crate::problem::{Problem, Span};
use crate::schema::{self, Manifest, Word, WordOr};
use crate::system::{Reservation, System};
use crate::target::Target;
use crate::values::Values;

/// A reservation as the manifest gives it.
struct Draft<'a> {
    /// None: it is left out.
    name: Option<&'a Word>,
    given: &'a schema::Reservation,
    at: Span,
    /// The domain whose own it is.
    domain: Option<&'a schema::Domain>,
}

/// The reservations of a manifest in its order.
#[derive(Default)]
pub struct Found {
    reservations: Vec<Reservation>,
    /// Which one each domain runs on.
    used: Vec<Option<usize>>,
}

/// All reservations: those with a name, then the domains' own.
fn drafts(manifest: &Manifest) -> Vec<Draft<'_>> {
    let named = manifest.reservation.iter().map(|table| {
        let given = table.get_ref();
        Draft { name: given.name.as_ref(), given, at: table.span(), domain: None }
    });
    let own = manifest.domain.iter().filter_map(|table| {
        let domain = table.get_ref();
        let (given, at) = own(domain)?;
        Some(Draft { name: Some(&domain.name), given, at, domain: Some(domain) })
    });
    named.chain(own).collect()
}

/// The table of a domain's own reservation.
fn own(domain: &schema::Domain) -> Option<(&schema::Reservation, Span)> {
    let reservation = domain.reservation.as_ref()?;
    match reservation.get_ref() {
        WordOr::Table(given) => Some((given, reservation.span())),
        WordOr::Word(_) => None,
    }
}

/// The names of all reservations, in their order.
pub fn names(manifest: &Manifest) -> Vec<&Word> {
    drafts(manifest).into_iter().filter_map(|draft| draft.name).collect()
}

/// Reads the reservations for a machine with so many CPUs, and which ones the domains run on.
///
/// # Errors
/// All that is wrong with them.
pub fn read(values: &Values, manifest: &Manifest, cpus: u32) -> Result<Found, Vec<Problem>> {
    let drafts = drafts(manifest);
    let places = place::places(values, &drafts, cpus)?;
    let mut problems = Vec::new();
    let mut all = Vec::new();
    for (draft, place) in drafts.iter().zip(&places) {
        match node::read(values, draft, place) {
            Ok(reservation) => all.push(reservation),
            Err(problem) => problems.push(problem),
        }
    }
    let used = domains::used(values, manifest, &drafts, &places, cpus);
    let used = used.into_iter().filter_map(|used| used.map_err(|it| problems.push(it)).ok());
    let used: Vec<Option<usize>> = used.collect();
    if problems.is_empty() {
        windows::lay_out(values, &drafts, &mut all, &mut problems);
    }
    if problems.is_empty() {
        problems.extend(promised::excess(values, &drafts, &all, cpus));
        if problems.is_empty() {
            problems.extend(adaptive::settle(values, &drafts, &mut all));
        }
        problems.extend(reaction::together(values, manifest, &drafts, &all, &used));
    }
    if problems.is_empty() { Ok(Found { reservations: all, used }) } else { Err(problems) }
}

/// Gives a system its reservations, each behind its class, and the domains theirs.
pub fn attach(system: &mut System, found: &Found) {
    let Found { reservations, used } = found;
    let depth = |index: usize| {
        std::iter::successors(Some(index), |index| reservations[*index].class).count()
    };
    let mut order: Vec<usize> = (0..reservations.len()).collect();
    order.sort_by_key(|index| depth(*index));
    let place = |old: usize| order.iter().position(|index| *index == old).expect("all are there");
    let moved = |index: &usize| {
        let reservation = reservations[*index].clone();
        Reservation { class: reservation.class.map(place), ..reservation }
    };
    system.reservations = order.iter().map(moved).collect();
    for (domain, used) in system.domains.iter_mut().zip(used) {
        domain.reservation = used.map(place);
        for task in &mut domain.tasks {
            task.reservation = task.reservation.map(place);
        }
        for cap in &mut domain.caps {
            if let Target::Reservation(index) = cap.target {
                cap.target = Target::Reservation(place(index));
            }
        }
    }
}

/// The kernel's name where the manifest names one that has no scheduling tree though it needs it.
pub fn wrong_kernel(values: &Values, manifest: &Manifest, system: &System) -> Option<Problem> {
    let kernel = manifest.system.get_ref().kernel.as_ref()?;
    if !system.needs_tree() || kernel.get_ref() == crate::TREE {
        return None;
    }
    let message = format!("kernel `{}` has no reservations", kernel.get_ref());
    let help = "write `kernel = \"tree\"`, or leave it out: the manifest has reservations";
    Some(values.problem(kernel, message, help))
}

/// The priority of the class that all CPUs share where nothing is in it.
pub fn idle_priority(values: &Values, manifest: &Manifest, system: &System) -> Option<Problem> {
    let given = manifest.system.get_ref().shared_priority.as_ref()?;
    if system.roots().contains(&ALL_CPUS) {
        return None;
    }
    let message = "`shared_priority` means nothing here: no reservation is in \"cpus\"";
    Some(values.problem(given, message, "leave it out, or write `in = \"cpus\"` in a reservation"))
}

/// Where a value is, or the whole table if it is left out.
fn span_of<T>(value: Option<&Spanned<T>>, table: &Span) -> Span {
    value.map_or(table.clone(), Spanned::span)
}
