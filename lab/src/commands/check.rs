//! `check`: is a manifest right, and what does it ask for?

use super::print_json;
use crate::failure::{Verdict, did_you_mean};
use crate::output;
use crate::{systems, workspace};
use anyhow::Result;
use manifest::{Problems, System};
use serde_json::json;

/// Checks a manifest.
pub fn check(system: &str, as_json: bool) -> Result<Verdict> {
    let checked = systems::load(system).and_then(|system| {
        check_programs(&system)?;
        Ok(system)
    });
    let (system, problems) = match checked {
        Ok(system) => (Some(system), None),
        Err(error) => (None, Some(error.downcast::<Problems>()?)),
    };
    if as_json {
        let name = system.as_ref().map(|system| system.name.as_str());
        print_json(&json!({"system": name, "problems": problems}));
    } else if let Some(system) = &system {
        output::line(system.summary().trim_end());
    }
    if let Some(problems) = &problems {
        eprintln!("{problems}");
    }
    Ok(if problems.is_none() { Verdict::Held } else { Verdict::Unable })
}

/// Checks that there is a program for every domain, without building any.
fn check_programs(system: &System) -> Result<()> {
    let programs = programs()?;
    let missing = system.domains.iter().filter(|domain| !programs.contains(&domain.program));
    let problems = missing.map(|domain| {
        let hint = did_you_mean(&domain.program, programs.iter().map(String::as_str));
        let message = format!("there is no program `{}`{hint}", domain.program);
        let help = format!("the programs are {}", programs.join(", "));
        system.source.problem(&domain.program_at, message, help)
    });
    match problems.collect::<Vec<_>>() {
        none if none.is_empty() => Ok(()),
        problems => Err(Problems(problems).into()),
    }
}

/// Names of the programs that cargo would build.
fn programs() -> Result<Vec<String>> {
    let metadata = workspace::metadata(workspace::root())?;
    let package = metadata.packages.iter().find(|package| package.name == "programs");
    let targets = package.map_or(&[][..], |package| &package.targets);
    Ok(targets.iter().filter(|target| target.is_bin()).map(|bin| bin.name.clone()).collect())
}
