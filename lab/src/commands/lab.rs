//! `lab`: experiments.

mod all;
pub mod export;
mod kept;
mod list;

use super::print_json;
use crate::cli::{Lab, LabRun};
use crate::experiment::latency::blame::{BLAMED, Late, first_late};
use crate::experiment::parameter::{SAMPLES, Set};
use crate::experiment::user_system;
use crate::experiment::{self, Asked, EVERYWHERE, Experiment, Listed, Session};
use crate::failure::{Verdict, usage};
use crate::output;
use crate::progress::Step;
use crate::{systems, workspace};
use anyhow::{Context, Result};
use fs_err as fs;
use kept::Kept;
use results::{Golden, Limit, Report};
use serde_json::json;
use std::path::PathBuf;
use std::process::Command;

pub use kept::{is_whole, keep, whole_runs};

/// Does what the command line says.
pub fn lab(lab: &Lab, as_json: bool) -> Result<Verdict> {
    match lab {
        Lab::List { names, long } => list::list(names, *long, as_json),
        Lab::Run(run) if run.all => return all::run(run, as_json),
        Lab::Run(run) => return run_named(run, as_json),
        Lab::Compare(asked) => return super::compare::compare(asked, as_json),
        Lab::Claims(asked) => return super::claims::claims(asked, as_json),
        Lab::Rtsim(asked) => return super::rtsim::rtsim(asked, as_json),
        Lab::Model(asked) => return super::model::model(asked, as_json),
        Lab::Report { open } => report(*open, as_json)?,
    }
    Ok(Verdict::Held)
}

fn run_named(run: &LabRun, as_json: bool) -> Result<Verdict> {
    let experiments: Vec<_> = run
        .experiments
        .iter()
        .map(|name| experiment::find(name).expect("the command line knows the experiments"))
        .collect();
    let listed = experiments.iter().map(|experiment| fits(experiment, run));
    let listed = listed.collect::<Result<Vec<_>>>()?.concat();
    let cpus = run.cpus.as_ref().map(|cpus| cpus.0.clone());
    let of_user = run.system.as_deref().map(systems::load).transpose()?;
    if let Some(system) = &of_user {
        user_system::check(system, &run.kernel)?;
    }
    let runs = |kernel: &&str| of_user.as_ref().is_none_or(|system| system.runs_under(kernel));
    let usual = Asked { seed: run.seed, cpus, set: Vec::new(), system: run.system.clone() };
    let asked =
        |listed: &Listed| Ok(Asked { set: set(listed.experiment(), run)?, ..usual.clone() });
    let asked = listed.iter().map(asked).collect::<Result<Vec<_>>>()?;
    let shared = Session::new(usual.clone());
    let mut reports = Vec::new();
    for (listed, asked) in listed.into_iter().zip(asked) {
        let own = (asked != usual).then(|| Session::new(asked));
        let session = own.as_ref().unwrap_or(&shared);
        let wanted =
            |kernel: &&str| run.kernel.is_empty() || run.kernel.iter().any(|k| k == kernel);
        let kernels: Vec<&str> = listed.kernels().into_iter().filter(wanted).filter(runs).collect();
        let lates = lates(listed, session, &kernels, run.blame)?;
        let (mut report, samples) = experiment::run(listed, session, &kernels)?;
        report.notes.extend(lates.iter().map(|(kernel, late)| told(kernel, late.as_ref())));
        let directory = keep(&report, &samples)?;
        let exported = export::export(&directory, &report, &run.export)?;
        for (kernel, late) in &lates {
            if let Some(late) = late {
                let path = directory.join(format!("late-{kernel}.pftrace"));
                fs::write(path, trace::perfetto(&late.trace, &late.names))?;
            }
        }
        if !as_json {
            output::line(results::table(&report, output::columns()));
            output::line(results::facts(&report, output::columns()));
            show_claims(&report);
            report.limits.iter().for_each(|limit| output::line(limit.sentence()));
            lates.iter().for_each(|(kernel, late)| output::line(told(kernel, late.as_ref())));
            for path in exported {
                output::line(format_args!("exported: {}", workspace::shown(&path)));
            }
            output::line(format_args!("results: {}\n", workspace::shown(&directory)));
        }
        reports.push(report);
    }
    if run.update_golden {
        update_golden(&reports)?;
    }
    if as_json {
        match &reports[..] {
            [report] => print_json(report),
            reports => print_json(&reports),
        }
    }
    let limits = || reports.iter().flat_map(|report| &report.limits);
    for missed in limits().filter(|limit| !limit.held()) {
        eprintln!("{}", missed.sentence());
    }
    Ok(Verdict::from_bool(limits().all(Limit::held)))
}

/// What the command line sets of the parameters of an experiment.
fn set(experiment: &'static Experiment, run: &LabRun) -> Result<Vec<Set>> {
    let samples = run.samples.map(|samples| format!("{SAMPLES}={samples}"));
    let texts = run.set.iter().chain(&samples);
    let mut all: Vec<Set> = Vec::new();
    for text in texts {
        let set = Set::parse(experiment.name, experiment.parameters, text)?;
        if run.system.is_some() {
            experiment.of_user_system()?.check(&set)?;
        }
        if all.iter().any(|other| other.parameter == set.parameter) {
            return Err(usage(format!("`{}` is set twice", set.parameter.name)));
        }
        all.push(set);
    }
    Ok(all)
}

