//! `test`: everything that must hold, as one list of jobs.

mod agreement;
mod allocations;
mod blocked;
mod builds;
mod c;
mod configuration;
mod counting;
mod covering;
mod crashing;
mod debugging;
mod deep;
mod demo;
mod docs;
mod endings;
mod exact;
mod examples;
mod findings;
mod golden;
mod green;
mod host;
mod job;
mod junit;
mod killed;
mod miri;
mod mutants;
mod native;
mod online;
mod outside;
mod patch;
mod places;
mod posix;
mod process;
mod runner;
mod sampling;
mod sdk;
mod source;
mod spent;
mod state;
mod stress;
mod suites;
mod supervised;
mod task_sets;
mod tracing;
mod trains;
mod verdict;
mod watching;

pub use outside::typed;

use super::{counted, print_json};
use crate::cli::{self, Group};
use crate::failure::{Verdict, usage};
use crate::{machine, output, systems, workspace};
use anyhow::Result;
use builds::Builds;
use clap::ValueEnum;
use job::{Choice, Class, Job};
use runner::How;
use state::Progress;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Runs the tests, or lists them.
pub fn test(test: &cli::Test, as_json: bool) -> Result<Verdict> {
    if let Some(names) = &test.mutants {
        return mutants::mutants(names, as_json);
    }
    if test.update {
        let changes = docs::update(test.deep)?;
        output::line(format_args!("{} changed in the pages", counted(changes, "place")));
        return Ok(Verdict::Held);
    }
    if test.status {
        return green::status(as_json);
    }
    let (started, tree) = (Instant::now(), green::tree());
    let (manifests, names) = named(&test.names);
    let test = &cli::Test { names, ..test.clone() };
    let choice = Choice::new(test);
    let whole = manifests.is_empty() && choice.is_whole();
    let jobs = match &manifests[..] {
        [] => list(&choice)?,
        manifests => of_systems(manifests, &choice)?,
    };
    let jobs = choice.choose(jobs);
    if jobs.is_empty() {
        return Err(nothing_to_run(&test.names));
    }
    if test.list {
        show(&jobs, as_json);
        return Ok(Verdict::Held);
    }
    let progress = test.deep.then(|| {
        let source = workspace::source();
        Progress::load(&state::path("deep.json"), &source, test.restart)
    });
    if let Some(progress) = &progress {
        announce(&jobs, progress);
    }
    let log = as_json.then(|| state::path("log.txt")).map(|path| path.display().to_string());
    if let Some(directory) = state::path("log.txt").parent() {
        fs_err::create_dir_all(directory)?;
    }
    let with_pages = jobs.iter().any(|job| job.group == Group::Docs);
    let durations = state::durations();
    let fail_fast = test.fail_fast;
    let how = How { fail_fast, log, progress, durations, make: Builds::make };
    let summary = runner::run(jobs, how)?;
    if let Some(path) = &test.junit {
        junit::write(path, &summary.runs, started.elapsed())?;
    }
    let held = summary.failed == 0 && summary.not_run == 0;
    if held && whole {
        green::keep(tree, started.elapsed())?;
    }
    if as_json {
        print_json(&summary);
    } else {
        for left in if with_pages { docs::left()? } else { Vec::new() } {
            output::line(format_args!("not run: {}: {}", left.place, left.reason));
        }
        machine::end_idle();
        output::line(spent::sentence(started.elapsed()));
        output::line(summary.closing());
    }
    Ok(Verdict::from_bool(held))
}

/// Why there is nothing to run: a path leads to no system, or no check has such a name.
fn nothing_to_run(names: &[String]) -> anyhow::Error {
    let is_path = |name: &&String| {
        let path = Path::new(name.as_str());
        path.is_absolute() || path.starts_with(".") || path.starts_with("..") || path.is_dir()
    };
    let found = names.iter().find(is_path).map(|name| systems::path(name));
    let no_name = || usage("no check has such a name; `./giusto test --list` shows all");
    found.and_then(Result::err).unwrap_or_else(no_name)
}

