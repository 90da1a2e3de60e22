//! Golden figures: measured again, they must be what the repository has recorded.

use super::builds::Builds;
use super::findings::{Findings, nothing_of};
use super::job::{Class, Job};
use crate::cli::Group;
use crate::commands::lab;
use crate::experiment::{self, Asked, EXPERIMENTS, Experiment, Listed, Session};
use crate::machine::native::Native;
use crate::machine::{EMULATOR, Platform, Twin};
use crate::scoreboard::Recorded;
use anyhow::{Result, anyhow, bail, ensure};
use manifest::{KERNELS, TREE};
use results::{Fact, Golden, Limit, Report, Row, Samples};
use std::fmt::Debug;

/// The experiment that is run again under one of its kernels, to show that its rows repeat.
const REPEATED: (&str, &str) = ("ping-pong", "fastpath");

/// The simulation.
const SIMULATION: &dyn Platform = &Twin;

/// By how many percent the simulation's model may be off.
const MODEL: f64 = 10.0;

/// Experiments that take longest and decide no claim, which could compare kernels, and those that
/// they are run under each time: the usual one and the one with a scheduling tree. A deep run has
/// the others.
const IN_PARTS: [&str; 5] = ["sections", "latency", "herd", "restart", "cross-cpu-ipc"];
const EACH_TIME: [&str; 2] = [KERNELS[0], TREE];

/// Each experiment that boots systems, compared.
pub fn jobs() -> Vec<Job> {
    let judged = |experiment: &&'static Experiment| {
        [EMULATOR.name(), SIMULATION.name()].iter().any(|name| experiment.on(name).is_ok())
    };
    EXPERIMENTS.into_iter().filter(judged).flat_map(jobs_of).collect()
}

fn jobs_of(experiment: &'static Experiment) -> Vec<Job> {
    let job = |name: String, kernels: Vec<&'static str>| {
        let work = move |findings: &mut Findings| {
            let golden = Golden::load(&lab::golden_path());
            figures_of(findings, experiment, &kernels, &golden);
            Ok(())
        };
        let job = Job::new(Group::Golden, name, work).configuration();
        job.builds(Builds::Own("images that it runs on")).seconds(20.0)
    };
    if IN_PARTS.contains(&experiment.name) {
        let (often, seldom): (Vec<_>, Vec<_>) =
            experiment.kernels.iter().partition(|kernel| EACH_TIME.contains(kernel));
        let others = format!("{}, the other kernels", experiment.name);
        return vec![job(experiment.name.into(), often), job(others, seldom).class(Class::Deep)];
    }
    let job = job(experiment.name.into(), experiment.kernels.to_vec());
    let job = if experiment.deep { job.class(Class::Deep) } else { job };
    [job].into_iter().chain(on_host(experiment)).collect()
}

/// The verdicts that this host's own processors decide. To compile all kernels for it takes longer
/// than to measure.
fn on_host(experiment: &'static Experiment) -> Option<Job> {
    let listed = experiment.on(Native.name()).ok()?;
    let known = Recorded::load().is_ok_and(|known| known.decides(Native.name(), experiment.name));
    let work = move |findings: &mut Findings| {
        let measured = measure(listed, &Session::new(Asked::seed(1)), experiment.kernels);
        let name = format!("{}: verdicts on this host as recorded", experiment.name);
        findings.record(name, measured.and_then(|report| verdicts(&report)));
        Ok(())
    };
    let name = format!("{}, on this host", experiment.name);
    let job = Job::new(Group::Golden, name, work).class(Class::Deep).builds(Builds::Native);
    known.then(|| job.seconds(20.0))
}

