//! The demonstration, as a stranger sees it: it ends well, in time, on two screens, and its results
//! name machines on which the experiments run.

use super::builds::Builds;
use super::findings::built;
use super::job::{Class, Job};
use super::{giusto, process};
use crate::cli::Group;
use crate::image::{self, Build, Kernels, Watch};
use crate::machine::EMULATOR;
use crate::{experiment, workspace};
use anyhow::{Context, Result, bail, ensure};
use manifest::KERNELS;
use results::Report;
use serde_json::Value;
use std::fs;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Seconds of processors that it may take once everything is built: what runs beside it adds none.
const WARM: f64 = 45.0;
/// After this it is ended.
const LIMIT: Duration = Duration::from_secs(1800);
/// Two screens of a usual terminal.
const LINES: usize = 48;
const COLUMNS: usize = 80;
/// Lines of it that a failure shows.
const SHOWN: usize = 30;

/// What it must print near its end.
const SAID: [&str; 2] = ["everything held, in ", "the report: "];

/// Runs the program and says last how many seconds of processors it took, as user and as system.
const TIMED: &str = "TIMEFORMAT='%U %S'; time \"$0\" demo";

/// As text, and as JSON.
pub fn jobs() -> Vec<Job> {
    let job = |name: &str, work: fn() -> Result<()>| {
        let job = Job::new(Group::Demo, name, move |_| work()).seconds(45.0);
        job.builds(Builds::usual())
    };
    vec![job("demo", shown), job("demo --json", told).class(Class::Deep)]
}

fn shown() -> Result<()> {
    built(image::build(EMULATOR, Build::default()))?;
    built(image::build(EMULATOR, Watch::Trace.into()))?;
    let least = Build { kernels: Kernels::Least(KERNELS[0]), ..Build::default() };
    built(image::build_kernel(EMULATOR, least))?;
    let began = SystemTime::now();
    let mut demo = Command::new("bash");
    let ended = process::run_apart(demo.args(["-c", TIMED]).arg(workspace::program()?), LIMIT)?;
    if let Some(failure) = ended.failure(SHOWN) {
        bail!("{failure}");
    }
    let lines: Vec<&str> = ended.output.lines().collect();
    ensure!(lines.len() <= LINES, "{} lines, over {LINES}", lines.len());
    let wide = lines.iter().find(|line| line.chars().count() > COLUMNS);
    ensure!(wide.is_none(), "wider than {COLUMNS} columns: {}", wide.unwrap_or(&""));
    for said in SAID {
        ensure!(ended.output.contains(said), "it does not say `{said}`:\n{}", ended.output);
    }
    labels(began)?;
    let taken = ended.errors.lines().last().unwrap_or_default();
    let seconds = taken.split(' ').map(str::parse::<f64>).sum::<Result<f64, _>>();
    let seconds = seconds.with_context(|| format!("`{taken}` is no time"))?;
    ensure!(seconds <= WARM, "it takes {seconds:.0} s of processors, over {WARM:.0}");
    Ok(())
}

fn told() -> Result<()> {
    let ended = process::run_apart(giusto()?.args(["demo", "--json"]), LIMIT)?;
    let said: Value = serde_json::from_str(&ended.output)
        .with_context(|| ended.failure(SHOWN).unwrap_or_default())?;
    ensure!(ended.code() == Some(0), "{}", ended.failure(SHOWN).unwrap_or_default());
    ensure!(said.get("held") == Some(&Value::Bool(true)), "it says that not everything held");
    ensure!(said.get("seconds").is_some_and(Value::is_number), "it does not say how long it took");
    Ok(())
}

/// Every result that was written since then names a machine that its experiment lists.
fn labels(since: SystemTime) -> Result<()> {
    let mut written = 0;
    for experiment in fs::read_dir(workspace::results()).context("there are no results")? {
        for run in fs::read_dir(experiment?.path()).into_iter().flatten() {
            let path = run?.path().join("result.json");
            if !fs::metadata(&path).and_then(|meta| meta.modified()).is_ok_and(|at| at >= since) {
                continue;
            }
            let report = Report::from_json(&fs::read_to_string(&path)?)?;
            let (name, machine) = (&report.experiment, &report.machine);
            ensure!(experiment::is_listed(&report), "`{name}` does not run on {machine}");
            written += 1;
        }
    }
    ensure!(written > 0, "it leaves no result");
    Ok(())
}
