//! What tasks share, for the analysis: mutexes, servers, and the sections of jobs that hold them.

mod seated;
mod together;

pub use seated::seated;
pub use together::together;

use crate::problem::{Problem, quote};
use crate::reservation::TIMES;
use crate::schema::{self, Manifest, Word};
use crate::system::{Load, Mutex, Protocol, Section, Shared, Task};
use crate::units::spell_duration;
use crate::values::{LONGEST_NAME, Values};
use toml::Spanned;

/// How manifests spell the protocols.
const PROTOCOLS: [&str; 3] = ["inheritance", "ceiling", "none"];

/// The names of all tasks, in their order.
pub fn names(manifest: &Manifest) -> Vec<&Word> {
    let domains = manifest.domain.iter().map(Spanned::get_ref);
    domains.flat_map(|domain| &domain.task).map(|task| &task.get_ref().name).collect()
}

/// Reads a mutex.
pub fn mutex(values: &Values, given: &schema::Mutex) -> Result<Mutex, Problem> {
    let word = given.protocol.as_ref();
    let protocol = word
        .map_or(Ok(PROTOCOLS[0].to_string()), |word| values.one_of("protocol", word, &PROTOCOLS))?;
    let ceiling =
        given.ceiling.as_ref().map(|number| values.within(number, 0..=255)).transpose()?;
    if let Some(number) = &given.ceiling
        && protocol != PROTOCOLS[1]
    {
        let message = format!("a mutex of protocol {} has no ceiling", quote(&protocol));
        let help = "write `protocol = \"ceiling\"`, or leave `ceiling` out";
        return Err(values.problem(number, message, help));
    }
    let protocol = match protocol.as_str() {
        "ceiling" => Protocol::Ceiling(ceiling.map(|ceiling| ceiling as u8)),
        "none" => Protocol::Nothing,
        _ => Protocol::Inheritance,
    };
    Ok(Mutex { name: given.name.get_ref().clone(), protocol })
}

/// The sections of a domain whose threads have their jobs together.
pub fn of_domain(values: &Values, given: &schema::Domain) -> Result<Vec<Section>, Problem> {
    let Some(first) = given.sections.first() else { return Ok(Vec::new()) };
    let Some(execution) = given.execution.as_ref().filter(|_| given.reservation.is_none()) else {
        let (message, help) = match given.reservation.is_some() {
            true => (
                "sections belong to tasks where threads run on reservations",
                "write them into a `[[domain.task]]` that names the `reservation`, too",
            ),
            false => (
                "`sections` belong to jobs, and nothing says which the domain has",
                "write `execution` and `period`, or a `[[domain.task]]` with the sections",
            ),
        };
        return Err(values.problem(first, message, help));
    };
    sections(values, &given.sections, execution)
}

/// The tasks of a domain.
pub fn tasks(values: &Values, given: &schema::Domain) -> Result<Vec<Task>, Problem> {
    let Some(first) = given.task.first() else { return Ok(Vec::new()) };
    if let Some(word) =
        [&given.execution, &given.period, &given.deadline].into_iter().flatten().next()
    {
        let message = "the tasks of the domain say what jobs it has";
        let help = "write this into a `[[domain.task]]`, or leave the tasks out";
        return Err(values.problem(word, message, help));
    }
    if given.reservation.is_some() && !is_its_only_one(given, first.get_ref()) {
        let message = "a domain with a reservation has no tasks: its threads share its time";
        let help = "leave out `reservation`, or the tasks; a task can name one for its thread";
        return Err(values.problem(first, message, help));
    }
    let threads = given.threads.as_ref().map_or(1, |threads| *threads.get_ref());
    if given.task.len() as i128 > threads {
        let (message, help) = (
            format!("{} tasks are more than the domain's threads, {threads}", given.task.len()),
            format!("write `threads = {}` or more", given.task.len()),
        );
        return Err(values.problem(first, message, help));
    }
    given.task.iter().map(|table| task(values, given, table.get_ref())).collect()
}

