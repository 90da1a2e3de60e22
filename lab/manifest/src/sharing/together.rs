//! What only several sections together get wrong.

use crate::problem::{Problem, quote};
use crate::schema::Manifest;
use crate::system::{Protocol, Section, Shared, System};
use crate::values::Values;
use abi::Rights;
use abi::boot::ALL_CPUS;

/// A section with whose it is.
struct Use<'a> {
    domain: usize,
    /// What messages call the task.
    task: &'a str,
    priority: u8,
    /// Whether the task's thread runs on a reservation.
    reserved: bool,
    section: &'a Section,
}

/// What is wrong with the sections of a system that is right otherwise.
pub fn together(values: &Values, manifest: &Manifest, system: &System) -> Vec<Problem> {
    let uses = uses(system);
    let Some(first) = uses.first() else { return Vec::new() };
    if system.reservations.iter().any(|node| node.cpu == ALL_CPUS) {
        let message = "no bound is known of sections beside the class that all CPUs share";
        let help = "give each reservation a CPU of its own, or leave `sections` out";
        return vec![values.source.problem(&first.section.at, message, help)];
    }
    let each = uses.iter().filter_map(|one| match &one.section.shared {
        Shared::Mutexes(mutexes) => one_protocol(values, system, one, mutexes).or_else(|| {
            mutexes.iter().find_map(|mutex| of_mutex(values, system, &uses, one, *mutex))
        }),
        Shared::Endpoint(endpoint) => of_endpoint(values, system, one, *endpoint),
    });
    let mut problems: Vec<Problem> = each.collect();
    problems.extend(low_ceilings(values, manifest, system, &uses));
    if problems.is_empty() {
        problems.extend(ring(values, system, &uses));
    }
    problems
}

fn uses(system: &System) -> Vec<Use<'_>> {
    let mut all = Vec::new();
    for (domain, given) in system.domains.iter().enumerate() {
        let own = (given.name.as_str(), given.priority, false, &given.sections);
        let tasks = given
            .tasks
            .iter()
            .map(|it| (it.name.as_str(), it.priority, it.reservation.is_some(), &it.sections));
        for (task, priority, reserved, sections) in [own].into_iter().chain(tasks) {
            let of = |section| Use { domain, task, priority, reserved, section };
            all.extend(sections.iter().map(of));
        }
    }
    all
}

/// Mutexes that are held together are of one protocol.
fn one_protocol(values: &Values, system: &System, one: &Use, mutexes: &[usize]) -> Option<Problem> {
    let is_ceiling =
        |mutex: &usize| matches!(system.mutexes[*mutex].protocol, Protocol::Ceiling(_));
    let other = mutexes.iter().find(|mutex| is_ceiling(mutex) != is_ceiling(&mutexes[0]))?;
    let [first, other] = [&mutexes[0], other].map(|mutex| quote(&system.mutexes[*mutex].name));
    let message = format!("{first} and {other} are held together, and one alone has a ceiling");
    let help = "give both the same `protocol`: to wait with a ceiling has no bound";
    Some(values.source.problem(&one.section.at, message, help))
}

/// Whether a mutex may be used by this one and those before it.
fn of_mutex(
    values: &Values,
    system: &System,
    uses: &[Use],
    one: &Use,
    mutex: usize,
) -> Option<Problem> {
    let (name, domain) = (quote(&system.mutexes[mutex].name), &system.domains[one.domain]);
    match system.mutexes[mutex].protocol {
        Protocol::Inheritance => {
            let first = uses.iter().find(|other| holds(other, mutex))?;
            if first.domain == one.domain {
                return None;
            }
            let other = quote(&system.domains[first.domain].name);
            let message =
                format!("{name} is of domain {other}: inheritance ends at a domain's border");
            let help =
                "write `protocol = \"ceiling\"` for it, with a `CeilingMutex` in the programs";
            Some(values.source.problem(&one.section.at, message, help))
        }
        Protocol::Ceiling(_) if one.reserved => {
            let task = quote(one.task);
            let message = format!(
                "{task} runs on a reservation, where the ceiling of {name} has no effect: it is \
                 refused the mutex"
            );
            let help = "leave `protocol` out, with an `InheritMutex` in the programs";
            Some(values.source.problem(&one.section.at, message, help))
        }
        Protocol::Ceiling(Some(ceiling)) if ceiling > domain.max_priority => {
            let message = format!(
                "the ceiling of {name}, {ceiling}, is above the {} of domain {}",
                domain.max_priority,
                quote(&domain.name)
            );
            let help = format!("write `max_priority = {ceiling}` or more for the domain");
            Some(values.source.problem(&one.section.at, message, help))
        }
        Protocol::Ceiling(_) | Protocol::Nothing => None,
    }
}

