use super::{BOUND, EXPERIMENT, LATE, SHARE, TASKS, TIMED, VARIANTS, Variant, WILD, WORST, case};
use crate::commands::check;
use crate::experiment::traced::{ROOM, traced_to_any_end};
use crate::experiment::{Boots, Measured};
use crate::machine::Exit;
use abi::trace::Keep;
use anyhow::{Context, Result, bail};
use manifest::System;
use results::Limit;

pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    for variant in &VARIANTS {
        let mut system = None;
        let traced = traced_to_any_end(
            setup,
            variant.system,
            kernel,
            (ROOM, Keep::First),
            &mut |changed| {
                calm(changed);
                system = Some(changed.clone());
            },
        )?;
        let system = system.context("the system was not loaded")?;
        let (outcome, picture) = (&traced.outcome, super::picture::of(&traced, &system));
        if !matches!(outcome.exit, Exit::Done(_)) {
            bail!("system `{}` ended with {:?}", variant.system, outcome.exit);
        }
        for task in TASKS {
            let (case, had) = (case(variant.name, task), picture.between(task, WILD));
            let share = 1_000_000 * had / (WILD.end - WILD.start);
            measured.samples.push(kernel, SHARE, &case, vec![share]);
        }
        let bounds = check::bounds(&system);
        for task in TIMED {
            let case = case(variant.name, task);
            let told = told(&outcome.console, task)?;
            measured.samples.push(kernel, LATE, &case, vec![told.late]);
            measured.samples.push(kernel, WORST, &case, vec![told.worst]);
            let bound = bounds.get(task).map(|bound| bound / 1_000);
            if let Some(bound) = bound {
                measured.samples.push(kernel, BOUND, &case, vec![bound]);
            }
            measured.limits.extend(limits(variant, &case, &told, bound));
        }
        measured.curves.push(picture.curves(variant.title));
    }
    let units = [(LATE, "jobs"), (WORST, "us"), (BOUND, "us"), (SHARE, "ppm")];
    for (metric, unit) in units {
        measured.units.insert(metric.to_string(), unit.to_string());
    }
    Ok(measured)
}

/// The guest stops in time for the end of the run.
fn calm(system: &mut System) {
    const UNTIL: &str = "until";
    for guest in system.domains.iter_mut().filter(|domain| domain.name == "guest") {
        guest.args.retain(|(name, _)| name != UNTIL);
        guest.args.push((UNTIL.to_string(), (WILD.end / 1_000_000).to_string()));
    }
}

/// What a task says in the end.
#[derive(Debug, PartialEq)]
pub struct Told {
    /// Late jobs.
    pub late: u64,
    /// The worst response in microseconds.
    pub worst: u64,
}

/// Reads `TASK: N jobs, N late, worst response N us of N us`.
pub fn told(console: &str, task: &str) -> Result<Told> {
    let line = console.lines().find_map(|line| line.strip_prefix(task)?.strip_prefix(": "));
    let line = line.with_context(|| format!("`{task}` has not said how it went"))?;
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [_, late, worst, _] => Ok(Told { late, worst }),
        _ => bail!("`{task}: {line}` is not what the program prints"),
    }
}

/// What each way promises; and that the others show what happens without.
pub fn limits(variant: &Variant, case: &str, told: &Told, bound: Option<u64>) -> Vec<Limit> {
    let limit = |name: &str, value: u64, bound: u64, least, unit: &str| {
        let name = format!("{name}, {case}");
        Limit { least, ..Limit::most(name, value as f64, bound as f64, unit) }
    };
    if !variant.keeps {
        return vec![limit(LATE, told.late, 1, true, "jobs")];
    }
    // A bound that is missing is one that nothing keeps.
    vec![
        limit(LATE, told.late, 0, false, "jobs"),
        limit(WORST, told.worst, bound.unwrap_or(0), false, "us"),
    ]
}

/// The experiment's name as that of its chart.
pub const CHART: &str = EXPERIMENT.name;
