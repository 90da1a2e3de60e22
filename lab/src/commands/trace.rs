//! `trace`: boots a system with a trace and shows what the kernel did.

pub mod auto;
mod jobs;

use super::test::typed;
use super::{print_json, wrapped};
use crate::cli;
use crate::failure::{Verdict, usage};
use crate::machine::{self, Boot, Console, Exit, Input, Outcome, Shared, Simulation};
use crate::output;
use crate::{image, places, systems};
use abi::trace::{Keep, MAGIC, Undone, Way};
use anyhow::Result;
use manifest::System;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use trace::{Blame, LockUse, Names, Trace, Traces, View};

/// Seconds that a system may run.
const TIMEOUT: u64 = 60;

/// A trace with where it came from.
struct Recorded {
    bytes: Vec<u8>,
    names: Names,
    /// How the run ended; `None`: the trace was read from a file.
    outcome: Option<Outcome>,
    traces: Traces,
    /// The wake-up that was too late, if one was asked for and there.
    late: Option<Blame>,
}

/// Records a trace, or reads one, and shows it.
pub fn trace(asked: &cli::Trace, as_json: bool) -> Result<Verdict> {
    if asked.from.zip(asked.to).is_some_and(|(from, to)| from >= to) {
        return Err(usage("--from is behind --to: nothing lies between them"));
    }
    let recorded = match saved(&asked.system)? {
        Some(bytes) => {
            let (traces, names) = (Traces::decode(&bytes)?, Names::default());
            let late = asked.auto.and_then(|limit| ::trace::first_late(&traces, &names, limit));
            Recorded { bytes, names, outcome: None, traces, late }
        }
        None => record(asked, as_json)?,
    };
    let files = write_files(asked, &recorded)?;
    if as_json {
        print_json(&document(asked, &recorded, &files));
    } else {
        show(asked, &recorded);
        files.iter().for_each(|path| output::line(format_args!("written: {}", path.display())));
    }
    let late = recorded.late.is_some();
    let Some(outcome) = &recorded.outcome else {
        return Ok(if late { Verdict::Late } else { Verdict::Held });
    };
    if asked.auto.is_some() {
        return Ok(auto::verdict(outcome, late));
    }
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
    let bytes = fs_err::read(path)?;
    Ok(bytes.starts_with(&MAGIC.to_le_bytes()).then_some(bytes))
}

fn record(asked: &cli::Trace, as_json: bool) -> Result<Recorded> {
    let machine = machine::find(&asked.machine).expect("the command line knows the machines");
    let mut system = systems::load(&asked.system)?;
    system.kernel = asked.kernel.clone().unwrap_or(system.kernel);
    system.cpus = asked.cpus.unwrap_or(system.cpus);
    system.locking = asked.locking.clone().or(system.locking);
    super::run::check_cpus(&system)?;
    systems::change(&mut system, &asked.under, machine)?;
    let inputs = typed(&asked.under)?;
    let keep = if asked.last { Keep::Last } else { Keep::First };
    let name = system.add_trace(asked.size << 20, keep);
    if asked.under.chaos > 0 {
        // As `run` has it, so that the same places are disturbed.
        super::run::leave(&mut system);
    }
    let images = image::build_for(machine, &system)?;
    let mut names = names(&system);
    names.places.extend(places::statics(&system, &images));
    let timeout = Duration::from_secs(asked.timeout.unwrap_or(TIMEOUT));
    let (chaos, chaotic) = (asked.under.chaos, asked.under.chaotic());
    let boot = Boot::new(machine, &images, &system)
        .kernel(&system.kernel)
        .seed(asked.seed)
        .simulation(Simulation { chaos, chaotic, ..Simulation::default() });
    if let Some(limit) = asked.auto {
        let auto::Caught { outcome, bytes, traces, late } =
            auto::catch(boot, &name, &names, limit, timeout)?;
        return Ok(Recorded { bytes, names, outcome: Some(outcome), traces, late });
    }
    let script = inputs.as_deref().map(Shared::new);
    let input = script.map_or(Input::Nothing, Input::Script);
    let console = Console { show: !as_json, input };
    let outcome = machine::boot(&boot.console(console).timeout(timeout))?;
    let bytes = auto::recorded(&outcome, &name)?;
    let traces = Traces::decode(&bytes)?;
    Ok(Recorded { bytes, names, outcome: Some(outcome), traces, late: None })
}

