//! Whether a system fits: tables for people, a document for programs.

use super::adaptive::{self, Follows};
use super::advised;
use super::blocking::{self, Delay};
use super::counted::Counted;
use super::note::{Note, Places, texts};
use super::one_cpu;
use super::overheads::Costs;
use super::reasons;
use super::room;
use super::shared::{OnCpu, reports, without_limit};
use super::tree::{is_adaptive, is_decidable, is_unknown};
use super::undeclared::Undeclared;
use super::watched;
use crate::commands::{fitted, spaced, table, wrapped};
use analysis::tree::{LeafReport, Report, ServerReport};
use analysis::{Verdict, time};
use manifest::{Reservation, System};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What was decided of a system.
pub struct Decided {
    costs: Costs,
    /// How often each cost is counted for each task.
    counted: Counted,
    /// Each CPU with what is said of it, last what all CPUs share.
    cpus: Vec<OnCpu>,
    /// What budgets that follow demand are at least and at most.
    adaptive: Vec<Follows>,
    /// What each task may wait for without saying so, by its name.
    unless: BTreeMap<String, Undeclared>,
    /// The paths of tasks that would fit without the supervisor, and what is said of them.
    by_supervisor: (BTreeSet<String>, String),
    /// What is to be known beside.
    notes: Vec<Note>,
    /// Where the manifest has what reports name.
    places: Places,
    /// Whether each deadline must be met for sure.
    required: bool,
}

/// Decides whether a system fits; none if it says nothing of CPU time.
pub fn decide(system: &System, costs: impl Into<Costs>) -> Option<Decided> {
    let costs: Costs = costs.into();
    let overheads = costs.overheads;
    let advised = || {
        let mut cpus = reports(system, overheads);
        advised::round(system, overheads, &mut cpus);
        cpus
    };
    let decided = |cpus: Vec<OnCpu>| Decided {
        costs,
        counted: Counted::of(system, overheads, &cpus),
        unless: unless(system, &cpus),
        by_supervisor: (
            watched::late_by_supervisor(system, overheads, &cpus),
            watched::reason(system),
        ),
        cpus,
        adaptive: adaptive::all(system),
        notes: notes(system),
        places: Places::of(system),
        required: system.bounds_required,
    };
    is_decidable(system).then(|| decided(advised()))
}

/// What tasks with a bound may wait for without saying so.
fn unless(system: &System, cpus: &[OnCpu]) -> BTreeMap<String, Undeclared> {
    let leaves = cpus.iter().flat_map(|on| &on.report.leaves);
    let tasks = leaves.filter(|leaf| leaf.verdict.fits()).map(|leaf| name(&leaf.path));
    let named = tasks.map(|task| (task.to_string(), Undeclared::of(system, task)));
    named.filter(|(_, waits)| !waits.is_empty()).collect()
}

/// What of the reservations is likely not meant.
pub(super) fn notes(system: &System) -> Vec<Note> {
    let nodes = system.reservations.iter().enumerate();
    let of = |(index, node): (usize, &Reservation)| {
        let texts = about(system, index, node).into_iter();
        texts.map(|text| Note::new(&node.at, text)).collect::<Vec<_>>()
    };
    let places = Places::of(system);
    let unlimited = without_limit(system).into_iter().map(|name| {
        let text =
            format!("`{name}` is more urgent than what all CPUs share, and nothing limits it");
        Note::new(&places.at(&name), text)
    });
    nodes.flat_map(of).chain(unlimited).collect()
}

