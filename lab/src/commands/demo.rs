//! `demo`: the first run, from nothing to a report.

use super::facts::facts;
use super::{lab, print_json};
use crate::experiment::{Asked, EXPERIMENTS, Session, Setup};
use crate::failure::Verdict;
use crate::machine::{self, Boot, Console, MACHINES, Outcome};
use crate::output;
use crate::progress::Step;
use crate::{systems, workspace};
use anyhow::{Result, bail};
use results::Report;
use serde_json::json;
use std::time::{Duration, Instant};

/// Longer than any of the systems takes on a slow host.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The steps so far, with how long each took.
struct Steps {
    show: bool,
    taken: Vec<(String, Duration)>,
}

impl Steps {
    fn take<T>(&mut self, title: &str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        let started = Instant::now();
        let result = step()?;
        let taken = started.elapsed();
        self.say(&format!("==> {title} ({:.1} s)", taken.as_secs_f64()));
        self.taken.push((title.to_string(), taken));
        Ok(result)
    }

    fn say(&self, text: &str) {
        if self.show {
            output::line(text);
        }
    }
}

/// Builds, boots, self-tests, measures and reports.
pub fn demo(as_json: bool) -> Result<Verdict> {
    let mut steps = Steps { show: !as_json, taken: Vec::new() };
    let started = Instant::now();
    let machine = MACHINES[0];
    let title = format!("built the kernel and the programs for {}", machine.name());
    let session = Session::new(Asked::seed(1));
    let setup = session.emulated();
    steps.take(&title, || setup.images(None).map(|_| ()))?;
    let hello = steps.take("booted `hello`, two protected programs", || boot(setup, "hello"))?;
    steps.say(&indented(&hello.console));
    let selftest = steps.take("ran the self-test on the kernel", || boot(setup, "selftest"))?;
    steps.say(&indented(selftest.console.lines().last().unwrap_or_default()));
    let mut reports: Vec<Report> = Vec::new();
    for experiment in EXPERIMENTS {
        let title = format!("measured `{}`", experiment.name);
        let measure = || lab::measure(experiment.usual(), &session, experiment.kernels);
        let (report, directory) = steps.take(&title, measure)?;
        steps.say(&results::table(&report));
        steps.say(&facts(&report));
        if steps.show {
            lab::show_claims(&report);
        }
        steps.say(&format!("results: {}\n", workspace::shown(&directory)));
        reports.push(report);
    }
    let page = steps.take("wrote the report", lab::write_report)?;
    let seconds = |time: Duration| (time.as_secs_f64() * 10.0).round() / 10.0;
    if as_json {
        let taken: Vec<_> = steps
            .taken
            .iter()
            .map(|(step, time)| json!({"step": step, "seconds": seconds(*time)}))
            .collect();
        print_json(&json!({
            "held": true,
            "steps": taken,
            "seconds": seconds(started.elapsed()),
            "console": hello.console,
            "results": reports,
            "report": page,
        }));
    }
    steps.say(&format!("the report: {}", page.display()));
    steps.say(&format!("everything held, in {:.1} s", seconds(started.elapsed())));
    Ok(Verdict::Held)
}

/// Boots a system under its own kernel; it must end well.
fn boot(setup: &Setup, name: &str) -> Result<Outcome> {
    let _step = Step::start(format!("booting `{name}`"));
    let system = systems::load(name)?;
    let outcome = machine::boot(&Boot {
        machine: setup.machine(),
        board: setup.machine().boards()[0],
        images: setup.images(None)?,
        system: &system,
        kernel: &system.kernel,
        icount: Some(setup.asked.seed),
        console: Console::CAPTURE,
        timeout: Some(TIMEOUT),
        inspect: false,
        log: false,
        sampling: None,
        simulation: Default::default(),
        slices: true,
    })?;
    match outcome.failure() {
        Some(failure) => bail!("`{name}`: {failure}"),
        None => Ok(outcome),
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}
