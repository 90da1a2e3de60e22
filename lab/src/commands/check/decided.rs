//! Whether a system fits: tables for people, a document for programs.

use super::adaptive::{self, Follows};
use super::advised;
use super::blocking::{self, Delay};
use super::counted::Counted;
use super::one_cpu;
use super::overheads::Costs;
use super::room;
use super::shared::{OnCpu, reports, without_limit};
use super::tree::{is_adaptive, is_decidable, is_unknown};
use super::undeclared::Undeclared;
use super::watched;
use crate::commands::{fitted, table, wrapped};
use analysis::Verdict;
use analysis::tree::{LeafReport, Report, ServerReport};
use manifest::{System, spell_duration};
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
    notes: Vec<String>,
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
pub(super) fn notes(system: &System) -> Vec<String> {
    let mut notes = Vec::new();
    for (index, node) in system.reservations.iter().enumerate() {
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
        if is_adaptive(system, index) && !is_in_adaptive(system, index) {
            notes.push(match system.most_budget(index).map(time) {
                None => format!("budgets in `{name}` follow demand: no job in it has a bound"),
                Some(most) => format!(
                    "the budget of `{name}` follows demand: it counts for others as {most}, the \
                     most that it can be, and no job in it has a bound"
                ),
            });
        }
        if is_unknown(system, node) && !is_adaptive(system, index) && !is_in_adaptive(system, index)
        {
            notes.push(format!(
                "`{name}` has no `execution`, and no `budget` below its `period`: it may take all \
                 of that"
            ));
        }
    }
    notes.extend(without_limit(system).into_iter().map(|name| {
        format!("`{name}` is more urgent than what all CPUs share, and nothing limits it")
    }));
    notes
}

