//! How long the tasks of a CPU delay each other by what they share.

mod shares;

pub use shares::only_serves;

use super::lent;
use crate::commands::{spaced, table};
use analysis::blocking::{Blocker, Sharer, Sharing, sum};
use analysis::tree::{Class, Entity, Report, Tree};
use analysis::{Task, Time, Verdict, time};
use manifest::System;
use serde_json::{Value, json};
use shares::{Of, Shares};
use std::collections::BTreeMap;

/// What delays a task of a CPU by what it holds.
pub struct Delay {
    /// What messages call the delayed task.
    pub task: String,
    /// B, in ns.
    pub time: Time,
    /// Whose sections that is.
    by: Vec<By>,
    /// Whether the task is late, and would not be without them.
    fits_without: bool,
}

/// A section that delays.
struct By {
    task: String,
    /// `mutex` or `endpoint`.
    kind: &'static str,
    name: String,
    length: Time,
}

impl Delay {
    /// Its sections, for programs.
    pub fn documents(&self) -> Vec<Value> {
        let document = |by: &By| json!({"task": by.task, by.kind: by.name, "length_ns": by.length});
        self.by.iter().map(document).collect()
    }

    /// What it has to do with a late job.
    pub fn reason(&self) -> String {
        if self.by.is_empty() {
            return String::new();
        }
        let without = if self.fits_without { " Without these sections it fits." } else { "" };
        let (time, by) = (time(self.time), self.sections());
        format!(" Of that, {time} are sections of less urgent tasks: {by}.{without}")
    }

    fn sections(&self) -> String {
        let spell = |By { task, kind, name, length }: &By| {
            let how = if *kind == "mutex" { "with" } else { "in a call to" };
            format!("`{task}` {how} `{name}`, {}", time(*length))
        };
        self.by.iter().map(spell).collect::<Vec<_>>().join("; ")
    }
}

/// What delays a task of this name, if anything does.
pub fn of<'a>(delays: &'a [Delay], task: &str) -> Option<&'a Delay> {
    delays.iter().find(|delay| delay.task == task)
}

/// A table of what delays; empty if nothing does.
pub fn text(delays: &[Delay]) -> String {
    let mut rows = table(&["task", "is blocked", "by the section of", "with", "length"]);
    for delay in delays {
        for (index, By { task, name, length, .. }) in delay.by.iter().enumerate() {
            let (blocked, whole) = match index {
                0 => (delay.task.clone(), format!("<= {}", time(delay.time))),
                _ => (String::new(), String::new()),
            };
            rows.add_row([blocked, whole, task.clone(), name.clone(), time(*length)]);
        }
    }
    spaced(rows)
}

/// How often a job of each task can have to wait, by its name.
pub fn waits(system: &System) -> BTreeMap<String, Time> {
    let mut all = lent::times(system);
    for task in Shares::of(system, 0).tasks {
        *all.entry(task.name).or_default() += task.waits;
    }
    all
}

/// Decides a CPU with what its tasks share: how long they delay each other is added to what is
/// asked of the analysis.
pub fn analyse(system: &System, cpu: u32, tree: Tree) -> (Report, Vec<Delay>) {
    let shares = Shares::of(system, tree.overheads.context_switch);
    let tasks: Vec<&Of> = shares.tasks.iter().filter(|task| task.cpu == cpu).collect();
    if tasks.iter().all(|task| task.sharer.sections.is_empty()) {
        return (analysis::analyse(&tree), Vec::new());
    }
    let (leaves, classes) = (leaves(&tree, &tasks, cpu), classes(&tree));
    let tasks: Vec<&Of> = tasks.into_iter().chain(&leaves).collect();
    let sharers: Vec<Sharer> = tasks.iter().map(|task| task.sharer.clone()).collect();
    let sharing = Sharing::of(&sharers, &shares.protocols);
    let asked = Asked::of(tasks, tree);
    let blockers = asked.blockers(&sharing);
    let mut report = asked.report(&sums(&blockers));
    let without = (!report.fits()).then(|| asked.report(&vec![0; asked.tasks.len()]));
    let mut delays = Vec::new();
    for (class, priority) in classes {
        if let Some(by) = sharing.delays(priority) {
            unprotect(&mut report, &class, &asked.tasks[by].name);
        }
    }
    for (index, task) in asked.tasks.iter().enumerate() {
        let Some(place) = place(&report, &task.name) else { continue };
        let leaf = &mut report.leaves[place];
        leaf.largest_execution =
            leaf.largest_execution.map(|longest| longest.saturating_sub(asked.switches[index]));
        if let Some(why) = shares.unprotected(sharing.ceilings(), task) {
            leaf.verdict = Verdict::Unprotected { why };
            leaf.largest_execution = None;
            report.classes[0].fits = false;
            continue;
        }
        let is_late = !leaf.verdict.fits();
        let fits = |report: &Report| report.leaves[place].verdict.fits();
        let by = blockers[index].iter().map(|one| By {
            task: asked.tasks[one.task].name.clone(),
            kind: shares.names[one.mutex].0,
            name: shares.names[one.mutex].1.clone(),
            length: one.length,
        });
        delays.push(Delay {
            task: task.name.clone(),
            time: sum(&blockers[index]),
            by: by.collect(),
            fits_without: is_late && without.as_ref().is_some_and(fits),
        });
    }
    (report, delays)
}