/// Whether a task is that of a domain's only thread, and says what that runs on.
fn is_its_only_one(given: &schema::Domain, task: &schema::Task) -> bool {
    let is_alone = given.threads.as_ref().is_none_or(|threads| *threads.get_ref() == 1);
    let own = given.reservation.as_ref().map(Spanned::get_ref);
    let is_same = match (own, &task.reservation) {
        (Some(schema::WordOr::Word(own)), Some(word)) => own == word.get_ref(),
        _ => false,
    };
    is_alone && is_same
}

fn task(values: &Values, domain: &schema::Domain, given: &schema::Task) -> Result<Task, Problem> {
    let priority = values.within(&given.priority, 0..=255)?;
    let most = domain.max_priority.as_ref().unwrap_or(&domain.priority);
    if i128::from(priority) > *most.get_ref() {
        let message = format!("priority {priority} is above the {} of its domain", most.get_ref());
        let help = format!("write `max_priority = {priority}` or more for the domain");
        return Err(values.problem(&given.priority, message, help));
    }
    let period = values.duration(&given.period, TIMES)?;
    let deadline = given.deadline.as_ref();
    Ok(Task {
        name: values.name(&given.name, LONGEST_NAME)?,
        priority: priority as u8,
        load: Load {
            execution: values.duration(&given.execution, TIMES)?,
            period,
            deadline: deadline.map_or(Ok(period), |word| values.duration(word, TIMES))?,
        },
        reservation: given
            .reservation
            .as_ref()
            .map(|word| values.find("reservation", word))
            .transpose()?,
        sections: sections(values, &given.sections, &given.execution)?,
    })
}

/// Sections of a job that takes so long.
fn sections(
    values: &Values,
    given: &[Spanned<schema::Section>],
    execution: &Word,
) -> Result<Vec<Section>, Problem> {
    let most = values.duration(execution, TIMES)?;
    let section = |entry: &Spanned<schema::Section>| {
        let given = entry.get_ref();
        let shared = shared(values, entry)?;
        let length = values.duration(&given.length, TIMES)?;
        if length > most {
            let length = given.length.get_ref();
            let message =
                format!("a section of {length} exceeds the job of {}", spell_duration(most));
            let help = "sections are part of `execution`: raise that, or shorten the section";
            return Err(values.problem(&given.length, message, help));
        }
        Ok(Section { shared, length, at: entry.span() })
    };
    given.iter().map(section).collect()
}

/// What a section holds.
fn shared(values: &Values, entry: &Spanned<schema::Section>) -> Result<Shared, Problem> {
    let given = entry.get_ref();
    match (&given.mutex, &given.mutexes, &given.endpoint) {
        (Some(word), None, None) => Ok(Shared::Mutexes(vec![values.find("mutex", word)?])),
        (None, Some(list), None) => several(values, list),
        (None, None, Some(word)) => Ok(Shared::Endpoint(values.find("endpoint", word)?)),
        (None, None, None) => {
            let help = "add `mutex = NAME`, or `endpoint = NAME` for a call to a server";
            Err(values.problem(entry, "the section names nothing that it holds", help))
        }
        _ => {
            let message = "a section is of `mutex`, of `mutexes` or of an `endpoint`";
            let help = "write a section for each; `mutexes = [...]` are held together";
            Err(values.problem(entry, message, help))
        }
    }
}

fn several(values: &Values, list: &Spanned<Vec<Word>>) -> Result<Shared, Problem> {
    let mut found = Vec::new();
    for word in list.get_ref() {
        let index = values.find("mutex", word)?;
        if found.contains(&index) {
            let message = format!("{} is named twice", quote(word.get_ref()));
            return Err(values.problem(word, message, "leave one of the two out"));
        }
        found.push(index);
    }
    if found.is_empty() {
        let help = "name the mutexes in the order in which they are locked";
        return Err(values.problem(list, "the section names no mutex", help));
    }
    Ok(Shared::Mutexes(found))
}
