//! Responses against the bounds of `check`, from a run and over several under further seeds.

use crate::accounts::Accounts;
use crate::cli;
use crate::commands::live::time;
use crate::failure::usage;
use crate::progress::Step;
use crate::{output, workspace};
use anyhow::Result;
use manifest::{System, spell_duration};
use results::{Bounded, bounded_svg, bounded_text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// What several runs have shown, all under seeds that follow each other.
pub struct Responses {
    tasks: Vec<Bounded>,
    /// What tasks must not do for their bounds to hold, by their names.
    unless: BTreeMap<String, String>,
    seed: Option<u64>,
}

/// Refuses what cannot be drawn, before anything is built.
pub fn refuse(run: &cli::Run, system: &System, is_repeatable: bool) -> Result<()> {
    if !is_asked(run) {
        return Ok(());
    }
    if run.runs.is_some() && !is_repeatable {
        let message = "--runs gives each run a seed of its own: add --icount, or `--machine twin`";
        return Err(usage(message));
    }
    let is_timed = |node: &manifest::Reservation| node.policy.is_none() && node.timing.is_some();
    if !system.reservations.iter().any(is_timed) {
        let message = format!(
            "--plot and --runs are about reservations with a deadline, of which {} has none",
            system.name
        );
        return Err(usage(message));
    }
    Ok(())
}

/// Whether a command line asks for responses.
fn is_asked(run: &cli::Run) -> bool {
    run.plot.is_some() || run.runs.is_some()
}

/// What a run and those after it have shown, if that is asked for: `again` boots the system under
/// another seed; none if it was interrupted.
pub fn collect(
    run: &cli::Run,
    (system, seed): (&System, Option<u64>),
    first: &Accounts,
    mut again: impl FnMut(u64) -> Result<Option<Accounts>>,
) -> Result<Option<Responses>> {
    if !is_asked(run) {
        return Ok(None);
    }
    let mut tasks: Vec<Bounded> = Vec::new();
    for account in first.reservations.iter().filter(|account| account.missed.is_some()) {
        let node = system.reservations.iter().find(|node| node.name == account.name);
        let timing = node.and_then(|node| node.timing).filter(|_| account.is_leaf);
        tasks.extend(timing.map(|timing| Bounded {
            name: account.name.clone(),
            bound: account.bound_ns,
            deadline: timing.deadline,
            longest: vec![account.worst_ns],
        }));
    }
    let runs = u64::from(run.runs.unwrap_or(1));
    let step = (runs > 1).then(|| Step::start(format!("{} further runs", runs - 1)));
    for number in 1..runs {
        step.iter().for_each(|step| step.detail(&number.to_string()));
        let Some(accounts) = again(seed.unwrap_or(1).wrapping_add(number))? else { break };
        for task in &mut tasks {
            task.longest.extend(accounts.of(&task.name).map(|account| account.worst_ns));
        }
    }
    let unless = first.reservations.iter().filter_map(|account| {
        account.unless.as_ref().map(|unless| (account.name.clone(), unless.clone()))
    });
    Ok(Some(Responses { tasks, unless: unless.collect(), seed }))
}

impl Responses {
    /// Whether a response was longer than its bound, in any run.
    pub fn exceed(&self) -> bool {
        self.tasks.iter().any(Bounded::exceeds)
    }

    /// Writes the picture, where it is asked for.
    pub fn draw(&self, path: Option<&Path>, name: &str, machine: &str) -> Result<()> {
        if let Some(path) = path {
            let runs = super::counted(self.runs(), "run");
            let origin = format!("{name}, {runs} on {machine}, commit {}", workspace::commit());
            fs_err::write(path, bounded_svg(&self.tasks, &time, &origin)?)?;
        }
        Ok(())
    }

    fn runs(&self) -> usize {
        self.tasks.iter().map(|task| task.longest.len()).max().unwrap_or(0)
    }

    /// Shows them as a table, and in which run a bound did not hold.
    pub fn show(&self, path: Option<&Path>) {
        let head = match self.runs() {
            0 | 1 => "responses against bounds:".to_string(),
            runs => format!("the longest response of each of {runs} runs against its bound:"),
        };
        let table = bounded_text(&self.tasks, &time, output::columns());
        output::line(format_args!("{head}\n{}", table.trim_end()));
        for task in self.tasks.iter().filter(|task| task.exceeds()) {
            output::line(super::wrapped(&self.exceeded(task), "", "  ").trim_end());
        }
        path.iter().for_each(|path| {
            output::line(format_args!("plot: {}", workspace::shown(path)));
        });
    }

    /// What exceeded a bound, and how to see it again.
    fn exceeded(&self, task: &Bounded) -> String {
        let (worst, bound) = (spell(task.worst()), spell(task.bound.unwrap_or(0)));
        let run = task.longest.iter().position(|time| *time == task.worst()).unwrap_or(0) as u64;
        let seed = self.seed.map(|seed| format!(", with --seed {}", seed.wrapping_add(run)));
        let unless = self.unless.get(&task.name).map(|unless| format!(", unless it {unless}"));
        let (name, seed, unless) =
            (&task.name, seed.unwrap_or_default(), unless.unwrap_or_default());
        format!("{name}: a job took {worst}, and by the analysis {bound} at most{unless}{seed}")
    }

    /// For programs.
    pub fn document(&self) -> Value {
        let task = |task: &Bounded| {
            json!({
                "name": task.name,
                "bound_ns": task.bound,
                "unless_it": self.unless.get(&task.name),
                "deadline_ns": task.deadline,
                "longest_ns": task.longest,
                "median_ns": task.percentile(50),
                "p95_ns": task.percentile(95),
                "worst_ns": task.worst(),
            })
        };
        let tasks: Vec<_> = self.tasks.iter().map(task).collect();
        json!({ "first_seed": self.seed, "runs": self.runs(), "tasks": tasks })
    }
}

/// A time in whole microseconds, rounded up, if it is as long as that.
fn spell(time: u64) -> String {
    match time {
        0 => "0".to_string(),
        1..1_000 => format!("{time}ns"),
        _ => spell_duration(time.div_ceil(1_000) * 1_000),
    }
}

#[cfg(test)]
mod tests;