/// The same of one reservation.
fn about(system: &System, index: usize, node: &Reservation) -> Vec<String> {
    let mut notes = Vec::new();
    let name = &node.name;
    let named = system.domains.iter().flat_map(|domain| &domain.caps);
    let named = named.filter(|cap| cap.target == manifest::Target::Reservation(index)).count();
    if node.policy.is_none() && system.domains_on(index).is_empty() && named == 0 {
        notes.push(format!("no domain runs on reservation `{name}`, and none can"));
    }
    if let abi::reservation::Share::Partition { number, .. } = node.share
        && number > 0
        && let Some(class) = node.class
        && system.reservations[class].windows.iter().all(|window| window.partition != number)
    {
        notes.push(format!("partition `{name}` has no windows, so nothing in it ever runs"));
    }
    if is_in_adaptive(system, index) {
        return notes;
    }
    if is_adaptive(system, index) {
        notes.push(match system.most_budget(index).map(time) {
            None => format!("budgets in `{name}` follow demand: no job in it has a bound"),
            Some(most) => format!(
                "the budget of `{name}` follows demand: it counts for others as {most}, the most \
                 that it can be, and no job in it has a bound"
            ),
        });
    } else if is_unknown(system, node) {
        notes.push(format!(
            "`{name}` has no `execution`, and no `budget` below its `period`: it may take all of \
             that"
        ));
    }
    notes
}

/// Whether nothing is known of when a class above a reservation is served.
fn is_in_adaptive(system: &System, index: usize) -> bool {
    system.around(index).skip(1).any(|class| is_adaptive(system, class))
}

impl Decided {
    /// Whether everything with a deadline meets it for sure.
    pub fn fits(&self) -> bool {
        self.cpus.iter().all(|on| on.report.fits())
    }

    /// Whether it fits, or the manifest does not ask for that.
    pub fn is_accepted(&self) -> bool {
        self.fits() || !self.required
    }

    /// Within which time tasks end, in ns, by their names; those that have a bound, and a name of
    /// their own.
    pub fn bounds(&self) -> BTreeMap<String, u64> {
        let leaves: Vec<_> = self.cpus.iter().flat_map(|on| &on.report.leaves).collect();
        let named = |leaf: &str| leaves.iter().filter(|other| name(&other.path) == leaf).count();
        let single = leaves.iter().filter(|leaf| named(name(&leaf.path)) == 1);
        single.filter_map(|leaf| Some((name(&leaf.path).to_string(), bound(leaf).0?))).collect()
    }

    /// What tasks must not do for their bounds to hold, behind "unless it", by their names.
    pub fn unless(&self) -> BTreeMap<String, String> {
        self.unless.iter().map(|(task, waits)| (task.clone(), waits.text())).collect()
    }

    /// What is decided, behind the system's name.
    pub fn says(&self) -> String {
        let leaves = || self.cpus.iter().flat_map(|on| &on.report.leaves);
        let unless = || leaves().filter_map(|leaf| self.unless.get(name(&leaf.path)));
        let mut late = self.cpus.iter().map(|on| &on.report).filter(|report| !report.fits());
        if self.fits() {
            return match unless().next() {
                _ if leaves().next().is_none() => "fits: nothing in it has a deadline",
                None => "fits",
                Some(_) if unless().all(|waits| waits.memories.is_empty()) => {
                    "fits, unless tasks make calls that the manifest does not declare"
                }
                Some(_) => "fits, unless tasks wait for what the manifest does not declare",
            }
            .to_string();
        }
        let says = if late.all(is_undecided) { "is not decided" } else { "does not fit" };
        let accepted = if self.required { "" } else { ", which its `[analysis]` accepts" };
        format!("{says}{accepted}")
    }

    /// Each task with its bound and its deadline, those first that do not fit and then the tightest
    /// if only so many are shown.
    pub fn deadlines(&self, most: usize) -> String {
        let cpu = |on: &OnCpu| one_cpu(on.cpu).map_or("any".to_string(), |cpu| cpu.to_string());
        let mut all: Vec<(String, &LeafReport)> = Vec::new();
        for on in &self.cpus {
            all.extend(on.report.leaves.iter().map(|leaf| (cpu(on), leaf)));
        }
        let left = all.len().saturating_sub(most);
        if left > 0 {
            // In millionths of the deadline.
            let slack = |leaf: &LeafReport| {
                bound(leaf).1.map(|slack| slack * 1_000_000 / i128::from(leaf.deadline.max(1)))
            };
            all.sort_by_key(|(_, leaf)| (leaf.verdict.fits(), slack(leaf)));
        }
        let late = all.iter().skip(most).filter(|(_, leaf)| !leaf.verdict.fits()).count();
        let several = self.cpus.len() > 1;
        let titles = ["CPU", "task", "response", "deadline", "slack", ""];
        let mut rows = table(&titles[usize::from(!several)..]);
        for (cpu, leaf) in all.into_iter().take(most) {
            rows.add_row(several.then_some(cpu).into_iter().chain(self.row(leaf)));
        }
        match left {
            _ if rows.is_empty() => String::new(),
            0 => fitted(rows),
            _ => format!(
                "{} {left} more have more slack; {late} of them do not fit.\n",
                fitted(rows)
            ),
        }
    }