/// The names of a system's objects.
pub fn names(system: &System) -> Names {
    let domains = system.domains.iter().map(|domain| domain.name.clone());
    Names {
        endpoints: system.endpoints.iter().map(|endpoint| endpoint.name.clone()).collect(),
        notifications: system.notifications.iter().map(|one| one.name.clone()).collect(),
        reservations: system.reservations.iter().map(reservation).collect(),
        leaves: system.domains.iter().map(|domain| domain.reservation).collect(),
        places: places::shared(system),
        timings: jobs::timings(system),
        ..Names::of(domains)
    }
}

fn reservation(one: &manifest::Reservation) -> ::trace::Reservation {
    ::trace::Reservation {
        name: one.name.clone(),
        class: one.class,
        policy: one.policy,
        share: one.share,
        limit: one.limit(),
    }
}

/// Writes the files that were asked for; their names.
fn write_files(asked: &cli::Trace, recorded: &Recorded) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    let mut write = |path: &Path, bytes: &[u8]| {
        written.push(path.to_path_buf());
        fs_err::write(path, bytes)
    };
    if let Some(path) = &asked.raw {
        write(path, &recorded.bytes)?;
    }
    if let Some(path) = &asked.perfetto {
        write(path, &::trace::perfetto(&recorded.traces.all, &recorded.names))?;
    }
    let activities = || ::trace::activities(&recorded.traces, &recorded.names);
    let window = jobs::Window::of(&recorded.traces.all, [asked.from, asked.to]);
    if let Some(path) = &asked.csv {
        write(path, &jobs::csv(&activities(), window)?)?;
    }
    if let Some(path) = &asked.gantt {
        let origin = match &recorded.outcome {
            Some(_) => format!("{} on {}", asked.system, asked.machine),
            None => asked.system.clone(),
        };
        write(path, jobs::gantt(&activities(), window).svg(&origin)?.as_bytes())?;
    }
    Ok(written)
}

fn show(asked: &cli::Trace, recorded: &Recorded) {
    let Recorded { names, traces, late, .. } = recorded;
    let width = output::columns();
    let (trace, lost) = (&traces.all, traces.lost());
    let (from, to) = trace.span().unwrap_or_default();
    output::line(format_args!(
        "kernel {}, {}: {} events in {} us{}",
        trace.kernel,
        match traces.each.len() {
            1 => format!("CPU {}", trace.cpu),
            cpus => format!("{cpus} CPUs"),
        },
        trace.events,
        (to - from) / 1000,
        match (lost, trace.keep) {
            (0, _) => ", none lost".to_string(),
            (lost, Keep::First) => format!(", the last {lost} lost: give it more with --size"),
            (lost, Keep::Last) => format!(", the first {lost} lost"),
        }
    ));
    if let Some(limit) = asked.auto {
        output::line(auto::report(traces, names, limit, late.as_ref()));
    }
    let files = [&asked.raw, &asked.perfetto, &asked.csv, &asked.gantt];
    let only_files = files.iter().any(|file| file.is_some()) || asked.auto.is_some();
    let tables = asked.overheads || asked.sections || asked.locks || asked.waits;
    if asked.timeline || !(tables || only_files) {
        let view = View { width, from: asked.from, to: asked.to, ..View::default() };
        output::line(::trace::timeline(trace, names, &view));
    }
    for trace in &traces.each {
        let title = || output::line(format_args!("CPU {}", trace.cpu));
        if asked.overheads {
            title();
            output::line(::trace::overheads(trace).table(width));
        }
        if asked.sections {
            title();
            output::line(::trace::kernel_times_table(&::trace::kernel_times(trace), width));
        }
    }
    if asked.waits {
        let waits = ::trace::longest_waits(trace, names);
        waits.iter().for_each(|wait| output::line(wrapped(&wait.to_string(), "", "  ").trim_end()));
        if waits.is_empty() {
            output::line("no thread waited for another one");
        }
    }
    if asked.locks {
        output::line(::trace::cpus_table(&::trace::cpus(traces), width));
        let locks = ::trace::locks(&traces.each);
        output::line(::trace::locks_table(&locks, width));
        if let Some(note) = about_transactions(&locks) {
            output::line(note);
        }
    }
}