/// What a run says about the papers' claims.
pub fn show_claims(report: &Report) {
    for claim in &report.claims {
        let head = format!("{}: {} ({})", claim.verdict.words(), claim.statement, claim.id);
        let evidence = super::wrapped(&claim.evidence, "    ", "    ");
        output::line((super::wrapped(&head, "", "  ") + &evidence).trim_end());
    }
}

/// An experiment on the machines of the command line; refuses what it does not run with.
fn fits(experiment: &'static Experiment, run: &LabRun) -> Result<Vec<Listed>> {
    let name = experiment.name;
    let listed = match (&run.system, &run.machine) {
        (Some(_), machine) => experiment.on_user_system(machine.as_deref())?,
        (None, Some(machine)) if machine == EVERYWHERE => experiment.everywhere(),
        (None, Some(machine)) => vec![experiment.on(machine)?],
        (None, None) => vec![experiment.usual()],
    };
    if let Some(why) = run.cpus.as_ref().and_then(|cpus| experiment.cpus.refuse(&cpus.0)) {
        return Err(usage(format!("`{name}` does not run with this --cpus: {why}")));
    }
    if run.blame.is_some() && !BLAMED.contains(&name) {
        let known = BLAMED.join(", ");
        return Err(usage(format!("`{name}` measures no wake-ups; --blame is for {known}")));
    }
    for kernel in &run.kernel {
        let without = listed.iter().find(|listed| !listed.kernels().contains(&kernel.as_str()));
        if let Some(without) = without {
            let (known, machine) = (without.kernels().join(", "), without.platform().name());
            let message = format!("`{name}` does not use kernel `{kernel}` on {machine}");
            return Err(usage(format!("{message}, only {known}")));
        }
    }
    Ok(listed)
}

/// Runs an experiment and writes its files; returns also where they are.
pub fn measure(listed: Listed, session: &Session, kernels: &[&str]) -> Result<(Report, PathBuf)> {
    let (report, samples) = experiment::run(listed, session, kernels)?;
    let directory = keep(&report, &samples)?;
    Ok((report, directory))
}

/// Of each kernel the first wake-up that was later than a threshold, if that was asked for.
fn lates<'a>(
    listed: Listed,
    session: &Session,
    kernels: &[&'a str],
    threshold: Option<u64>,
) -> Result<Vec<(&'a str, Option<Late>)>> {
    let Some(threshold) = threshold else { return Ok(Vec::new()) };
    let name = listed.experiment().name;
    let setup = session.boots(listed).context("nothing boots here that could be traced")?;
    let late = |kernel: &&'a str| {
        let _step = Step::start(format!("{name}: looking for the cause under {kernel}"));
        Ok((*kernel, first_late(setup, name, kernel, threshold)?))
    };
    kernels.iter().map(late).collect()
}

/// What made a wake-up late, under a kernel.
fn told(kernel: &str, late: Option<&Late>) -> String {
    match late {
        Some(late) => format!("{kernel}: {}", late.blame),
        None => format!("{kernel}: no wake-up was later than the threshold."),
    }
}

/// Where the golden figures are recorded.
pub fn golden_path() -> PathBuf {
    workspace::root().join("tests/golden.toml")
}

fn update_golden(reports: &[Report]) -> Result<()> {
    let path = golden_path();
    let golden = if path.exists() { Golden::load(&path)? } else { Golden::default() };
    let is_golden = |report: &&Report| {
        experiment::find(&report.experiment).is_some_and(|experiment| experiment.golden)
    };
    let reports: Vec<Report> = reports.iter().filter(is_golden).cloned().collect();
    fs::write(&path, golden.update(&reports))?;
    eprintln!("golden figures recorded in {}", workspace::shown(&path));
    Ok(())
}

/// Writes the page with what stands for each experiment on each machine; returns its path.
pub fn write_report() -> Result<PathBuf> {
    let directory = workspace::results();
    let run = |(path, report): Kept| {
        let samples = results::read_samples(&path).context("cannot read samples")?;
        Ok((report, samples))
    };
    let runs = kept::standing()?.into_iter().map(run).collect::<Result<Vec<_>>>()?;
    if runs.is_empty() {
        return Err(usage("there are no results yet; run `./giusto lab run ping-pong micro`"));
    }
    results::write_index(&directory, &runs)
        .with_context(|| format!("cannot write to {}", directory.display()))?;
    Ok(directory.join("index.html"))
}

fn report(open: bool, as_json: bool) -> Result<()> {
    let path = write_report()?;
    if as_json {
        print_json(&json!({"report": path}));
    } else {
        output::line(path.display());
    }
    if open && !Command::new("xdg-open").arg(&path).status().is_ok_and(|status| status.success()) {
        eprintln!("no desktop here to show it; open the file in a browser");
    }
    Ok(())
}
