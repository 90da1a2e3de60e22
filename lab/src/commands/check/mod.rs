//! `check`: is a manifest right, what does it ask for, and does that fit?

mod adaptive;
mod advised;
mod blocking;
mod counted;
mod decided;
pub mod latency;
mod lent;
mod note;
mod overheads;
mod page;
mod reasons;
mod released;
mod room;
mod shared;
mod tree;
mod undeclared;
mod waits;
mod watched;

use super::print_json;
use crate::accounts::Bounds;
use crate::cli::Check;
use crate::failure::{Verdict, did_you_mean};
use crate::machine::{MACHINES, Machine};
use crate::{image, output, systems};
use abi::boot::ALL_CPUS;
use anyhow::Result;
use manifest::{Origin, Problems, System};
use note::Note;
pub use overheads::Costs;
use page::Page;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Checks manifests, with what a trace in a file says that the kernel costs. The worst verdict
/// counts.
pub fn check(asked: &Check, as_json: bool) -> Result<Verdict> {
    let measured = asked.overheads.as_deref().map(overheads::measured).transpose()?;
    let shows = if as_json { Shows::Json } else { Shows::Text { all: asked.verbose } };
    // A name that means nothing is refused before anything is said of the others.
    asked.systems.iter().try_for_each(|system| systems::path(system).map(drop))?;
    let mut worst = Verdict::Held;
    let mut documents = Vec::new();
    // All are read before anything is said of one.
    let systems = asked.systems.iter().map(|system| read(system, measured.as_ref()));
    for system in systems.collect::<Result<Vec<_>>>()? {
        let (document, verdict) = one(system, measured.as_ref(), shows)?;
        documents.push(document);
        worst = match (worst, verdict) {
            (Verdict::Unable, _) | (_, Verdict::Held) => worst,
            _ => verdict,
        };
    }
    match (as_json, &documents[..]) {
        (true, [document]) => print_json(document),
        (true, documents) => print_json(&documents),
        (false, _) => {}
    }
    Ok(worst)
}

/// What is shown of each system.
#[derive(Clone, Copy)]
enum Shows {
    /// A document of all of them.
    Json,
    /// A screen, or all tables.
    Text { all: bool },
}

/// Reads one manifest, of which nothing but its own problems may be wrong.
fn read(system: &str, measured: Option<&Costs>) -> Result<Result<System, Problems>> {
    let checked = systems::load(system).and_then(|system| {
        check_programs(&system)?;
        Ok(system)
    });
    match (checked, measured) {
        (Ok(system), Some(measured)) => measured.check(&system).map(|()| Ok(system)),
        (Ok(system), None) => Ok(Ok(system)),
        (Err(error), _) => Ok(Err(error.downcast::<Problems>()?)),
    }
}

/// Checks one manifest.
fn one(
    checked: Result<System, Problems>,
    measured: Option<&Costs>,
    shows: Shows,
) -> Result<(Value, Verdict)> {
    let system = match checked {
        Ok(system) => system,
        Err(problems) => return Ok((refuse(&problems, shows), Verdict::Unable)),
    };
    let costs = measured.cloned().unwrap_or_else(|| overheads::given(&system).into());
    let decided = decided::decide(&system, costs);
    let latency = latency::latency(&system)?;
    let notes = notes(&system);
    let page =
        Page { system: &system, decided: decided.as_ref(), latency: Some(&latency), notes: &notes };
    if let Shows::Text { all } = shows {
        output::line(page.verdict(all).trim_end());
        if let Some(late) = latency.problem() {
            output::error(format_args!("\n{late}\n"));
        }
        output::line(page.rest(all).trim_end());
    }
    let document = json!({
        "system": system.name,
        "verdict": page.document(),
        "problems": null,
        "notes": note::texts(&notes),
        "latency": latency.document(),
        "reservations": reservations(&system),
        "schedulability": decided.as_ref().map(decided::Decided::document),
    });
    Ok((document, Verdict::from_bool(page.is_accepted())))
}