    fn row(&self, leaf: &LeafReport) -> [String; 5] {
        let (within, slack) = bound(leaf);
        let slack = slack.map(|slack| {
            let sign = if slack < 0 { "-" } else { "" };
            format!("{sign}{}", time(u64::try_from(slack.unsigned_abs()).unwrap_or(u64::MAX)))
        });
        let said = match (&leaf.verdict, self.unless.get(name(&leaf.path))) {
            (Verdict::Fits { .. }, None) => "fits".to_string(),
            (Verdict::Fits { .. }, Some(waits)) => format!("fits, unless it {}", waits.text()),
            (Verdict::Late { .. } | Verdict::Exceeded(_) | Verdict::Unbounded, _) => "late".into(),
            (Verdict::Unknown(_), _) => "not decided".into(),
            _ => "no bound".into(),
        };
        let none = || "-".to_string();
        let bound = within.map_or_else(none, |bound| format!("<= {}", time(bound)));
        let task = name(&leaf.path).to_string();
        [task, bound, time(leaf.deadline), slack.unwrap_or_else(none), said]
    }

    /// What the kernel costs, where that is not counted.
    pub fn missing(&self) -> Option<String> {
        (!self.costs.are_counted()).then(|| self.costs.text())
    }

    /// What is to be known beside.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// What the bounds are made of, in tables that fit the terminal.
    pub fn tables(&self) -> String {
        let mut text = String::new();
        for OnCpu { cpu, report, delays } in &self.cpus {
            let tables = servers(report) + &blocking::text(delays) + &self.counted.text(report);
            if self.cpus.len() > 1 && !tables.is_empty() {
                let of = one_cpu(*cpu).map_or("All CPUs".to_string(), |cpu| format!("CPU {cpu}"));
                text += &format!("\n{of}:\n");
            }
            text += &tables;
        }
        text += &adaptive::text(&self.adaptive);
        if self.costs.are_counted() {
            text += &wrapped(&self.costs.text(), "\n", "");
        }
        text
    }

    /// Why tasks do not fit, and what would.
    pub fn reasons(&self) -> Vec<Note> {
        self.cpus.iter().flat_map(|on| self.reasons_on(on)).collect()
    }

    fn reasons_on(&self, on: &OnCpu) -> Vec<Note> {
        let OnCpu { report, delays, .. } = on;
        let (by_supervisor, told) = &self.by_supervisor;
        let reason = |leaf: &LeafReport| {
            let by = if by_supervisor.contains(&leaf.path) { told } else { "" };
            let at = self.places.at(reasons::blamed(report, leaf));
            Note { at, text: reasons::reason(report, leaf, delays) + by }
        };
        let late = report.leaves.iter().filter(|leaf| !leaf.verdict.fits()).map(reason);
        let asked = |path: &str| {
            let inside = |leaf: &&LeafReport| leaf.path.starts_with(&format!("{path}/"));
            report.leaves.iter().filter(inside).all(|leaf| leaf.verdict.fits())
        };
        let classes = report.classes.iter().filter(|class| !class.fits && asked(&class.path));
        let classes = classes.map(|class| Note {
            at: self.places.at(&class.path),
            text: format!("`{}`: {}", name(&class.path), class.reason),
        });
        late.chain(classes).collect()
    }

