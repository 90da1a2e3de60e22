//! `--auto`: runs a system until a wake-up is later than a threshold, and says why it was.

use super::names;
use crate::commands::print_json;
use crate::failure::Verdict;
use crate::machine::{self, Boot, Exit, Outcome};
use crate::output;
use anyhow::{Context, Result};
use manifest::System;
use serde_json::{Value, json};
use std::time::Duration;
use trace::{Blame, Names, Traces, View, first_late};

/// How long the first attempt runs.
const FIRST: Duration = Duration::from_secs(1);

/// A run with its trace.
pub struct Caught {
    /// How it ended.
    pub outcome: Outcome,
    /// The bytes of the trace.
    pub bytes: Vec<u8>,
    /// The trace.
    pub traces: Traces,
    /// The first wake-up that was too late, if one was.
    pub late: Option<Blame>,
}

/// Runs a system that repeats exactly until a wake-up is later than `threshold` ns, the system or
/// `timeout` ends, or its trace, in the memory `memory`, is full. Each attempt takes twice as long
/// as the one before and begins like it.
pub fn catch(
    mut boot: Boot,
    memory: &str,
    names: &Names,
    threshold: u64,
    timeout: Duration,
) -> Result<Caught> {
    let mut time = FIRST.min(timeout);
    loop {
        boot = boot.timeout(time);
        let outcome = machine::boot(&boot)?;
        let over = outcome.exit != Exit::Hang || time == timeout;
        let found = recorded(&outcome, memory);
        match found.and_then(|bytes| Ok((Traces::decode(&bytes)?, bytes))) {
            Err(error) if over => return Err(error),
            // A slow host may not have come to the trace yet.
            Err(_) => {}
            Ok((traces, bytes)) => {
                let late = first_late(&traces, names, threshold);
                if over || late.is_some() || traces.lost() > 0 {
                    return Ok(Caught { outcome, bytes, traces, late });
                }
            }
        }
        time = (time * 2).min(timeout);
    }
}

/// The bytes of a run's trace.
pub fn recorded(outcome: &Outcome, memory: &str) -> Result<Vec<u8>> {
    outcome.memories.get(memory).cloned().with_context(|| {
        let failure = outcome.failure().unwrap_or_default();
        format!("the run ended before the kernel began a trace: {failure}")
    })
}

/// `run --auto`: the system's console, and then the cause.
pub fn run(
    boot: Boot,
    system: &System,
    memory: &str,
    threshold: u64,
    as_json: bool,
) -> Result<Verdict> {
    let timeout = boot.timeout.unwrap_or(Duration::from_secs(super::TIMEOUT));
    let names = names(system);
    let caught = catch(boot, memory, &names, threshold, timeout)?;
    if as_json {
        print_json(&json!({
            "system": system.name,
            "machine": caught.outcome.machine,
            "kernel": caught.outcome.kernel,
            "failure": failure(&caught.outcome),
            "console": caught.outcome.console,
            "threshold_ns": threshold,
            "late": caught.late.as_ref().map(document),
        }));
    } else {
        output::line(caught.outcome.console.trim_end());
        output::line(report(&caught.traces, &names, threshold, caught.late.as_ref()));
    }
    Ok(verdict(&caught.outcome, caught.late.is_some()))
}

/// What went wrong with a run; that the time was over, or that all was done, is no failure here.
pub fn failure(outcome: &Outcome) -> Option<String> {
    outcome.failure().filter(|_| !matches!(outcome.exit, Exit::Hang | Exit::Stuck))
}

/// How the command ends.
pub fn verdict(outcome: &Outcome, late: bool) -> Verdict {
    match outcome.exit {
        _ if late => Verdict::Late,
        Exit::Done(0) | Exit::Hang | Exit::Stuck | Exit::Interrupted => Verdict::Held,
        Exit::Panic => Verdict::Panicked,
        Exit::Done(_) | Exit::Emulator(_) => Verdict::Failed,
    }
}

/// The cause with the timeline around it, or that there was none.
pub fn report(traces: &Traces, names: &Names, threshold: u64, late: Option<&Blame>) -> String {
    let Some(late) = late else {
        let (from, to) = traces.all.span().unwrap_or_default();
        let count = trace::wakeups(traces).len();
        let full = if traces.lost() > 0 { "; the trace is full: --size takes more" } else { "" };
        let ms = (to - from) as f64 / 1e6;
        return format!("none of {count} wake-ups in {ms:.1} ms took over {threshold} ns{full}");
    };
    let margin = late.latency() / 4;
    let view = View {
        width: output::columns(),
        from: Some(late.sample.programmed.saturating_sub(margin)),
        to: Some(late.sample.ran + margin),
        ..View::default()
    };
    format!("{late}\n{}", trace::timeline(&traces.all, names, &view).trim_end())
}

/// The cause for other programs.
pub fn document(late: &Blame) -> Value {
    let causes = late.causes().into_iter();
    json!({
        "thread": late.thread.name,
        "on": late.on,
        "programmed_ns": late.sample.programmed,
        "ran_ns": late.sample.ran,
        "latency_ns": late.latency(),
        "cause": late.headline().map(|(cause, _)| cause.to_string()),
        "causes": causes.map(|(cause, ns)| json!({"cause": cause.to_string(), "ns": ns}))
            .collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{image, systems};
    use ::trace::Cause;

    /// The elevator on the twin, in which 100 threads block or none.
    fn caught(kernel: &str, threshold: u64) -> (Caught, String) {
        let machine = machine::find("twin").unwrap();
        let mut system = systems::load("elevator").unwrap();
        for (name, value) in [("sweep", "100"), ("forms", "1"), ("samples", "400"), ("warmup", "2")]
        {
            systems::set(&mut system, name, value);
        }
        let memory = system.add_trace(8 << 20, abi::trace::Keep::First);
        let images = image::build_for(machine, &system).unwrap();
        let boot = Boot::new(machine, &images, &system).kernel(kernel).seed(1);
        let names = names(&system);
        let timeout = Duration::from_secs(20);
        let caught = catch(boot, &memory, &names, threshold, timeout).unwrap();
        let report = report(&caught.traces, &names, threshold, caught.late.as_ref());
        (caught, report)
    }

    #[test]
    fn a_planted_lazy_dequeue_is_caught_and_named_with_its_timeline() {
        let (caught, report) = caught("fastpath", 2_000);
        let late = caught.late.as_ref().expect("the lazy dequeue makes a wake-up late");
        let (cause, _) = late.headline().unwrap();
        let Cause::LazyDequeue { threads, .. } = cause else { panic!("{report}") };
        assert!((98..=102).contains(threads), "{report}");
        assert!(report.contains("CPU 0"), "{report}");
        assert!(report.lines().all(|line| line.chars().count() <= output::columns()), "{report}");
        assert_eq!(verdict(&caught.outcome, true), Verdict::Late);
        assert_eq!(document(late)["cause"], cause.to_string());
    }

    #[test]
    fn where_threads_leave_the_ready_queue_at_once_nothing_is_late() {
        let (caught, report) = caught("direct-eager", 2_000);
        assert_eq!(caught.late, None, "{report}");
        assert!(report.starts_with("none of "), "{report}");
        assert_eq!(verdict(&caught.outcome, false), Verdict::Held);
    }
}