/// Tells the manifests of users' systems from names of checks.
fn named(words: &[String]) -> (Vec<PathBuf>, Vec<String>) {
    let (systems, names): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| outside::manifest(word).is_some());
    let manifests = systems.into_iter().filter_map(|word| outside::manifest(word)).collect();
    (manifests, names.into_iter().cloned().collect())
}

/// Whether only users' systems are tested.
pub fn is_of_systems(test: &cli::Test) -> bool {
    let of_source = test.deep || test.quick || test.update || test.status || test.mutants.is_some();
    !of_source && !named(&test.names).0.is_empty()
}

/// The tests of users' systems.
fn of_systems(manifests: &[PathBuf], choice: &Choice) -> Result<Vec<Job>> {
    let each = manifests.iter().map(|manifest| outside::jobs(manifest, choice));
    Ok(each.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Everything, in the order in which it runs: what is quick to fail comes first. Tests on the host
/// are known once they are built, so only those that may be wanted are in it.
fn list(choice: &Choice) -> Result<Vec<Job>> {
    let mut jobs = source::jobs();
    if choice.wants(Group::Host) {
        if choice.may_take(Class::Quick) {
            jobs.extend(host::jobs(choice)?);
        }
        jobs.extend(host::models(choice)?);
    }
    jobs.extend(examples::jobs());
    jobs.extend(suites::jobs());
    jobs.extend(stress::jobs());
    jobs.extend(places::jobs());
    jobs.extend(sdk::jobs());
    jobs.extend(allocations::jobs());
    jobs.extend(trains::jobs());
    jobs.extend(outside::own()?);
    jobs.extend(endings::jobs());
    jobs.extend(c::jobs());
    jobs.extend(posix::jobs());
    jobs.extend(supervised::jobs());
    jobs.extend(debugging::jobs());
    jobs.extend(task_sets::jobs());
    jobs.extend(online::jobs());
    jobs.extend(watching::jobs());
    jobs.extend(crashing::jobs());
    jobs.extend(killed::jobs());
    jobs.extend(blocked::jobs());
    jobs.extend(tracing::jobs());
    jobs.extend(counting::jobs());
    jobs.extend(exact::jobs());
    jobs.extend(sampling::jobs());
    jobs.extend(agreement::jobs());
    jobs.extend(golden::jobs());
    jobs.extend(native::jobs());
    jobs.extend(deep::jobs()?);
    let last = demo::jobs();
    let names: Vec<String> = jobs.iter().chain(&last).map(|job| job.name.clone()).collect();
    jobs.extend(docs::jobs(&names)?);
    jobs.extend(last);
    Ok(jobs)
}

/// Lists jobs without running them.
fn show(jobs: &[Job], as_json: bool) {
    if as_json {
        let line = |job: &Job| {
            serde_json::json!({"group": job.group, "name": job.name,
                "builds": job.builds.to_string(), "class": job.class.to_string()})
        };
        return print_json(&jobs.iter().map(line).collect::<Vec<_>>());
    }
    for job in jobs {
        output::line(format_args!("{:5}  {:22}  {}", job.class, job.builds, job.title()));
    }
    output::line(format_args!(
        "when   what it builds           what it is: {}",
        counted(jobs.len(), "job")
    ));
}

/// Says what a deep run covers, group by group, and what it has done already.
fn announce(jobs: &[Job], progress: &Progress) {
    for group in Group::value_variants() {
        let of: Vec<&Job> = jobs.iter().filter(|job| job.group == *group).collect();
        if let [first, .., last] = &of[..] {
            let count = counted(of.len(), "job");
            eprintln!("{:9} {count}, from `{}` to `{}`", group.name(), first.name, last.name);
        } else if let [one] = &of[..] {
            eprintln!("{:9} {}", group.name(), one.name);
        }
    }
    eprintln!("{} passed before at this commit", counted(progress.passed(), "job"));
}

/// This program, as a user would start it.
fn giusto() -> Result<Command> {
    Ok(Command::new(workspace::program()?))
}