/// Whether nothing is known of when a class above a reservation is served.
fn is_in_adaptive(system: &System, index: usize) -> bool {
    let above = |index: &usize| system.reservations[*index].class;
    std::iter::successors(above(&index), above).any(|class| is_adaptive(system, class))
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

    /// For people, in lines that fit the terminal.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for OnCpu { cpu, report, delays } in &self.cpus {
            let unless = || report.leaves.iter().filter_map(|it| self.unless.get(name(&it.path)));
            let fits = match (report.fits(), unless().next().is_some()) {
                (true, false) => "fits",
                (true, true) if unless().all(|waits| waits.memories.is_empty()) => {
                    "fits, unless tasks make calls that the manifest does not declare"
                }
                (true, true) => "fits, unless tasks wait for what the manifest does not declare",
                (false, _) if is_undecided(report) => "is not decided",
                (false, _) => "does not fit",
            };
            let of =
                one_cpu(*cpu).map_or("What all CPUs share".to_string(), |cpu| format!("CPU {cpu}"));
            text += &format!("\n{of} {fits}.\n");
            text += &tasks(report, &self.unless);
            text += &servers(report);
            text += &blocking::text(delays);
            text += &self.counted.text(report);
            for reason in self.reasons(report, delays) {
                text += &wrapped(&reason, "\n- ", "  ");
            }
        }
        text += &adaptive::text(&self.adaptive);
        text += &wrapped(&self.costs.text(), "\n", "");
        if !self.required && !self.fits() {
            text += "\nAccepted: by `[analysis]` of the manifest bounds are not required.\n";
        }
        self.notes.iter().for_each(|note| text += &wrapped(note, "\nnote: ", "      "));
        text
    }

    /// Why tasks do not fit, and what would.
    fn reasons(&self, report: &Report, delays: &[Delay]) -> Vec<String> {
        let late = report.leaves.iter().filter(|leaf| !leaf.verdict.fits());
        let (by_supervisor, told) = &self.by_supervisor;
        let reason = |leaf: &LeafReport| match by_supervisor.contains(&leaf.path) {
            true => reason(report, leaf, delays) + told,
            false => reason(report, leaf, delays),
        };
        let mut reasons: Vec<String> = late.map(reason).collect();
        let asked = |path: &str| {
            let inside = |leaf: &&LeafReport| leaf.path.starts_with(&format!("{path}/"));
            report.leaves.iter().filter(inside).all(|leaf| leaf.verdict.fits())
        };
        let classes = report.classes.iter().filter(|class| !class.fits && asked(&class.path));
        reasons.extend(classes.map(|class| format!("`{}`: {}", name(&class.path), class.reason)));
        reasons
    }

    /// For programs.
    pub fn document(&self) -> Value {
        let cpu = |OnCpu { cpu, report, delays }: &OnCpu| {
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
                "reasons": self.reasons(report, delays),
            })
        };
        json!({
            "fits": self.fits(),
            "required": self.required,
            "overheads": self.costs.document(),
            "cpus": self.cpus.iter().map(cpu).collect::<Vec<_>>(),
            "adaptive": self.adaptive.iter().map(Follows::document).collect::<Vec<_>>(),
            "notes": self.notes,
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

fn tasks(report: &Report, unless: &BTreeMap<String, Undeclared>) -> String {
    if report.leaves.is_empty() {
        return "\nNothing on it has a deadline.\n".to_string();
    }
    let mut rows = table(&["task", "response", "deadline", "slack", ""]);
    for leaf in &report.leaves {
        let (within, slack) = bound(leaf);
        let slack = slack.map(|slack| {
            let sign = if slack < 0 { "-" } else { "" };
            format!("{sign}{}", time(u64::try_from(slack.unsigned_abs()).unwrap_or(u64::MAX)))
        });
        let said = match (&leaf.verdict, unless.get(name(&leaf.path))) {
            (Verdict::Fits { .. }, None) => "fits".to_string(),
            (Verdict::Fits { .. }, Some(waits)) => format!("fits, unless it {}", waits.text()),
            (Verdict::Late { .. } | Verdict::Exceeded(_) | Verdict::Unbounded, _) => "late".into(),
            (Verdict::Unknown(_), _) => "not decided".into(),
            _ => "no bound".into(),
        };
        let none = || "-".to_string();
        let bound = within.map_or_else(none, |bound| format!("<= {}", time(bound)));
        let slack = slack.unwrap_or_else(none);
        let task = name(&leaf.path).to_string();
        rows.add_row([task, bound, time(leaf.deadline), slack, said]);
    }
    format!("\n{}", fitted(rows))
}

fn servers(report: &Report) -> String {
    if report.servers.is_empty() {
        return String::new();
    }
    let mut rows = table(&["budget of", "budget", "period", "has it within", "would fit with"]);
    for server in &report.servers {
        let within = delivered(server).map_or("not sure of it".to_string(), time);
        let smallest = server.nearest.map_or("-".to_string(), time);
        let [budget, period] = [server.budget, server.period].map(time);
        rows.add_row([name(&server.path).to_string(), budget, period, within, smallest]);
    }
    format!("\n{}", fitted(rows))
}

fn reason(report: &Report, leaf: &LeafReport, delays: &[Delay]) -> String {
    let task = name(&leaf.path);
    let why = match &leaf.verdict {
        Verdict::Fits { .. } | Verdict::NotAsked => String::new(),
        Verdict::Late { bound, excess } => {
            let [bound, deadline, by, has] =
                [*bound, leaf.deadline, excess.instant, excess.supply].map(time);
            let demand = time(u64::try_from(excess.demand).unwrap_or(u64::MAX));
            format!(
                "`{task}` can take {bound}, and has {deadline}: within {by}, {demand} of work come \
                 before its end, and {has} of CPU time are sure."
            )
        }
        Verdict::Exceeded(excess) => {
            let [by, has] = [excess.instant, excess.supply].map(time);
            let demand = time(u64::try_from(excess.demand).unwrap_or(u64::MAX));
            format!(
                "`{task}` can be late: within {by}, {demand} of work can be due, and {has} of CPU \
                 time are sure."
            )
        }
        Verdict::Unbounded => format!(
            "`{task}` falls behind without end: what comes before it, and its own jobs, are more \
             work than there is CPU time in the long run."
        ),
        Verdict::Unlimited { by } => unlimited(task, by),
        Verdict::Unprotected { why } => format!("`{task}` has no bound: {why}"),
        Verdict::Short { .. } => room::reason(task, &leaf.verdict),
        Verdict::NoGuarantee => {
            format!("`{task}` runs when others leave time: nothing is guaranteed to it.")
        }
        Verdict::NoSupply { of } => no_supply(report, task, of),
        Verdict::Unknown(error) => format!("`{task}` is not decided: {error}."),
    };
    let shared = blocking::of(delays, task).map_or(String::new(), Delay::reason);
    why + &shared + &advice(report, leaf)
}

fn unlimited(task: &str, by: &str) -> String {
    format!(
        "`{by}` is as urgent as `{task}` or more, and nothing limits it: give it a `budget`, or \
         `execution` and `period`, or a lower `priority`."
    )
}

/// Why what is above a task has no CPU time for sure.
fn no_supply(report: &Report, task: &str, of: &str) -> String {
    let server = report.servers.iter().find(|server| server.path == of);
    if let Some(server) = server {
        return match &server.verdict {
            Verdict::Unlimited { by } => unlimited(name(of), by),
            verdict => format!(
                "`{task}` has no CPU time for sure: the budget of `{}`, {} in {}, is {verdict}.",
                name(of),
                time(server.budget),
                time(server.period)
            ),
        };
    }
    let above = of.rsplit_once('/').map_or(of, |(above, _)| above);
    let classes = report.classes.iter().filter(|class| class.path == above || class.path == of);
    // The outermost that does not fit: one that fits is no reason.
    let class = classes.min_by_key(|class| class.fits);
    let why = class.map_or("", |class| class.reason.as_str());
    format!("`{task}` has no CPU time for sure: {why}.")
}

/// What would fit instead.
fn advice(report: &Report, leaf: &LeafReport) -> String {
    let above = |server: &&ServerReport| leaf.path.starts_with(&format!("{}/", server.path));
    let mut advice = String::new();
    for server in report.servers.iter().filter(above) {
        let Some(nearest) = server.nearest.filter(|nearest| *nearest != server.budget) else {
            continue;
        };
        let (name, nearest) = (name(&server.path), spell_duration(nearest));
        advice += &format!(" It fits with `budget = \"{nearest}\"` for `{name}`.");
    }
    let shorter = leaf.largest_execution.map(|longest| longest / 1_000 * 1_000);
    if let Some(shorter) = shorter.filter(|shorter| *shorter > 0) {
        advice += &format!(" It fits with jobs of {} at most.", spell_duration(shorter));
    }
    advice
}

/// A time with all its digits, in the unit that manifests would give it in.
pub(super) fn time(nanoseconds: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let Some((unit, name)) = units.into_iter().find(|(unit, _)| nanoseconds >= *unit) else {
        return format!("{nanoseconds}ns");
    };
    let digits = usize::try_from(unit.ilog10()).unwrap_or(0);
    let fraction = format!("{:0digits$}", nanoseconds % unit);
    match fraction.trim_end_matches('0') {
        "" => format!("{}{name}", nanoseconds / unit),
        fraction => format!("{}.{fraction}{name}", nanoseconds / unit),
    }
}
