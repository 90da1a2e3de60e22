//! What a run of a task set has shown, as text and as JSON.

use super::super::{fitted, table};
use super::Ran;
use crate::cli;
use crate::{output, workspace};
use results::Summary;
use rtsim::{Inheritance, Scheduler, begin};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trace::View;

/// Says that the manifest is there.
pub fn written(path: &Path, as_json: bool) {
    if as_json {
        super::super::print_json(&json!({ "manifest": path }));
    } else {
        output::line(format_args!("written: {}", path.display()));
    }
}

/// The text of a run.
pub fn show(asked: &cli::Rtsim, ran: &Ran, directory: &Path, exported: &[PathBuf]) {
    let scheduler = match ran.run.scheduler {
        Scheduler::FixedPriorities => "fixed priorities",
        Scheduler::EarliestDeadline => "the earliest deadline",
    };
    let inheritance = match ran.run.inheritance {
        Inheritance::None => "",
        Inheritance::Mutexes => " with PI",
        Inheritance::Conditions => ", PI and PI-CV",
    };
    let (name, kernel, unit) = (&ran.name, &ran.kernel, manifest::spell_duration(ran.run.unit));
    output::line(format_args!(
        "{name} by {scheduler}{inheritance}, kernel {kernel}; a unit is {unit}\n"
    ));
    output::line(responses(ran));
    let had = had(ran);
    if !had.is_empty() {
        output::line(had);
    }
    assumptions(ran)
        .iter()
        .for_each(|line| output::line(super::super::wrapped(line, "", "  ").trim_end()));
    if asked.from.is_some() || asked.to.is_some() {
        output::line(format_args!("\n{}", gantt(asked, ran).trim_end()));
        inherited(asked, ran).iter().for_each(output::line);
    }
    for path in exported {
        output::line(format_args!("exported: {}", workspace::shown(path)));
    }
    output::line(format_args!("results: {}", workspace::shown(directory)));
}

/// The table: jobs, their response times, and CPU time at each priority, in units.
fn responses(ran: &Ran) -> String {
    let units = |ns: f64| format!("{:.2}", ns / ran.run.unit as f64);
    let mut table = table(&["task", "jobs", "min", "mean", "max", "ran, at priority"]);
    for (index, (task, jobs)) in ran.set.tasks.iter().zip(&ran.jobs).enumerate() {
        let times = match Summary::of(&jobs.responses()) {
            Some(all) => [all.min as f64, all.mean, all.max as f64].map(units),
            None => ["-"; 3].map(str::to_string),
        };
        let ran_at = ran.picture.ran_at(index);
        let ran_at =
            ran_at.iter().map(|(priority, ns)| format!("{} at {priority}", units(*ns as f64)));
        let ran_at: Vec<String> = ran_at.collect();
        let [min, mean, max] = times;
        let count = jobs.count.to_string();
        table.add_row([task.name.clone(), count, min, mean, max, ran_at.join(", ")]);
    }
    fitted(table)
}

/// How long each task that has inherited a priority had which, running or not, in units.
fn had(ran: &Ran) -> String {
    if ran.run.inheritance == Inheritance::None {
        return String::new();
    }
    let mut table = table(&["task", "priority", "had it for"]);
    for (index, task) in ran.set.tasks.iter().enumerate() {
        let had = ran.picture.had(index);
        for (priority, ns) in had.iter().filter(|_| had.len() > 1) {
            let units = format!("{:.2}", *ns as f64 / ran.run.unit as f64);
            table.add_row([task.name.clone(), priority.to_string(), units]);
        }
    }
    if table.is_empty() { String::new() } else { fitted(table) }
}

