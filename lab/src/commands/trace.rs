//! `trace`: boots a system with a trace and shows what the kernel did.

use super::print_json;
use crate::cli;
use crate::failure::Verdict;
use crate::machine::{self, Boot, Console, Exit, Input, Machine, Outcome};
use crate::output;
use crate::{image, systems};
use abi::trace::{Keep, MAGIC};
use anyhow::{Context, Result};
use manifest::System;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use trace::{Names, Statistics, Trace, View};

/// Seconds that a system may run.
const TIMEOUT: u64 = 60;

/// A trace with where it came from.
struct Recorded {
    bytes: Vec<u8>,
    names: Names,
    /// How the run ended; `None`: the trace was read from a file.
    outcome: Option<Outcome>,
}

/// Records a trace, or reads one, and shows it.
pub fn trace(asked: &cli::Trace, as_json: bool) -> Result<Verdict> {
    let recorded = match saved(&asked.system)? {
        Some(bytes) => Recorded { bytes, names: Names::default(), outcome: None },
        None => record(asked, as_json)?,
    };
    let trace = Trace::decode(&recorded.bytes)?;
    let files = write_files(asked, &recorded, &trace)?;
    if as_json {
        print_json(&document(asked, &recorded, &trace, &files));
    } else {
        show(asked, &recorded.names, &trace);
        files.iter().for_each(|path| output::line(format_args!("written: {}", path.display())));
    }
    let Some(outcome) = &recorded.outcome else { return Ok(Verdict::Held) };
    if let Some(failure) = outcome.failure() {
        eprintln!("{failure}; the trace goes up to there");
    }
    Ok(match outcome.exit {
        Exit::Done(0) => Verdict::Held,
        Exit::Panic => Verdict::Panicked,
        _ => Verdict::Failed,
    })
}

/// The bytes of a file that is a trace.
fn saved(path: &str) -> Result<Option<Vec<u8>>> {
    let path = Path::new(path);
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(bytes.starts_with(&MAGIC.to_le_bytes()).then_some(bytes))
}

fn record(asked: &cli::Trace, as_json: bool) -> Result<Recorded> {
    let machine = machine::find(&asked.machine).expect("the command line knows the machines");
    let mut system = systems::load(&asked.system)?;
    let keep = if asked.last { Keep::Last } else { Keep::First };
    let name = system.add_trace(asked.size << 20, keep);
    let outcome = boot(asked, machine, &system, as_json)?;
    let bytes = outcome.memories.get(&name).cloned().with_context(|| {
        let failure = outcome.failure().unwrap_or_default();
        format!("the run ended before the kernel began a trace: {failure}")
    })?;
    Ok(Recorded { bytes, names: names(&system), outcome: Some(outcome) })
}

/// The domains' names, by which threads are called.
pub fn names(system: &System) -> Names {
    Names::of(system.domains.iter().map(|domain| domain.name.clone()))
}

fn boot(
    asked: &cli::Trace,
    machine: &dyn Machine,
    system: &System,
    as_json: bool,
) -> Result<Outcome> {
    let images = image::build_for(machine, system)?;
    machine::boot(&Boot {
        machine,
        board: machine.boards()[0],
        images: &images,
        system,
        kernel: asked.kernel.as_deref().unwrap_or(&system.kernel),
        icount: Some(asked.seed),
        chaos: 0,
        slices: true,
        console: Console { show: !as_json, input: Input::Nothing },
        timeout: Some(Duration::from_secs(asked.timeout.unwrap_or(TIMEOUT))),
        inspect: false,
        log: false,
        sampling: None,
    })
}

/// Writes the files that were asked for; their names.
fn write_files(asked: &cli::Trace, recorded: &Recorded, trace: &Trace) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    let mut write = |path: &Path, bytes: &[u8]| {
        written.push(path.to_path_buf());
        std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
    };
    if let Some(path) = &asked.raw {
        write(path, &recorded.bytes)?;
    }
    if let Some(path) = &asked.perfetto {
        write(path, &::trace::perfetto(trace, &recorded.names))?;
    }
    Ok(written)
}

fn show(asked: &cli::Trace, names: &Names, trace: &Trace) {
    let lost = trace.lost();
    let (from, to) = trace.span().unwrap_or_default();
    output::line(format_args!(
        "kernel {}, CPU {}: {} events in {} us{}",
        trace.kernel,
        trace.cpu,
        trace.events,
        (to - from) / 1000,
        match (lost, trace.keep) {
            (0, _) => ", none lost".to_string(),
            (lost, Keep::First) => format!(", the last {lost} lost: give it more with --size"),
            (lost, Keep::Last) => format!(", the first {lost} lost"),
        }
    ));
    let only_files = asked.raw.is_some() || asked.perfetto.is_some();
    if asked.timeline || !(asked.overheads || asked.sections || only_files) {
        let view = View { from: asked.from, to: asked.to, ..View::default() };
        output::line(::trace::timeline(trace, names, &view));
    }
    if asked.overheads {
        output::line(::trace::overheads(trace).table());
    }
    if asked.sections {
        let times = ::trace::kernel_times(trace);
        output::line(::trace::kernel_times_table(&times));
    }
}

fn figures(statistics: &Statistics) -> Value {
    json!({
        "n": statistics.n,
        "min": statistics.min,
        "q1": statistics.q1,
        "median": statistics.median,
        "mean": statistics.mean,
        "q3": statistics.q3,
        "p99": statistics.p99,
        "max": statistics.max,
    })
}

fn document(asked: &cli::Trace, recorded: &Recorded, trace: &Trace, files: &[PathBuf]) -> Value {
    let overhead = |overhead: &::trace::Overhead| {
        json!({
            "overhead": overhead.kind.to_string(),
            "dropped": overhead.dropped,
            "statistics": overhead.statistics().as_ref().map(figures),
        })
    };
    let section = |time: &::trace::KernelTime| {
        json!({
            "entry": time.entry.to_string(),
            "longest_at_ns": time.longest_at,
            "statistics": figures(&time.statistics),
        })
    };
    let overheads = ::trace::overheads(trace);
    let sections = ::trace::kernel_times(trace);
    json!({
        "system": asked.system,
        "machine": recorded.outcome.as_ref().map(|_| &asked.machine),
        "kernel": trace.kernel,
        "failure": recorded.outcome.as_ref().and_then(Outcome::failure),
        "unit": "counter steps",
        "hz": trace.hz,
        "events": trace.events,
        "lost": trace.lost(),
        "record_cost": trace.cost,
        "span_ns": trace.span(),
        "overheads": overheads.all.iter().map(overhead).collect::<Vec<_>>(),
        "sections": sections.iter().map(section).collect::<Vec<_>>(),
        "files": files,
    })
}

#[cfg(test)]
mod tests;
