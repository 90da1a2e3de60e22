//! `demo`: the first five minutes, from nothing to a report, on two screens.

mod headline;
mod judge;

use super::{lab, print_json};
use crate::experiment::traced::{Traced, traced};
use crate::experiment::{self, Asked, Session, Setup};
use crate::failure::Verdict;
use crate::image::Build;
use crate::progress::Step;
use crate::{output, workspace};
use anyhow::{Context, Result};
use headline::{Headline, KERNEL};
use results::Report;
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use trace::View;

/// What is measured, each with its kernels; no kernel: all that it compares.
const MEASURED: [(&str, &[&str]); 3] = [("ping-pong", &[]), ("micro", &[]), ("latency", &[KERNEL])];
/// Columns of the terminal.
const WIDTH: usize = 80;
/// Lines of the first system's console that are shown: what the programs say, not the kernel.
const CONSOLE: usize = 4;
/// Bytes of the trace.
const TRACE: u64 = 4 << 20;
/// Reasons that are shown.
const REASONS: usize = 3;
/// Threads in the timeline.
const THREADS: usize = 2;

const NEXT: &str = "\
next: ./giusto run shell                 a small shell on the kernel
      ./giusto trace hello --timeline    the whole timeline, with what it means
      ./giusto lab claims                the papers' claims with their verdicts
      ./giusto lab run --all             every experiment
      docs/README.md                     the manual: what to read first";

/// The steps so far, with how long each took.
#[derive(Default)]
struct Steps(Vec<(String, Duration)>);

impl Steps {
    fn take<T>(&mut self, title: &str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        let started = Instant::now();
        let result = step()?;
        self.0.push((title.to_string(), started.elapsed()));
        Ok(result)
    }
}

/// Builds, boots, self-tests, measures and reports.
pub fn demo(as_json: bool) -> Result<Verdict> {
    let started = Instant::now();
    let mut steps = Steps::default();
    let say = |text: &str| {
        if !as_json {
            output::line(text);
        }
    };
    let session = Session::new(Asked::seed(1));
    let setup = session.emulated();
    steps.take("build", || setup.images(KERNEL, Build::default()).map(|_| ()))?;
    let hello = steps.take("boot", || boot(setup, "hello"))?;
    say(&booted(setup, &hello));
    let suite = steps.take("self-test", || {
        let _step = Step::start("booting `selftest`");
        setup.attempt_changed("selftest", KERNEL, &mut |_| {})
    })?;
    say(&format!("self-test in user mode: {}\n", last_line(&suite.console)));
    let timeline = steps.take("trace", || timeline(setup))?;
    say(&timeline);
    let reports = steps.take("measure", || measure(&session))?;
    let headlines = headline::all(&reports)?;
    say(&headline::table_of(&headlines));
    let report = steps.take("report", lab::write_report)?;
    let failed = judge::failed_checks(&suite);
    let reasons = [failed, judge::reasons(&reports)?].concat();
    if as_json {
        let found = Found { steps: &steps, headlines: &headlines, reasons: &reasons };
        print(&found, started.elapsed(), &report);
    } else {
        say(&verdict(&reasons, started.elapsed()));
        say(&format!("the report: {}\n{NEXT}", workspace::shown(&report)));
    }
    Ok(Verdict::from_bool(reasons.is_empty()))
}

/// Boots a system under the kernel that is shown; its console.
fn boot(setup: &Setup, name: &str) -> Result<String> {
    let _step = Step::start(format!("booting `{name}`"));
    Ok(setup.boot(name, KERNEL)?.console)
}

/// What booted and what its programs said.
fn booted(setup: &Setup, console: &str) -> String {
    let machine = setup.machine().name();
    let head = format!("booted kernel {KERNEL} on {machine} with `hello`, two programs, each in");
    let mut text = format!("{head}\nan address space of its own:\n");
    for line in console.lines().filter(|line| said_by_a_program(line)).take(CONSOLE) {
        text += &format!("    {line}\n");
    }
    text
}

/// Whether a line of the console is a program's: `NAME: TEXT`, but for what the kernel says.
fn said_by_a_program(line: &str) -> bool {
    line.contains(": ") && !line.starts_with("boot: ")
}