/// Says so where a lock that transactions are to leave out was always taken.
fn about_transactions(locks: &[LockUse]) -> Option<&'static str> {
    let has = |way| locks.iter().any(|one| one.way == way);
    let without = has(Way::FallBack) && !has(Way::Transaction);
    let tried = locks.iter().any(|one| one.undone.iter().any(|times| *times > 0));
    match (without, tried) {
        (false, _) => None,
        (true, false) => Some("this processor has no transactions: the lock was always taken"),
        (true, true) => Some("no transaction has committed"),
    }
}

fn document(asked: &cli::Trace, recorded: &Recorded, files: &[PathBuf]) -> Value {
    let traces = &recorded.traces;
    let trace = &traces.all;
    // A trace out of a file may be another host's.
    let processor = recorded.outcome.as_ref().map(|_| machine::processor());
    let rows = |rows: Vec<Value>| {
        let named = |mut row: Value| {
            row["processor"] = json!(processor);
            row
        };
        rows.into_iter().map(named).collect::<Vec<_>>()
    };
    let of_each = |of: fn(&Trace) -> Vec<Value>| rows(traces.each.iter().flat_map(of).collect());
    json!({
        "system": asked.system,
        "machine": recorded.outcome.as_ref().map(|_| &asked.machine),
        "kernel": trace.kernel,
        "failure": recorded.outcome.as_ref().and_then(Outcome::failure),
        "unit": "counter steps",
        "hz": trace.hz,
        "events": trace.events,
        "lost": traces.lost(),
        "record_cost": trace.cost,
        "turn_cost": trace.turn,
        "span_ns": trace.span(),
        "cpus": rows(::trace::cpus(traces).iter().map(|one| json!(one)).collect()),
        "locks": rows(::trace::locks(&traces.each).iter().map(lock).collect()),
        "waits": ::trace::longest_waits(trace, &recorded.names),
        "overheads": of_each(overheads),
        "sections": of_each(sections),
        "threshold_ns": asked.auto,
        "late": recorded.late.as_ref().map(auto::document),
        "files": files,
    })
}

fn overheads(trace: &Trace) -> Vec<Value> {
    let overhead = |overhead: &::trace::Overhead| {
        json!({
            "cpu": trace.cpu,
            "overhead": overhead.kind.to_string(),
            "dropped": overhead.dropped,
            "statistics": overhead.statistics(),
        })
    };
    ::trace::overheads(trace).all.iter().map(overhead).collect()
}

fn sections(trace: &Trace) -> Vec<Value> {
    let section = |time: &::trace::KernelTime| {
        let mut section = json!(time);
        section["cpu"] = json!(trace.cpu);
        section
    };
    ::trace::kernel_times(trace).iter().map(section).collect()
}

fn lock(one: &LockUse) -> Value {
    let causes = Undone::ALL.iter().zip(one.undone);
    let undone: Map<String, Value> =
        causes.map(|(cause, times)| (cause.name().to_string(), json!(times))).collect();
    json!({
        "entry": one.entry,
        "as": one.way.name(),
        "again": one.again,
        "handed_over": one.handed,
        "waits": one.waits,
        "holds": one.holds,
        "undone": undone,
    })
}

#[cfg(test)]
mod tests;