fn figures_of(
    findings: &mut Findings,
    experiment: &'static Experiment,
    kernels: &[&str],
    golden: &Result<Golden>,
) {
    let session = Session::new(Asked::seed(1));
    let usual = experiment.on(EMULATOR.name()).ok();
    let real = usual.and_then(|listed| real(findings, listed, kernels, &session, golden));
    if usual.is_some() && real.is_none() {
        return;
    }
    if let Ok(listed) = experiment.on(SIMULATION.name()) {
        let simulated = measure(listed, &session, kernels);
        let real = real.as_ref().map(|(report, _)| report);
        simulation(findings, (experiment, kernels), (simulated, real), golden);
    }
    let (repeated, kernel) = REPEATED;
    if let Some((listed, first)) = usual.zip(real).filter(|_| experiment.name == repeated) {
        let again = experiment::run(listed, &session, &[kernel]);
        let same = again.and_then(|again| same_results(kernel, &first, &again));
        findings.record(format!("two runs of {repeated} give identical rows and samples"), same);
    }
}

/// Runs an experiment on the usual machine, and compares.
fn real(
    findings: &mut Findings,
    listed: Listed,
    kernels: &[&str],
    session: &Session,
    golden: &Result<Golden>,
) -> Option<(Report, Samples)> {
    let experiment = listed.experiment();
    let what = if experiment.golden { "golden figures" } else { "limits" };
    let name = format!("{} against its {what}", experiment.name);
    let (report, samples) = match experiment::run(listed, session, kernels) {
        Ok(measured) => measured,
        Err(error) => {
            findings.record(name, Err(error));
            return None;
        }
    };
    let against = match golden {
        Err(error) => Err(anyhow!("{error:#}")),
        Ok(golden) if experiment.golden => {
            nothing_of(golden.check_of(&report, |key| is_of(experiment, kernels, key)))
        }
        Ok(golden) => {
            nothing_of(golden.check_limits_of(&report, |key| is_of(experiment, kernels, key)))
        }
    };
    findings.record(name, against);
    bounds(findings, format!("{}: its bounds", experiment.name), &report);
    if experiment.decides().next().is_some() {
        let name = format!("{}: verdicts on claims as recorded", experiment.name);
        findings.record(name, verdicts(&report));
    }
    Some((report, samples))
}

/// Whether the key of a figure or a limit is about one of these kernels, or about none.
fn is_of(experiment: &Experiment, kernels: &[&str], key: &str) -> bool {
    let about = key.split(' ').next().unwrap_or_default();
    kernels.contains(&about) || !experiment.kernels.contains(&about)
}

/// Judges an experiment in the simulation, also beside the usual machine's report.
fn simulation(
    findings: &mut Findings,
    (experiment, kernels): (&Experiment, &[&str]),
    (simulated, real): (Result<Report>, Option<&Report>),
    golden: &Result<Golden>,
) {
    let simulated = match simulated {
        Ok(simulated) => simulated,
        Err(error) => {
            let name = format!("{} in the simulation", experiment.name);
            return findings.record(name, Err(error));
        }
    };
    if let Some(real) = real.filter(|_| experiment.modelled) {
        let name = format!("{}: the simulation's model fits", experiment.name);
        findings.record(name, fits(real, &simulated));
    }
    let table = format!("{}, simulated", experiment.name);
    let counts = |key: &str| is_of(experiment, kernels, key);
    let off = golden.as_ref().map(|golden| golden.check_table(&table, &simulated, counts));
    let off = off.map_err(|error| anyhow!("{error:#}")).and_then(nothing_of);
    findings.record(format!("{}: figures of pages in the simulation", experiment.name), off);
    bounds(findings, format!("{}: limits in the simulation", experiment.name), &simulated);
    if experiment.decides().next().is_some() {
        let name = format!("{}: verdicts in the simulation as recorded", experiment.name);
        findings.record(name, verdicts(&simulated));
    }
}

/// Whether the bounds hold that an experiment itself sets its figures, if it does.
fn bounds(findings: &mut Findings, name: String, report: &Report) {
    if !report.limits.is_empty() {
        let missed = report.limits.iter().filter(|limit| !limit.held());
        findings.record(name, nothing_of(missed.map(Limit::sentence)));
    }
}

/// Whether every claim has the verdict that the repository records.
fn verdicts(report: &Report) -> Result<()> {
    nothing_of(Recorded::load()?.differences(report))
}

