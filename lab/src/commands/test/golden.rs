//! Golden figures: measured again, they must be what the repository has recorded.

use super::suite::Suite;
use crate::commands::lab;
use crate::experiment::{self, EXPERIMENTS, Experiment, Setup};
use crate::machine::MACHINES;
use anyhow::Result;
use results::{Golden, Report};

/// The experiment that is run twice to show that its rows repeat.
const REPEATED: &str = "ping-pong";

/// Runs the experiments and compares.
pub fn figures(suite: &mut Suite) -> Result<()> {
    let setup = match Setup::new(MACHINES[0], 1) {
        Ok(setup) => setup,
        Err(error) => {
            suite.broken("golden figures", format!("{error:#}"));
            return Ok(());
        }
    };
    let golden = Golden::load(&lab::golden_path());
    for experiment in EXPERIMENTS {
        let name = format!("{} against its golden figures", experiment.name);
        let report = match measure(experiment, &setup) {
            Ok(report) => report,
            Err(error) => {
                suite.record(name, Err(format!("{error:#}")));
                continue;
            }
        };
        let against = match &golden {
            Ok(golden) => deviations(golden, &report),
            Err(error) => Err(error.to_string()),
        };
        suite.record(name, against);
        if experiment.name == REPEATED {
            let again = measure(experiment, &setup).map_err(|error| format!("{error:#}"));
            let same = again.and_then(|again| same_rows(&report, &again));
            suite.record(format!("two runs of {REPEATED} give identical rows"), same);
        }
    }
    Ok(())
}

fn measure(experiment: &Experiment, setup: &Setup) -> Result<Report> {
    Ok(experiment::run(experiment, setup, experiment.kernels)?.0)
}

fn deviations(golden: &Golden, report: &Report) -> Result<(), String> {
    let found = golden.check(std::slice::from_ref(report));
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    if lines.is_empty() { Ok(()) } else { Err(lines.join("\n")) }
}

fn same_rows(first: &Report, second: &Report) -> Result<(), String> {
    if first.rows.len() != second.rows.len() {
        return Err(format!("{} rows, then {}", first.rows.len(), second.rows.len()));
    }
    let mut rows = first.rows.iter().zip(&second.rows);
    match rows.find(|(first, second)| first != second) {
        None => Ok(()),
        Some((first, second)) => Err(format!("first {first:?}\nthen  {second:?}")),
    }
}