/// Whether a task may call, and one domain serves.
fn of_endpoint(values: &Values, system: &System, one: &Use, endpoint: usize) -> Option<Problem> {
    let name = quote(&system.endpoints[endpoint].name);
    if !system.domains[one.domain].may(endpoint, Rights::SEND) {
        let domain = quote(&system.domains[one.domain].name);
        let message = format!("domain {domain} has no capability to call {name}");
        let help = "add a capability to it with right \"send\" to the domain's `caps`";
        return Some(values.source.problem(&one.section.at, message, help));
    }
    let servers = system.servers(endpoint);
    let (message, help) = match servers.len() {
        1 => return None,
        0 => (
            format!("no domain receives from {name}, so a call never ends"),
            "add a capability with right \"receive\" to the `caps` of the server",
        ),
        _ => (
            format!("several domains receive from {name}, and a section is for one server"),
            "give each server an endpoint of its own",
        ),
    };
    Some(values.source.problem(&one.section.at, message, help))
}

/// Ceilings below a task that uses the mutex: the kernel refuses it the mutex.
fn low_ceilings(
    values: &Values,
    manifest: &Manifest,
    system: &System,
    uses: &[Use],
) -> Vec<Problem> {
    let low = |(mutex, given): (usize, &crate::schema::Mutex)| {
        let Protocol::Ceiling(Some(ceiling)) = system.mutexes[mutex].protocol else { return None };
        let users = uses.iter().filter(|one| holds(one, mutex));
        let highest = users.max_by_key(|one| one.priority)?;
        let (priority, task) = (highest.priority, quote(highest.task));
        let message = format!("the ceiling {ceiling} is below the priority of {task}, {priority}");
        let help = format!("raise it to {priority} at least, or leave it out");
        let number = given.ceiling.as_ref()?;
        (priority > ceiling).then(|| values.problem(number, message, help))
    };
    manifest.mutex.iter().enumerate().filter_map(low).collect()
}

fn holds(one: &Use, mutex: usize) -> bool {
    matches!(&one.section.shared, Shared::Mutexes(mutexes) if mutexes.contains(&mutex))
}

/// Mutexes that are locked in different orders, so that tasks can wait for each other in a ring.
fn ring(values: &Values, system: &System, uses: &[Use]) -> Option<Problem> {
    let count = system.mutexes.len();
    // Which mutex is locked while which one is held, also with others in between.
    let mut after = vec![vec![false; count]; count];
    for one in uses {
        let Shared::Mutexes(mutexes) = &one.section.shared else { continue };
        // With ceilings no task waits for a mutex on its CPU.
        if matches!(system.mutexes[mutexes[0]].protocol, Protocol::Ceiling(_)) {
            continue;
        }
        for (at, held) in mutexes.iter().enumerate() {
            for next in &mutexes[at + 1..] {
                if *next == *held || after[*next][*held] {
                    let [held, next] = [held, next].map(|it| quote(&system.mutexes[*it].name));
                    let message = format!(
                        "{} locks {held} before {next}, and another section the other way round",
                        quote(one.task)
                    );
                    let help = "lock mutexes in one order everywhere: else tasks wait in a ring";
                    return Some(values.source.problem(&one.section.at, message, help));
                }
                add(&mut after, *held, *next);
            }
        }
    }
    None
}

/// Adds an order, and all that follow from it.
fn add(after: &mut [Vec<bool>], held: usize, next: usize) {
    let count = after.len();
    let before: Vec<usize> = (0..count).filter(|it| *it == held || after[*it][held]).collect();
    let behind: Vec<usize> = (0..count).filter(|it| *it == next || after[next][*it]).collect();
    for from in before {
        for to in &behind {
            after[from][*to] = true;
        }
    }
}