    /// For programs.
    pub fn document(&self) -> Value {
        let cpu = |on: &OnCpu| {
            let OnCpu { cpu, report, delays } = on;
            let tasks = report.leaves.iter().map(|leaf| {
                let mut document = task_document(leaf, delays);
                let waits = self.unless.get(name(&leaf.path)).cloned().unwrap_or_default();
                document["overheads"] = self.counted.document(leaf);
                document["unless_it_calls"] = json!(waits.calls);
                document["unless_it_waits_in"] = json!(waits.memories);
                document["fits_without_supervisor"] =
                    json!(leaf.verdict.fits() || self.by_supervisor.0.contains(&leaf.path));
                document
            });
            let classes = report.classes.iter().map(|class| {
                let (path, policy) = (&class.path, class.policy);
                json!({"path": path, "policy": policy, "fits": class.fits, "reason": class.reason})
            });
            json!({
                "cpu": one_cpu(*cpu),
                "fits": report.fits(),
                "tasks": tasks.collect::<Vec<_>>(),
                "servers": report.servers.iter().map(server_document).collect::<Vec<_>>(),
                "classes": classes.collect::<Vec<_>>(),
                "reasons": texts(&self.reasons_on(on)),
            })
        };
        json!({
            "fits": self.fits(),
            "required": self.required,
            "overheads": self.costs.document(),
            "cpus": self.cpus.iter().map(cpu).collect::<Vec<_>>(),
            "adaptive": self.adaptive.iter().map(Follows::document).collect::<Vec<_>>(),
            "notes": texts(&self.notes),
        })
    }
}

fn task_document(leaf: &LeafReport, delays: &[Delay]) -> Value {
    let (within, slack) = bound(leaf);
    let delay = blocking::of(delays, name(&leaf.path));
    json!({
        "name": name(&leaf.path),
        "path": leaf.path,
        "deadline_ns": leaf.deadline,
        "bound_ns": within,
        "slack_ns": slack,
        "fits": leaf.verdict.fits(),
        "verdict": leaf.verdict.to_string(),
        "longest_execution_ns": leaf.largest_execution,
        "least_budget_ns": room::least_budget(&leaf.verdict),
        "blocking_ns": delay.map_or(0, |delay| delay.time),
        "blocked_by": delay.map_or(Vec::new(), Delay::documents),
    })
}

fn server_document(server: &ServerReport) -> Value {
    json!({
        "name": name(&server.path),
        "path": server.path,
        "budget_ns": server.budget,
        "period_ns": server.period,
        "bound_ns": delivered(server),
        "nearest_budget_ns": server.nearest,
        "verdict": server.verdict.to_string(),
    })
}

/// A leaf's bound and slack; below zero it is late.
pub(super) fn bound(leaf: &LeafReport) -> (Option<u64>, Option<i128>) {
    match &leaf.verdict {
        Verdict::Fits { bound, slack } => (Some(*bound), Some((*slack).into())),
        Verdict::Late { bound, .. } => {
            (Some(*bound), Some(i128::from(leaf.deadline) - i128::from(*bound)))
        }
        _ => (None, None),
    }
}

/// Within which time of its period a server has its budget.
fn delivered(server: &ServerReport) -> Option<u64> {
    match server.verdict {
        Verdict::Fits { bound, .. } => Some(bound),
        _ => None,
    }
}

/// What people call a node: the end of its path.
pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether all that does not fit is not decided, for want of steps.
fn is_undecided(report: &Report) -> bool {
    let mut late = report.leaves.iter().filter(|leaf| !leaf.verdict.fits()).peekable();
    late.peek().is_some() && late.all(|leaf| matches!(leaf.verdict, Verdict::Unknown(_)))
}

fn servers(report: &Report) -> String {
    let mut rows = table(&["budget of", "budget", "period", "has it within", "would fit with"]);
    for server in &report.servers {
        let within = delivered(server).map_or("not sure of it".to_string(), time);
        let smallest = server.nearest.map_or("-".to_string(), time);
        let [budget, period] = [server.budget, server.period].map(time);
        rows.add_row([name(&server.path).to_string(), budget, period, within, smallest]);
    }
    spaced(rows)
}