/// Whether the simulation's medians are near those of the machine that it was calibrated on.
fn fits(real: &Report, simulated: &Report) -> Result<()> {
    let off = |row: &Row| {
        let measured = row.summary.median.as_f64();
        let Some(modelled) = simulated.median(&row.kernel, &row.metric, &row.case) else {
            return Some(format!("{} is missing", row.key()));
        };
        let percent = (modelled.as_f64() / measured - 1.0) * 100.0;
        let off = || format!("{}: {measured}, modelled {percent:+.1} %", row.key());
        (percent.abs() > MODEL).then(off)
    };
    nothing_of(real.rows.iter().filter_map(off))
}

fn measure(listed: Listed, session: &Session, kernels: &[&str]) -> Result<Report> {
    let own = listed.kernels().into_iter().filter(|kernel| kernels.contains(kernel));
    Ok(experiment::run(listed, session, &own.collect::<Vec<_>>())?.0)
}

/// Whether a run under one kernel agrees with what an earlier one found under it, in every row,
/// every fact and every single sample.
fn same_results(kernel: &str, first: &(Report, Samples), again: &(Report, Samples)) -> Result<()> {
    let rows: Vec<_> = first.0.rows.iter().filter(|row| row.kernel == kernel).collect();
    same("rows", &rows, &again.0.rows.iter().collect::<Vec<_>>())?;
    let known = |fact: &&Fact| again.0.facts.iter().any(|other| other.name == fact.name);
    let facts: Vec<_> = first.0.facts.iter().filter(known).collect();
    same("facts", &facts, &again.0.facts.iter().collect::<Vec<_>>())?;
    let series: Vec<_> = first.1.series.iter().filter(|one| one.kernel == kernel).collect();
    for (first, again) in series.iter().zip(&again.1.series) {
        let name = format!("samples of {} {} {}", first.kernel, first.metric, first.case);
        same(&name, &first.values, &again.values)?;
    }
    same("series of samples", &series, &again.1.series.iter().collect::<Vec<_>>())
}

fn same<T: PartialEq + Debug>(what: &str, first: &[T], second: &[T]) -> Result<()> {
    ensure!(first.len() == second.len(), "{} {what}, then {}", first.len(), second.len());
    let mut pairs = first.iter().zip(second).enumerate();
    match pairs.find(|(_, (first, second))| first != second) {
        None => Ok(()),
        Some((at, (first, then))) => {
            bail!("{what} differ at {at}:\nfirst {first:?}\nthen  {then:?}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kernel_and_each_limit_of_an_experiment_in_parts_is_checked() {
        for name in IN_PARTS {
            let one = EXPERIMENTS.into_iter().find(|one| one.name == name).unwrap();
            let often = EACH_TIME.iter().filter(|kernel| one.kernels.contains(kernel)).count();
            assert!((1..one.kernels.len()).contains(&often), "{name}");
            assert_eq!(one.decides().count(), 0, "{name}: claims may compare kernels");
            let names: Vec<String> = jobs_of(one).iter().map(|job| job.name.clone()).collect();
            assert_eq!(names, [name.to_string(), format!("{name}, the other kernels")]);
            let is_of_some = |key: &str| is_of(one, &["fastpath"], key);
            assert!(is_of_some("fastpath longest any") && is_of_some("kernel text"));
            let seldom = one.kernels.iter().find(|kernel| !EACH_TIME.contains(kernel)).unwrap();
            assert!(!is_of_some(&format!("{seldom} longest any")), "{name}");
        }
    }

    #[test]
    fn a_single_sample_that_differs_is_found() {
        let error = |what, first: &[u32], then: &[u32]| same(what, first, then).unwrap_err();
        assert!(same("samples", &[1, 2, 3], &[1, 2, 3]).is_ok());
        let differs = error("samples", &[1, 2, 3], &[1, 5, 3]).to_string();
        assert_eq!(differs, "samples differ at 1:\nfirst 2\nthen  5");
        assert_eq!(error("rows", &[1], &[1, 2]).to_string(), "1 rows, then 2");
    }
}
