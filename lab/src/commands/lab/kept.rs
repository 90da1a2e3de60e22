//! What runs leave on disk: a directory for each, from which the latest are read again.

use crate::experiment::user_system::SYSTEM;
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
        let own = directory.join(experiment.name);
        for run in runs(&own).into_iter().rev() {
            // The latest may be under way in another process.
            let path = own.join(run.to_string());
            let report = match results::read_report(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                read => read.context("damaged")?,
            };
            if !experiment::is_listed(&report) {
                ignored(&path, &report);
                continue;
            }
            let same = |(_, other): &Kept| {
                (&other.experiment, &other.machine) == (&report.experiment, &report.machine)
            };
            if wanted(experiment, &report) && !found.iter().any(same) {
                found.push((path, report));
            }
            let of_experiment =
                found.iter().filter(|(_, other)| other.experiment == experiment.name);
            if of_experiment.count() == experiment.machines.len() {
                break;
            }
        }
    }
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

/// What stands for each experiment on each machine: its latest whole run, and without one the
/// latest of a part.
pub fn standing() -> Result<Vec<Kept>> {
    standing_in(&workspace::results())
}

fn standing_in(directory: &Path) -> Result<Vec<Kept>> {
    let of = |report: &Report| (report.experiment.clone(), report.machine.clone());
    let whole = latest_in(directory, &is_whole)?;
    let all = latest_in(directory, &|_, report| !report.set.contains_key(SYSTEM))?;
    let choose = |part: Kept| {
        let same = |(_, report): &&Kept| of(report) == of(&part.1);
        whole.iter().find(same).cloned().unwrap_or(part)
    };
    Ok(all.into_iter().map(choose).collect())
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
    fn a_users_system_stands_for_no_experiment() {
        let directory = tempfile::tempdir().unwrap();
        let mut report = crate::experiment::testing::report("qemu-x86_64", &[]);
        report.experiment = "sections".to_string();
        report.set.insert(SYSTEM.to_string(), vec![results::Value::Name("plant".to_string())]);
        let own = directory.path().join("sections/1");
        results::write_run(&own, &report, &Samples::default()).unwrap();
        assert!(standing_in(directory.path()).unwrap().is_empty());
        assert_eq!(latest_in(directory.path(), &|_, _| true).unwrap().len(), 1);
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
