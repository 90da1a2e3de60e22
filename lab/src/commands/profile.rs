//! `profile`: where the time of a system goes.

mod exact;

use super::print_json;
use crate::cli;
use crate::failure::{Verdict, usage};
use crate::image::{Build, Watch};
use crate::machine::{self, Boot, Exit, Outcome, Samples, Sampling};
use crate::profile::exact::Event;
use crate::profile::{self, Profile, Row};
use crate::progress::Step;
use crate::{image, output, systems};
use anyhow::{Result, bail};
use manifest::System;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// Rows of functions that the terminal shows.
const SHOWN: usize = 25;

/// Boots a system, takes samples, and shows where they fell.
pub fn profile(asked: &cli::Profile, as_json: bool) -> Result<Verdict> {
    let event = asked.event.as_deref().map(|name| known(&asked.machine, name)).transpose()?;
    let machine = machine::find(&asked.machine).expect("the command line knows the machines");
    if machine.emulator().is_none() {
        let message = "interrupts nothing at chosen instants, so it cannot be profiled";
        return Err(usage(format!("{} {message}; use another machine", machine.name())));
    }
    let mut system = systems::load(&asked.system)?;
    system.kernel = asked.kernel.clone().unwrap_or(system.kernel);
    match (asked.exact, event) {
        (true, event) => {
            let event = event.unwrap_or(Event::Instructions);
            return exact::worst(asked, machine, system, event, as_json);
        }
        (false, Some(event)) => return exact::whole(asked, machine, &system, event, as_json),
        (false, None) => {}
    }
    let build = Build::from(Watch::Samples).with(&system.kernel);
    let images = image::build_system(machine, &system, build)?;
    let sampling = Sampling { period: asked.period, seed: asked.seed };
    let boot = Boot::new(machine, &images, &system)
        .board(super::run::board(machine, asked.board.as_deref())?)
        .seed(asked.seed)
        .timeout(Duration::from_secs(asked.timeout))
        .sampling(Some(sampling));
    let outcome = {
        let _step = Step::start(format!("profiling {}", system.name));
        machine::boot(&boot)?
    };
    let samples = samples(&outcome)?;
    let profile = Profile::new(samples, &images, &system)?;
    if let Some(path) = &asked.flame {
        draw(path, &profile::folded(&profile), &system, "samples")?;
    }
    if as_json {
        print(&profile, samples, &system, &outcome);
    } else {
        show(&profile, samples, &outcome);
    }
    Ok(Verdict::from_bool(matches!(outcome.exit, Exit::Done(0) | Exit::Hang | Exit::Stuck)))
}

/// The event of a name.
///
/// # Errors
/// Nothing here counts it.
fn known(machine: &str, name: &str) -> Result<Event> {
    Event::find(name).ok_or_else(|| {
        let known = Event::ALL.map(Event::name).join(", ");
        usage(format!(
            "{machine} has no event counters, so nothing counts `{name}`; what instructions show \
             can be counted: {known}"
        ))
    })
}

/// The samples of a run; one that the timeout ended has some too.
fn samples(outcome: &Outcome) -> Result<&Samples> {
    match (&outcome.samples, outcome.failure()) {
        (Some(samples), _) if !samples.taken.is_empty() => Ok(samples),
        (_, Some(failure)) => bail!(failure),
        (_, None) => bail!("the run ended before the first sample; choose a shorter --period"),
    }
}

/// Draws the flame graph of stacks whose counts are of these.
fn draw(path: &Path, stacks: &[String], system: &System, counted: &str) -> Result<()> {
    let title = format!("{} under {}", system.name, system.kernel);
    let contents = match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => profile::svg(stacks, &title, counted)?,
        // The command line knows the endings.
        _ => (stacks.join("\n") + "\n").into_bytes(),
    };
    Ok(fs_err::write(path, contents)?)
}

fn print(profile: &Profile, samples: &Samples, system: &System, outcome: &Outcome) {
    print_json(&json!({
        "system": system.name,
        "kernel": outcome.kernel,
        "samples": profile.all,
        "dropped": samples.dropped,
        "missed": samples.missed,
        "period": samples.period,
        "domains": profile.by_domain(),
        "functions": profile.by_function(),
    }));
}

fn show(profile: &Profile, samples: &Samples, outcome: &Outcome) {
    let cells = |row: &Row| {
        let share = row.share.clone();
        let function = row.function.clone().unwrap_or_default();
        let percent = format!("{:.2}", share.percent);
        let error = format!("{:.2}", share.error);
        [row.domain.clone(), function, percent, error, share.samples.to_string()]
    };
    let mut domains = super::table(&["domain", "%", "+-", "samples"]);
    for row in profile.by_domain() {
        let [domain, _, percent, error, samples] = cells(&row);
        domains.add_row([domain, percent, error, samples]);
    }
    output::line(super::fitted(domains).trim_end());
    output::line("");
    let mut functions = super::table(&["domain", "function", "%", "+-", "samples"]);
    let rows = profile.by_function();
    rows.iter().take(SHOWN).for_each(|row| {
        functions.add_row(cells(row));
    });
    output::line(super::fitted(functions).trim_end());
    if let Some(rest @ 1..) = rows.len().checked_sub(SHOWN) {
        output::line(format_args!("and {rest} further functions; --json has all"));
    }
    let (all, steps) = (profile.all, samples.period);
    output::line(format_args!(
        "\n{all} samples under {}, one in each {steps} counter steps; {} dropped, {} missed",
        outcome.kernel, samples.dropped, samples.missed
    ));
    match outcome.exit {
        Exit::Done(0) => {}
        Exit::Done(status) => {
            output::line(format_args!("the system shut itself down with status {status}"));
        }
        _ => output::line("the system was still running at the timeout and was ended"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_nothing_counts_are_refused_in_one_sentence() {
        assert_eq!(known("some machine", "branches").unwrap(), Event::Branches);
        let error = known("some machine", "cache-misses").unwrap_err();
        assert!(error.is::<crate::failure::Usage>());
        assert!(error.to_string().contains("no event counters"), "{error}");
        assert!(error.to_string().contains("`cache-misses`"), "{error}");
    }
}