fn last_line(console: &str) -> &str {
    console.lines().last().unwrap_or_default()
}

/// What the kernel does while both programs greet each other.
fn timeline(setup: &Setup) -> Result<String> {
    let _step = Step::start("tracing `hello`");
    let Traced { traces, names, .. } = traced(setup, "hello", KERNEL, TRACE, &mut |_| {})?;
    let view = View { width: WIDTH, threads: THREADS, events: 0, ..View::default() };
    let drawn = trace::timeline(&traces.all, &names, &view);
    let (from, to) = traces.all.span().unwrap_or_default();
    let title = format!("what the kernel's trace has of it, {} us:", (to - from) / 1000);
    Ok(titled(&title, &drawn))
}

/// A drawing under another title than its own, which is longer than a line.
fn titled(title: &str, drawn: &str) -> String {
    let body = drawn.split_once('\n').map_or("", |(_, body)| body);
    format!("{title}\n{body}")
}

/// Measures what the headlines are about, and keeps the results.
fn measure(session: &Session) -> Result<Vec<Report>> {
    let one = |(name, kernels): (&str, &'static [&'static str])| {
        let experiment = experiment::find(name).context("there is no such experiment")?;
        let kernels = if kernels.is_empty() { experiment.kernels } else { kernels };
        Ok(lab::measure(experiment.usual(), session, kernels)?.0)
    };
    MEASURED.into_iter().map(one).collect()
}

/// Whether everything held, and if not, why.
fn verdict(reasons: &[String], taken: Duration) -> String {
    let seconds = taken.as_secs_f64();
    if reasons.is_empty() {
        return format!("everything held, in {seconds:.0} s");
    }
    let mut text = format!("{} did not hold:\n", super::counted(reasons.len(), "thing"));
    for reason in reasons.iter().take(REASONS) {
        text += &super::wrapped(reason, "    ", "    ");
    }
    if let Some(rest @ 1..) = reasons.len().checked_sub(REASONS) {
        text += &format!("    and {rest} more; `./giusto demo --json` has all\n");
    }
    text.trim_end().to_string()
}

/// What the JSON is about.
struct Found<'a> {
    steps: &'a Steps,
    headlines: &'a [Headline],
    reasons: &'a [String],
}

fn print(found: &Found, taken: Duration, report: &PathBuf) {
    let seconds = |time: Duration| (time.as_secs_f64() * 10.0).round() / 10.0;
    let step = |(step, time): &(String, Duration)| json!({"step": step, "seconds": seconds(*time)});
    print_json(&json!({
        "held": found.reasons.is_empty(),
        "reasons": found.reasons,
        "steps": found.steps.0.iter().map(step).collect::<Vec<_>>(),
        "seconds": seconds(taken),
        "headline": found.headlines,
        "report": report,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_lines_are_left_out() {
        let console = "giusto 0.1.0, kernel fastpath\nboot: 11 counter steps\nguest: hello\n";
        let said: Vec<&str> = console.lines().filter(|line| said_by_a_program(line)).collect();
        assert_eq!(said, ["guest: hello"]);
    }

    #[test]
    fn what_did_not_hold_is_said() {
        let taken = Duration::from_secs(41);
        assert_eq!(verdict(&[], taken), "everything held, in 41 s");
        let reasons = ["micro: yield is slow".to_string(), "S0-C01 is contradicted".to_string()];
        let text = verdict(&reasons, taken);
        let expected =
            "2 things did not hold:\n    micro: yield is slow\n    S0-C01 is contradicted";
        assert_eq!(text, expected);
        let many = vec!["too slow ".repeat(12); 7];
        let text = verdict(&many, taken);
        assert!(text.ends_with("and 4 more; `./giusto demo --json` has all"), "{text}");
        assert!(text.lines().all(|line| line.len() <= WIDTH) && text.lines().count() == 8);
    }

    #[test]
    fn what_is_next_fits_the_terminal() {
        assert!(NEXT.lines().all(|line| line.len() <= WIDTH));
    }
}