/// Says what is wrong with a manifest: the verdict first, and each problem with its place.
fn refuse(problems: &Problems, shows: Shows) -> Value {
    let (says, verdict) = page::refused(problems);
    if let Shows::Text { .. } = shows {
        output::line(format_args!("{says}\n"));
    }
    output::error(format_args!("{problems}\n"));
    json!({
        "system": null,
        "verdict": verdict,
        "problems": problems,
        "notes": null,
        "latency": null,
        "reservations": null,
        "schedulability": null,
    })
}

/// Within which time the tasks of a system end by the analysis, in ns, by their names.
pub fn bounds(system: &System) -> BTreeMap<String, u64> {
    bounds_with(system, overheads::given(system).into()).within
}

/// The same where the kernel costs this, and what tasks must not do for that to hold.
pub fn bounds_with(system: &System, costs: Costs) -> Bounds {
    decided::decide(system, costs).map_or_else(Bounds::default, |decided| Bounds {
        within: decided.bounds(),
        unless: decided.unless(),
    })
}

/// What the kernel costs in a system, by a file that a trace has written, or else the manifest.
///
/// # Errors
/// The file is none, or of another kernel.
pub fn costs(system: &System, file: Option<&Path>) -> Result<Costs> {
    let Some(file) = file else { return Ok(overheads::given(system).into()) };
    let costs = overheads::measured(file)?;
    costs.check(system)?;
    Ok(costs)
}

/// The reservations, each behind its class.
fn reservations(system: &System) -> Vec<Value> {
    let class = |index: usize| system.reservations[index].name.as_str();
    let node = |(index, node): (usize, &manifest::Reservation)| {
        json!({
            "name": node.name,
            "in": node.class.map(class),
            "cpu": one_cpu(node.cpu),
            "policy": node.spell_policy(),
            "share": node.spell_share(system),
            "limit": node.limit.map(|_| node.spell_limit()),
            "deadline_ns": node.timing.map(|timing| timing.deadline),
            "separation_ns": node.timing.map(|timing| timing.period),
            "domains": system.domains_on(index),
        })
    };
    system.reservations.iter().enumerate().map(node).collect()
}

/// A CPU's number; none: any CPU.
fn one_cpu(cpu: u32) -> Option<u32> {
    (cpu != ALL_CPUS).then_some(cpu)
}

/// What a good manifest asks for that not every machine can do.
fn notes(system: &System) -> Vec<Note> {
    let (able, unable): (Vec<_>, Vec<_>) =
        MACHINES.into_iter().partition(|machine| system.cpus <= machine.most_cpus());
    let able: Vec<String> =
        able.into_iter().map(|machine| format!("`--machine {}`", machine.name())).collect();
    let note = |machine: &dyn Machine| {
        let (name, most, cpus) = (machine.name(), machine.most_cpus(), system.cpus);
        let able = able.join(" or ");
        let text =
            format!("machine {name} has at most {most} CPUs; a system of {cpus} runs with {able}");
        Note::new(&system.cpus_at, text)
    };
    let unable = unable.into_iter().map(note);
    unable.chain(waits::notes(system)).chain(released::notes(system)).collect()
}

/// Checks that there is a program for every domain, without building any.
fn check_programs(system: &System) -> Result<()> {
    let programs = image::program_names()?;
    let own = system.domains.iter().filter(|domain| domain.origin == Origin::Giusto);
    let missing = own.filter(|domain| !programs.contains(&domain.program));
    let problems = missing.map(|domain| {
        let hint = did_you_mean(&domain.program, programs.iter().map(String::as_str));
        let message = format!("there is no program `{}`{hint}", domain.program);
        let help = format!("the programs are {}", programs.join(", "));
        system.source.problem(&domain.program_at, message, help)
    });
    match problems.chain(image::problems(system)).collect::<Vec<_>>() {
        none if none.is_empty() => Ok(()),
        problems => Err(Problems(problems).into()),
    }
}

#[cfg(test)]
mod exact;
#[cfg(test)]
mod tests;

#[cfg(test)]
mod truth;
