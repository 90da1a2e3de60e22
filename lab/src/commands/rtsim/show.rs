//! What a run of a task set has shown, as text and as JSON.

use super::super::{fitted, table};
use super::Ran;
use crate::cli;
use crate::{output, workspace};
use results::Summary;
use rtsim::{Scheduler, begin};
use serde_json::{Value, json};
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
    let policy = match ran.run.scheduler {
        Scheduler::FixedPriorities => "fixed priorities",
        Scheduler::EarliestDeadline => "the earliest deadline",
    };
    let (name, kernel, unit) = (&ran.name, &ran.kernel, manifest::spell_duration(ran.run.unit));
    output::line(format_args!("{name} by {policy}, kernel {kernel}; a unit is {unit}\n"));
    output::line(responses(ran));
    assumptions(ran)
        .iter()
        .for_each(|line| output::line(super::super::wrapped(line, "", "  ").trim_end()));
    if asked.from.is_some() || asked.to.is_some() {
        output::line(format_args!("\n{}", gantt(asked, ran).trim_end()));
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
        let ran_at = ran.picture.at_priorities(&ran.set, index);
        let ran_at =
            ran_at.iter().map(|(priority, ns)| format!("{} at {priority}", units(*ns as f64)));
        let ran_at: Vec<String> = ran_at.collect();
        let [min, mean, max] = times;
        let count = jobs.count.to_string();
        table.add_row([task.name.clone(), count, min, mean, max, ran_at.join(", ")]);
    }
    fitted(table)
}

/// What the figures rest on.
pub fn assumptions(ran: &Ran) -> Vec<String> {
    let mut lines = vec![
        "Times are from release to end, with what the kernel takes. Mutexes and conditions serve \
         in order of arrival, without inheritance; a task that signals owns the mutex meanwhile."
            .to_string(),
    ];
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
        let ran_at = ran.picture.at_priorities(&ran.set, index);
        let ran_at = ran_at
            .into_iter()
            .map(|(priority, ns)| json!({ "priority": priority, "time": units(ns) }));
        json!({
            "task": task.name,
            "priority": task.priority,
            "jobs": jobs.count,
            "response": summary,
            "ran": ran_at.collect::<Vec<_>>(),
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
        "inheritance": false,
        "tasks": tasks.map(task).collect::<Vec<_>>(),
        "assumptions": assumptions(ran),
        "lost_events": ran.lost,
        "results": directory,
    })
}
