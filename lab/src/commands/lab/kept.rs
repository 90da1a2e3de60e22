//! What runs leave on disk: a directory for each, from which the latest are read again.

use crate::experiment::{self, EXPERIMENTS, Experiment};
use crate::workspace;
use anyhow::{Context, Result};
use fs_err as fs;
use results::{Report, Samples};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Writes the files of a run; returns where they are.
pub fn keep(report: &Report, samples: &Samples) -> Result<PathBuf> {
    let directory = new_run(&workspace::results().join(&report.experiment))?;
    results::write_run(&directory, report, samples)
        .with_context(|| format!("cannot write results to {}", directory.display()))?;
    Ok(directory)
}

/// Numbers of the runs in an experiment's directory, in order.
fn runs(directory: &Path) -> Vec<u32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut runs: Vec<u32> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    runs.sort_unstable();
    runs
}

/// Creates the directory of the next run; another laboratory may be doing the same.
fn new_run(experiment: &Path) -> Result<PathBuf> {
    fs::create_dir_all(experiment)?;
    loop {
        let next = runs(experiment).last().map_or(1, |last| last + 1);
        let directory = experiment.join(next.to_string());
        match fs::create_dir(&directory) {
            Ok(()) => return Ok(directory),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A kept run: where it is, and its report.
pub type Kept = (PathBuf, Report);

/// The latest runs of each experiment, one for each machine, of those that `wanted` takes.
pub fn latest(wanted: &dyn Fn(&'static Experiment, &Report) -> bool) -> Result<Vec<Kept>> {
    latest_in(&workspace::results(), wanted)
}

fn latest_in(
    directory: &Path,
    wanted: &dyn Fn(&'static Experiment, &Report) -> bool,
) -> Result<Vec<Kept>> {
    let mut found: Vec<Kept> = Vec::new();
    for experiment in EXPERIMENTS {
        let mut machines = 0;
        for kept in newest(directory, experiment) {
            let (path, report) = kept?;
            let same = |(_, other): &Kept| is_same(other, &report);
            if wanted(experiment, &report) && !found.iter().any(same) {
                found.push((path, report));
                machines += 1;
            }
            if machines == experiment.machines.len() {
                break;
            }
        }
    }
    Ok(found)
}

/// The kept runs of an experiment, the newest first.
fn newest(directory: &Path, experiment: &'static Experiment) -> impl Iterator<Item = Result<Kept>> {
    let own = directory.join(experiment.name);
    runs(&own).into_iter().rev().filter_map(move |run| {
        let path = own.join(run.to_string());
        match results::read_report(&path) {
            // The latest may be under way in another process.
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Ok(report) if !experiment::is_listed(&report) => {
                ignored(&path, &report);
                None
            }
            read => Some(read.context("damaged").map(|report| (path, report))),
        }
    })
}

/// Whether two reports are of one experiment on one machine, with the same system of the user's.
fn is_same(one: &Report, other: &Report) -> bool {
    (&one.experiment, &one.machine, one.of_system())
        == (&other.experiment, &other.machine, other.of_system())
}

/// The latest runs of users' systems, by system.
fn of_users(directory: &Path) -> Result<Vec<Kept>> {
    let mut found: Vec<Kept> = Vec::new();
    // Of these alone all are read.
    for experiment in EXPERIMENTS.into_iter().filter(|it| it.user_system.is_some()) {
        for kept in newest(directory, experiment) {
            let (path, report) = kept?;
            let is_new = !found.iter().any(|(_, other)| is_same(other, &report));
            if report.of_system().is_some() && is_new {
                found.push((path, report));
            }
        }
    }
    found.sort_by_key(|(_, report)| report.of_system());
    Ok(found)
}

/// Says that a result names a machine on which its experiment cannot have run.
fn ignored(path: &Path, report: &Report) {
    let (path, Report { experiment, machine, .. }) = (workspace::shown(path), report);
    eprintln!("ignored: {path} names {machine}, on which `{experiment}` does not run");
}

/// Whether a report has all kernels of its experiment, and its usual parameters.
pub fn is_whole(experiment: &'static Experiment, report: &Report) -> bool {
    let has = |kernel: &&str| report.rows.iter().any(|row| row.kernel == **kernel);
    let listed = experiment.on(&report.machine);
    report.set.is_empty() && listed.is_ok_and(|listed| listed.kernels().iter().all(has))
}

/// What a report shows: first the latest runs of users' systems, then what stands for each
/// experiment on each machine, its latest whole run, and without one the latest of a part.
pub fn standing() -> Result<Vec<Kept>> {
    standing_in(&workspace::results())
}

fn standing_in(directory: &Path) -> Result<Vec<Kept>> {
    let whole = latest_in(directory, &is_whole)?;
    let all = latest_in(directory, &|_, report| report.of_system().is_none())?;
    let choose = |part: Kept| {
        let same = |(_, report): &&Kept| is_same(report, &part.1);
        whole.iter().find(same).cloned().unwrap_or(part)
    };
    Ok(of_users(directory)?.into_iter().chain(all.into_iter().map(choose)).collect())
}

/// The latest run of each experiment on each machine with all its kernels.
pub fn whole_runs() -> Result<Vec<Report>> {
    Ok(latest(&is_whole)?.into_iter().map(|(_, report)| report).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_numbered() {
        let directory = tempfile::tempdir().unwrap();
        let experiment = directory.path().join("ping-pong");
        for expected in ["1", "2", "3"] {
            assert!(new_run(&experiment).unwrap().ends_with(expected));
        }
        fs::create_dir(experiment.join("10")).unwrap();
        fs::create_dir(experiment.join("notes")).unwrap();
        assert_eq!(runs(&experiment), [1, 2, 3, 10]);
        assert!(new_run(&experiment).unwrap().ends_with("11"));
    }

    #[test]
    fn a_part_does_not_replace_a_whole_run() {
        let directory = tempfile::tempdir().unwrap();
        let keep = |run: &str, kernels: &[&str], set: u64| {
            let rows: Vec<_> = kernels.iter().map(|kernel| (*kernel, "yield", "", 1)).collect();
            let mut report = crate::experiment::testing::report("qemu-x86_64", &rows);
            report.experiment = "micro".to_string();
            let set = (set > 0).then(|| ("samples".to_string(), vec![results::Value::Count(set)]));
            report.set = set.into_iter().collect();
            let own = directory.path().join("micro").join(run);
            results::write_run(&own, &report, &Samples::default()).unwrap();
        };
        let stands = || standing_in(directory.path()).unwrap()[0].0.clone();
        keep("1", &["fastpath"], 0);
        assert!(stands().ends_with("1"), "nothing else is there");
        keep("2", &["fastpath", "slowpath"], 0);
        keep("3", &["fastpath"], 0);
        keep("4", &["fastpath", "slowpath"], 7);
        assert!(stands().ends_with("2"));
    }

    #[test]
    fn a_users_system_comes_first_and_stands_for_no_experiment() {
        let directory = tempfile::tempdir().unwrap();
        let keep = |run: &str, system: &str| {
            let mut report = crate::experiment::testing::report("qemu-x86_64", &[]);
            report.experiment = "sections".to_string();
            if !system.is_empty() {
                let name = results::Value::Name(system.to_string());
                report.set.insert(results::SYSTEM.to_string(), vec![name]);
            }
            let own = directory.path().join("sections").join(run);
            results::write_run(&own, &report, &Samples::default()).unwrap();
        };
        let stands = || -> Vec<String> {
            let all = standing_in(directory.path()).unwrap().into_iter();
            all.map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_string()).collect()
        };
        keep("1", "");
        keep("2", "plant");
        keep("3", "plant");
        keep("4", "boat");
        assert_eq!(stands(), ["4", "3", "1"]);
    }

    #[test]
    fn a_result_of_a_machine_that_is_not_listed_is_ignored() {
        let directory = tempfile::tempdir().unwrap();
        let keep = |run: &str, machine: &str| {
            let own = directory.path().join("lock-cost").join(run);
            let mut report = crate::experiment::testing::report(machine, &[]);
            report.experiment = "lock-cost".to_string();
            results::write_run(&own, &report, &Samples::default()).unwrap();
        };
        keep("1", "native");
        keep("2", "twin");
        keep("3", "qemu-x86_64");
        let found = latest_in(directory.path(), &|_, _| true).unwrap();
        let machines: Vec<&str> = found.iter().map(|(_, report)| &*report.machine).collect();
        assert_eq!(machines, ["twin", "native"]);
    }
}
