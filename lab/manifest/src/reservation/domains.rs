//! Which reservations domains run on, and what they may name.

use super::place::{self, Place};
use super::{Draft, own};
use crate::problem::{Problem, quote};
use crate::schema::{self, Manifest, Word, WordOr};
use crate::system::Load;
use crate::target::Target;
use crate::values::Values;
use abi::boot::ALL_CPUS;
use toml::Spanned;

/// The shortest and the longest time of a job.
pub const TIMES: std::ops::RangeInclusive<u64> = 1_000..=86_400_000_000_000;

/// The reservation of each domain.
pub fn used(
    values: &Values,
    manifest: &Manifest,
    drafts: &[Draft],
    places: &[Place],
    cpus: u32,
) -> Vec<Result<Option<usize>, Problem>> {
    let used = |domain: &schema::Domain| {
        let Some(reservation) = &domain.reservation else { return Ok(None) };
        let index = match reservation.get_ref() {
            WordOr::Word(name) => {
                let word = Word::new(reservation.span(), name.clone());
                leaf(values, &word, places)?
            }
            WordOr::Table(_) => {
                let is_own =
                    |draft: &Draft| draft.domain.is_some_and(|it| std::ptr::eq(it, domain));
                drafts.iter().position(is_own).expect("each table is among them")
            }
        };
        let cpu = domain.cpu.as_ref().map_or(0, |cpu| *cpu.get_ref());
        if places[index].cpu == ALL_CPUS {
            return everywhere(values, domain, reservation, cpus).map(|()| Some(index));
        }
        if cpu != i128::from(places[index].cpu) {
            let message = format!(
                "the domain runs on CPU {cpu}, and its reservation is of CPU {}",
                places[index].cpu
            );
            let help = "set the domain's `cpu`, or the `cpu` of what is right below the root";
            return Err(values.problem(reservation, message, help));
        }
        Ok(Some(index))
    };
    manifest.domain.iter().map(|table| used(table.get_ref())).collect()
}

/// A domain whose reservation any CPU may run may use all of them.
fn everywhere<T>(
    values: &Values,
    domain: &schema::Domain,
    reservation: &Spanned<T>,
    cpus: u32,
) -> Result<(), Problem> {
    let Some(list) = &domain.cpus else { return Ok(()) };
    let is_there = |cpu: u32| list.get_ref().iter().any(|it| *it.get_ref() == i128::from(cpu));
    let Some(missing) = (0..cpus).find(|cpu| !is_there(*cpu)) else { return Ok(()) };
    let message =
        format!("any CPU runs this reservation, and the domain may not use CPU {missing}");
    let help = "leave `cpus` out, or give it a reservation on one of its CPUs";
    Err(values.problem(reservation, message, help))
}

/// The leaf that a word names.
fn leaf(values: &Values, word: &Word, places: &[Place]) -> Result<usize, Problem> {
    let index = values.find("reservation", word)?;
    if places[index].policy.is_none() {
        return Ok(index);
    }
    let message = format!("{} is a class, on which no thread runs", quote(word.get_ref()));
    let help = format!(
        "write `reservation = {{ in = {:?}, ... }}`, or name a reservation in it",
        word.get_ref()
    );
    Err(values.problem(word, message, help))
}

/// The jobs of a domain that has no reservation, for the analysis.
pub fn load(values: &Values, given: &schema::Domain) -> Result<Option<Load>, Problem> {
    let (execution, period) = (given.execution.as_ref(), given.period.as_ref());
    let keys =
        [("execution", execution), ("period", period), ("deadline", given.deadline.as_ref())];
    let mut keys = keys.into_iter().filter_map(|(key, word)| Some((key, word?)));
    let Some((key, word)) = keys.next() else { return Ok(None) };
    if given.reservation.is_some() {
        let message = format!("`{key}` belongs to the domain's reservation");
        let help = match own(given) {
            Some(_) => "write it into the table of `reservation`",
            None => "write it where that is made",
        };
        return Err(values.problem(word, message, help));
    }
    let (Some(execution), Some(period)) = (execution, period) else {
        let message = "`execution` and `period` say together what jobs a domain has";
        return Err(values.problem(word, message, "write both, or leave both out"));
    };
    let period = values.duration(period, TIMES)?;
    let deadline = given.deadline.as_ref();
    Ok(Some(Load {
        execution: values.duration(execution, TIMES)?,
        period,
        deadline: deadline.map_or(Ok(period), |word| values.duration(word, TIMES))?,
    }))
}

/// What a capability names: a reservation, the root of a CPU, or the class that all CPUs share.
pub fn target(values: &Values, word: &Word, cpus: u32) -> Result<Target, Problem> {
    match place::root(word.get_ref()) {
        Some(cpu) if cpu < cpus || cpu == ALL_CPUS => Ok(Target::Root(cpu)),
        Some(_) => {
            let message = format!("there is no {}", quote(word.get_ref()));
            let help = format!(
                "the roots are cpu0 to cpu{}; {} is what all CPUs share",
                cpus - 1,
                place::SHARED
            );
            Err(values.problem(word, message, help))
        }
        None => Ok(Target::Reservation(values.find("reservation", word)?)),
    }
}
