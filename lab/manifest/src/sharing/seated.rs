//! Tasks whose threads run on reservations: one on each, of which the reservation says the same.

use crate::problem::{Problem, quote};
use crate::schema::{self, Manifest, Word};
use crate::system::{Domain, Reservation, System, Task};
use crate::values::Values;
use abi::reservation::Policy;
use toml::Spanned;

/// What is wrong with such tasks in a system that is right otherwise.
pub fn seated(values: &Values, manifest: &Manifest, system: &System) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (table, domain) in manifest.domain.iter().zip(&system.domains) {
        for (given, task) in table.get_ref().task.iter().map(Spanned::get_ref).zip(&domain.tasks) {
            let (Some(word), Some(index)) = (&given.reservation, task.reservation) else {
                continue;
            };
            problems.extend(
                of_leaf(values, (word, index), domain, system)
                    .or_else(|| shared(values, (word, index), task, system))
                    .or_else(|| differs(values, given, task, system)),
            );
        }
    }
    problems
}

/// Threads run on leaves, of their own CPU.
fn of_leaf(
    values: &Values,
    (word, index): (&Word, usize),
    domain: &Domain,
    system: &System,
) -> Option<Problem> {
    let node = &system.reservations[index];
    let name = quote(&node.name);
    if node.policy.is_some() {
        let message = format!("{name} is a class, on which no thread runs");
        return Some(values.problem(word, message, "name a reservation in it"));
    }
    let cpu = domain.cpu;
    let message = format!("the task's domain runs on CPU {cpu}, and {name} is not of that CPU");
    let help = "name a reservation on the domain's CPU: no other is analysed with it";
    (node.cpu != cpu).then(|| values.problem(word, message, help))
}

/// Nothing else runs on a task's reservation.
fn shared(
    values: &Values,
    (word, index): (&Word, usize),
    task: &Task,
    system: &System,
) -> Option<Problem> {
    let tasks = system.domains.iter().flat_map(|domain| &domain.tasks);
    let mut on = tasks.filter(|other| other.reservation == Some(index));
    let other = on.find(|other| other.name != task.name).map(|other| other.name.as_str());
    let whole = system.domains.iter().find(|domain| {
        let is_own = domain.tasks.iter().any(|own| own.name == task.name);
        domain.reservation == Some(index) && !is_own
    });
    let other = other.or(whole.map(|domain| domain.name.as_str()))?;
    let message = format!("{} runs on this reservation, too", quote(other));
    Some(values.problem(word, message, "give each task a reservation of its own"))
}

/// What both say of the jobs is the same.
fn differs(values: &Values, given: &schema::Task, task: &Task, system: &System) -> Option<Problem> {
    let node = &system.reservations[task.reservation?];
    let period = node.timing.map(|timing| timing.period);
    let period = period.or(node.limit().map(|limit| limit.period));
    let by_budget = goes_by_budget(node, system).then_some(task.load.period);
    let deadline = node.timing.map(|timing| timing.deadline).or(by_budget);
    let of_deadline = given.deadline.as_ref().unwrap_or(&given.period);
    let load = task.load;
    let said = [
        ("execution", &given.execution, node.execution, load.execution),
        ("period", &given.period, period, load.period),
        ("deadline", of_deadline, deadline, load.deadline),
    ];
    let (key, word, ..) =
        said.into_iter().find(|(_, _, of_node, own)| of_node.is_some_and(|it| it != *own))?;
    let message = format!("{} has another `{key}`", quote(&node.name));
    let help = "write the same for both: the kernel goes by the reservation's";
    Some(values.problem(word, message, help))
}

/// Whether the deadlines of a leaf are those of its budget, which are its periods.
fn goes_by_budget(node: &Reservation, system: &System) -> bool {
    let above = node.class.and_then(|class| system.reservations[class].policy);
    above == Some(Policy::EarliestDeadline) && node.timing.is_none() && node.limit().is_some()
}
