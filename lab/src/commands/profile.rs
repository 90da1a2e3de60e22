//! `profile`: where the time of a system goes.

use super::print_json;
use crate::cli;
use crate::failure::{Verdict, usage};
use crate::image::Extra;
use crate::machine::{self, Boot, Exit, Outcome, Samples, Sampling};
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
    if let Some(event) = &asked.event {
        return Err(no_events(&asked.machine, event));
    }
    let machine = machine::find(&asked.machine).expect("the command line knows the machines");
    if machine.emulator().is_none() {
        let message = "interrupts nothing at chosen instants, so it cannot be profiled";
        return Err(usage(format!("{} {message}; use another machine", machine.name())));
    }
    let system = systems::load(&asked.system)?;
    let images = image::build_system(machine, &system, Some(Extra::Profile))?;
    let sampling = Sampling { period: asked.period, seed: asked.seed };
    let boot = Boot::new(machine, &images, &system)
        .board(super::run::board(machine, asked.board.as_deref())?)
        .kernel(asked.kernel.as_deref().unwrap_or(&system.kernel))
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
        draw(&profile, path, &system, &outcome.kernel)?;
    }
    if as_json {
        print(&profile, samples, &system, &outcome);
    } else {
        show(&profile, samples, &outcome);
    }
    Ok(Verdict::from_bool(matches!(outcome.exit, Exit::Done(0) | Exit::Hang | Exit::Stuck)))
}

/// There is nothing here that counts events.
fn no_events(machine: &str, event: &str) -> anyhow::Error {
    usage(format!(
        "{machine} has no event counters, so nothing can be sampled by `{event}`; \
         leave --event out to sample by time"
    ))
}

/// The samples of a run; one that the timeout ended has some too.
fn samples(outcome: &Outcome) -> Result<&Samples> {
    match (&outcome.samples, outcome.failure()) {
        (Some(samples), _) if !samples.taken.is_empty() => Ok(samples),
        (_, Some(failure)) => bail!(failure),
        (_, None) => bail!("the run ended before the first sample; choose a shorter --period"),
    }
}

fn draw(profile: &Profile, path: &Path, system: &System, kernel: &str) -> Result<()> {
    let contents = match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => profile::svg(profile, &format!("{} under {kernel}", system.name))?,
        // The command line knows the endings.
        _ => (profile::folded(profile).join("\n") + "\n").into_bytes(),
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
    fn events_are_refused_in_one_sentence() {
        let error = no_events("some machine", "cache-misses");
        assert!(error.is::<crate::failure::Usage>());
        assert!(error.to_string().contains("no event counters"), "{error}");
        assert!(error.to_string().contains("`cache-misses`"), "{error}");
    }
}