/// What the figures rest on.
pub fn assumptions(ran: &Ran) -> Vec<String> {
    let served = match ran.run.inheritance {
        Inheritance::None => {
            "Mutexes and conditions serve in order of arrival, without inheritance"
        }
        Inheritance::Mutexes => "Mutexes lend and serve by priority, conditions serve by it",
        Inheritance::Conditions => "Mutexes and conditions lend and serve by priority",
    };
    let mut lines = vec![format!(
        "Times are from release to end, with what the kernel takes. {served}; a task that signals \
         owns the mutex meanwhile."
    )];
    let kept = |jobs: &rtsim::Jobs| jobs.count == jobs.done.len() as u64;
    if !ran.jobs.iter().all(kept) {
        lines.push("There was not room for the times of all jobs.".to_string());
    }
    if ran.lost > 0 {
        let lost = ran.lost;
        lines.push(format!("The trace lacks {lost} events, and with them CPU time: --size."));
    }
    lines
}

/// The chart in the terminal.
fn gantt(asked: &cli::Rtsim, ran: &Ran) -> String {
    let at = |unit: u64| begin(&ran.set) + unit.min(ran.set.duration) * ran.run.unit;
    let (from, to) = (at(asked.from.unwrap_or(0)), at(asked.to.unwrap_or(u64::MAX)));
    let width = output::columns();
    let view = View { width, from: Some(from), to: Some(to), events: 0, ..View::default() };
    trace::timeline(&ran.traces.all, &ran.names, &view)
}

/// When tasks in the chart had a priority that they had inherited, the first of them.
fn inherited(asked: &cli::Rtsim, ran: &Ran) -> Vec<String> {
    const MOST: usize = 24;
    let (unit, mut lines) = (ran.run.unit, Vec::new());
    let (from, to) = (asked.from.unwrap_or(0), asked.to.unwrap_or(ran.set.duration));
    for (index, task) in ran.set.tasks.iter().enumerate() {
        let own = ran.picture.inherited(index, task.priority);
        let seen = own.filter(|(span, _)| span.start < to * unit && span.end > from * unit);
        for (span, priority) in seen {
            let [from, to] = [span.start, span.end].map(|at| at as f64 / unit as f64);
            let name = &task.name;
            lines.push(format!("{name} has priority {priority} from {from:.2} to {to:.2}"));
        }
    }
    let more = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    lines.extend((more > 0).then(|| format!("... and {more} more times")));
    lines
}

/// The document of a run. Times are in units of the file.
pub fn document(ran: &Ran, directory: &Path) -> Value {
    let units = |ns: u64| ns as f64 / ran.run.unit as f64;
    let task = |(index, (task, jobs)): (usize, (&rtsim::Task, &rtsim::Jobs))| {
        let responses = jobs.responses();
        let summary = Summary::of(&responses).map(|all| {
            let mean = all.mean / ran.run.unit as f64;
            json!({ "min": units(all.min), "mean": mean, "max": units(all.max) })
        });
        let done = jobs.done.iter().map(|job| {
            json!({
                "release": units(job.release),
                "began": units(job.began),
                "complete": units(job.complete),
            })
        });
        let at_each = |times: BTreeMap<u64, u64>| {
            let time = |(priority, ns)| json!({ "priority": priority, "time": units(ns) });
            times.into_iter().map(time).collect::<Vec<_>>()
        };
        json!({
            "task": task.name,
            "priority": task.priority,
            "jobs": jobs.count,
            "response": summary,
            "ran": at_each(ran.picture.ran_at(index)),
            "had": at_each(ran.picture.had(index)),
            "done": done.collect::<Vec<_>>(),
        })
    };
    let tasks = ran.set.tasks.iter().zip(&ran.jobs).enumerate();
    json!({
        "name": ran.name,
        "kernel": ran.kernel,
        "unit_ns": ran.run.unit,
        "duration": ran.set.duration,
        "seed": ran.set.seed,
        "pi": ran.run.inheritance >= Inheritance::Mutexes,
        "pi_cv": ran.run.inheritance == Inheritance::Conditions,
        "tasks": tasks.map(task).collect::<Vec<_>>(),
        "assumptions": assumptions(ran),
        "lost_events": ran.lost,
        "results": directory,
    })
}