/// A CPU of which the analysis is asked, with different delays.
struct Asked<'a> {
    tasks: Vec<&'a Of>,
    /// With what each job can lose by waiting.
    tree: Tree,
    /// What that is, for each task: two context switches each time, in ns.
    switches: Vec<Time>,
}

impl<'a> Asked<'a> {
    fn of(tasks: Vec<&'a Of>, mut tree: Tree) -> Asked<'a> {
        let each = tree.overheads.context_switch.saturating_mul(2);
        let switches: Vec<Time> =
            tasks.iter().map(|task| each.saturating_mul(task.waits)).collect();
        for (index, task) in each_task(&mut tree, &tasks) {
            task.execution = task.execution.saturating_add(switches[index]);
            task.limit = task.limit.saturating_add(switches[index]);
        }
        Asked { tasks, tree, switches }
    }

    /// What fits with these delays.
    fn report(&self, blocking: &[Time]) -> Report {
        let mut tree = self.tree.clone();
        for (index, task) in each_task(&mut tree, &self.tasks) {
            task.blocking = blocking[index];
        }
        analysis::analyse(&tree)
    }

    /// What delays each task. Jobs that are in time end within their deadlines: a shorter window
    /// has fewer delays, and a job that ends with these ends within a window that is shorter still.
    fn blockers(&self, sharing: &Sharing) -> Vec<Vec<Blocker>> {
        let of = |windows: &[Option<Time>]| {
            let of = |(index, window): (usize, &Option<Time>)| match window {
                Some(window) => sharing.blockers_within(index, *window),
                None => sharing.blockers(index),
            };
            windows.iter().enumerate().map(of).collect::<Vec<_>>()
        };
        let deadline = |task: &&Of| task.deadline.min(task.sharer.period);
        let deadlines: Vec<Time> = self.tasks.iter().map(deadline).collect();
        let windows: Vec<Option<Time>> = deadlines.iter().copied().map(Some).collect();
        let report = self.report(&sums(&of(&windows)));
        let ends = |(task, deadline): (&&Of, Time)| {
            let leaf = &report.leaves[place(&report, &task.name)?];
            match leaf.verdict {
                Verdict::Fits { bound, .. } | Verdict::Late { bound, .. } => Some(bound),
                _ => None,
            }
            .filter(|bound| *bound <= deadline)
        };
        let windows: Vec<Option<Time>> = self.tasks.iter().zip(deadlines).map(ends).collect();
        of(&windows)
    }
}

fn sums(blockers: &[Vec<Blocker>]) -> Vec<Time> {
    blockers.iter().map(|all| sum(all)).collect()
}

/// The tasks right below the root of a tree, with their indices among these.
fn each_task<'t>(tree: &'t mut Tree, tasks: &[&Of]) -> Vec<(usize, &'t mut Task)> {
    let Class::FixedPriority(entities) = &mut tree.class else { return Vec::new() };
    let index = |name: &str| tasks.iter().position(|task| task.name == name);
    let tasks = entities.iter_mut().filter_map(|entity| match entity {
        Entity::Task(task) => Some((index(&task.name)?, task)),
        _ => None,
    });
    tasks.collect()
}

/// The leaves right below the root that share nothing, but are delayed by owners of what tasks
/// above them wait for.
fn leaves(tree: &Tree, tasks: &[&Of], cpu: u32) -> Vec<Of> {
    let Class::FixedPriority(entities) = &tree.class else { return Vec::new() };
    let leaf = |entity: &Entity| match entity {
        Entity::Task(leaf) if tasks.iter().all(|task| task.name != leaf.name) => {
            let (priority, period) = (leaf.priority, leaf.period);
            let sharer = Sharer { priority, period, sections: Vec::new() };
            Some(Of { name: leaf.name.clone(), cpu, deadline: leaf.deadline, sharer, waits: 0 })
        }
        _ => None,
    };
    entities.iter().filter_map(leaf).collect()
}

/// What else is right below the root and has something inside, with its priority.
fn classes(tree: &Tree) -> Vec<(String, u32)> {
    let Class::FixedPriority(entities) = &tree.class else { return Vec::new() };
    let is_class = |entity: &&Entity| matches!(entity, Entity::Server(_) | Entity::Class(_));
    let classes = entities.iter().filter(is_class);
    classes.map(|entity| (entity.name().to_string(), entity.priority())).collect()
}

/// Of what is in a class below the priority of owners nothing is known.
fn unprotect(report: &mut Report, class: &str, by: &str) {
    let why = format!(
        "`{by}`, which is less urgent than `{class}`, comes before it while it owns what a more \
         urgent task waits for. Give `{class}` a `priority` above all that share."
    );
    let inside = |path: &str| path.split('/').nth(1) == Some(class);
    for leaf in report.leaves.iter_mut().filter(|leaf| inside(&leaf.path)) {
        leaf.verdict = Verdict::Unprotected { why: why.clone() };
        leaf.largest_execution = None;
        report.classes[0].fits = false;
    }
}

/// Which leaf of a report has a name.
fn place(report: &Report, name: &str) -> Option<usize> {
    report.leaves.iter().position(|leaf| leaf.path.rsplit('/').next() == Some(name))
}
