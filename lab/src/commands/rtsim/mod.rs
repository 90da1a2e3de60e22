//! `lab rtsim`: task sets of RTSim's language (S2G-08) on the kernel.

mod picture;
mod ran;
mod show;

pub use picture::cdf;
pub use ran::{Ran, system};

use super::lab::{export, keep};
use crate::cli::{self, RtsimScheduler};
use crate::failure::{Verdict, usage};
use crate::image::{self, Images};
use crate::machine::{self, Boot};
use crate::progress::Step;
use crate::workspace;
use anyhow::{Result, bail};
use fs_err as fs;
use manifest::{Problems, System};
use results::{Report, Samples};
use rtsim::{Inheritance, Run, Scheduler, TaskSet};
use std::time::Duration;

/// Longer than any run is meant to take on the host.
const TIMEOUT: Duration = Duration::from_secs(600);
/// The metric of response times.
const RESPONSE: &str = "response";

/// Does what the command line says.
pub fn rtsim(asked: &cli::Rtsim, as_json: bool) -> Result<Verdict> {
    if asked.from.zip(asked.to).is_some_and(|(from, to)| from >= to) {
        return Err(usage("--from is behind --to: nothing lies between them"));
    }
    let set = read(asked)?;
    if let Some(path) = &asked.manifest {
        fs::write(path, rtsim::manifest(&set, way(asked)).map_err(usage)?)?;
        show::written(path, as_json);
        return Ok(Verdict::Held);
    }
    let ran = play(asked, set)?;
    let (report, samples) = report(asked, &ran)?;
    let directory = keep(&report, &samples)?;
    let exported = export::export(&directory, &report, &asked.export)?;
    if as_json {
        super::print_json(&show::document(&ran, &directory));
    } else {
        show::show(asked, &ran, &directory, &exported);
    }
    Ok(Verdict::Held)
}

/// How a task set is to run.
fn way(asked: &cli::Rtsim) -> Run {
    let scheduler = match asked.scheduler {
        RtsimScheduler::Fp => Scheduler::FixedPriorities,
        RtsimScheduler::Edf => Scheduler::EarliestDeadline,
    };
    let inheritance = match (asked.pi, asked.pi_cv) {
        (false, _) => Inheritance::None,
        (true, false) => Inheritance::Mutexes,
        (true, true) => Inheritance::Conditions,
    };
    Run { scheduler, inheritance, unit: asked.unit }
}

fn read(asked: &cli::Rtsim) -> Result<TaskSet> {
    let mut set = rtsim::parse(&super::import::source(&asked.file)?).map_err(Problems::from)?;
    set.seed = asked.seed.unwrap_or(set.seed);
    Ok(set)
}

/// Runs a task set.
fn play(asked: &cli::Rtsim, set: TaskSet) -> Result<Ran> {
    let run = way(asked);
    let system = system(&set, run, asked.size << 20)?;
    let machine = machine::find(&asked.machine).expect("the command line knows the machines");
    if system.cpus > machine.most_cpus() {
        bail!("{} has {} CPUs at most", machine.name(), machine.most_cpus());
    }
    let images = image::build_for(machine, &system)?;
    carry_out(asked, (set, run), &system, &images)
}

/// Runs a task set as the system that it has become, and reads what it leaves.
fn carry_out(
    asked: &cli::Rtsim,
    (set, run): (TaskSet, Run),
    system: &System,
    images: &Images,
) -> Result<Ran> {
    let machine = machine::find(&asked.machine).expect("the command line knows the machines");
    let boot = Boot::new(machine, images, system).seed(set.seed).timeout(TIMEOUT).slices(false);
    let outcome = {
        let _step = Step::start(format!("running {}", asked.file.display()));
        machine::boot(&boot)?
    };
    let name = asked.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Ran::read((set, run), name.unwrap_or_default(), system, outcome)
}

/// What is kept of a run: response times, and charts.
fn report(asked: &cli::Rtsim, ran: &Ran) -> Result<(Report, Samples)> {
    let mut samples = Samples::default();
    for (task, jobs) in ran.set.tasks.iter().zip(&ran.jobs) {
        let responses = jobs.responses();
        if !responses.is_empty() {
            samples.push(&ran.kernel, RESPONSE, &format!("task={}", task.name), responses);
        }
    }
    let machine = machine::find(&asked.machine).expect("the command line knows the machines");
    let report = Report {
        commit: workspace::commit(),
        seed: ran.set.seed,
        rows: samples.rows(),
        curves: vec![picture::cdf(ran), ran.picture.gantt(ran)],
        notes: show::assumptions(ran),
        ..Report::new("rtsim", machine.name(), machine.origin(), "ns")
    };
    Ok((report, samples))
}

#[cfg(test)]
mod tests;
