//! Workloads of rt-app: JSON with comments and commas too many.

use super::build::{Segment, rounds};
use super::events::{Part, collect_waits, parts};
use super::{Read, Reader, UNIT};
use crate::parser::MOST_TASKS;
use crate::set::{Task, TaskSet};
use crate::system::{Inheritance, Run, Scheduler};
use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use manifest::{Problem, Span};
use std::collections::BTreeMap;

/// How long a run takes that has no end in the file, in seconds.
const DURATION: i64 = 10;
/// Where priorities of tasks without real-time policies begin: behind all that have one.
const OTHER: u64 = 1_000;
const IDLE: u64 = 2_000;

/// Keys that say how a task is scheduled, of a task or a phase.
const SCHEDULING: [&str; 6] =
    ["policy", "priority", "cpus", "dl-runtime", "dl-period", "dl-deadline"];
/// Keys that say how the file is run on Linux and measured there.
const OF_LINUX: [&str; 10] = [
    "calibration",
    "lock_pages",
    "logdir",
    "log_basename",
    "log_size",
    "ftrace",
    "gnuplot",
    "io_device",
    "mem_buffer_size",
    "cumulative_slack",
];

/// Where a value is.
pub(super) fn span(prop: &ObjectProp) -> Span {
    prop.range.start..prop.range.end
}

/// What holds for all tasks.
struct Global {
    duration: i64,
    policy: String,
    inherits: bool,
}

/// Reads a workload.
pub(super) fn read(reader: &mut Reader) -> Result<Read, Problem> {
    let text = reader.source.text.as_str();
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let parsed = parsed.map_err(|error| {
        let at = error.range().start..error.range().end;
        reader.problem(&at, format!("this is no JSON: {}", error.kind()), "mend it here")
    })?;
    let Some(Value::Object(root)) = parsed.value else {
        return Err(reader.problem(&(0..0), "this is no object", "write { \"tasks\": { } }"));
    };
    let global = global(reader, &root);
    for prop in root.properties.iter() {
        if !["global", "tasks", "resources"].contains(&prop.name.as_str()) {
            let what = format!("rt-app has no `{}` here", prop.name.as_str());
            reader.refuse(&span(prop), what, "leave it out: there are tasks, resources and global");
        }
    }
    let Some(Value::Object(all)) = root.get("tasks").map(|prop| &prop.value) else {
        let help = "write \"tasks\": { \"A\": { \"run\": 100, ... } }";
        return Err(reader.problem(&(0..0), "the file has no tasks", help));
    };
    let at = all.range.start..all.range.start + 1;
    let mut waits = BTreeMap::new();
    collect_waits(all, &mut waits);
    let mut tasks = Vec::new();
    for prop in &all.properties {
        task(reader, &global, &waits, prop, &mut tasks)?;
    }
    if tasks.is_empty() && reader.problems.is_empty() {
        let help = "give one a `run`, and `instance` 1 or more";
        return Err(reader.problem(&at, "no task of the file runs", help));
    }
    if tasks.len() > MOST_TASKS {
        return Err(reader.problem(&at, "these are more tasks than 64", "leave some out"));
    }
    let inheritance = if global.inherits { Inheritance::Mutexes } else { Inheritance::None };
    let set = TaskSet {
        name: reader.system(),
        objects: std::mem::take(&mut reader.made),
        tasks,
        helpers: Vec::new(),
        duration: global.duration as u64 * 1_000_000,
        seed: 1,
        blocking: 0,
    };
    Ok((set, Run { scheduler: Scheduler::FixedPriorities, inheritance, unit: UNIT }))
}

fn global(reader: &mut Reader, root: &Object) -> Global {
    let policy = "SCHED_OTHER".to_string();
    let mut global = Global { duration: -1, policy, inherits: false };
    let mut at = 0..0;
    if let Some(Value::Object(own)) = root.get("global").map(|prop| &prop.value) {
        at = own.range.start..own.range.end;
        for prop in &own.properties {
            match prop.name.as_str() {
                "duration" => {
                    at = span(prop);
                    global.duration = number(reader, prop).unwrap_or(-1);
                }
                "default_policy" => global.policy = text(reader, prop).unwrap_or(global.policy),
                "pi_enabled" => match &prop.value {
                    Value::BooleanLit(value) => global.inherits = value.value,
                    _ => reader.refuse(&span(prop), "this is no boolean", "write true or false"),
                },
                key if OF_LINUX.contains(&key) => {}
                key => {
                    let what = format!("rt-app has no `{key}` in global");
                    reader.refuse(&span(prop), what, "leave it out");
                }
            }
        }
    }
    if global.duration < 0 {
        global.duration = DURATION;
        reader.note(&at, format!("the workload has no end: its run ends after {DURATION} s"));
    }
    if !(1..=4_000).contains(&global.duration) {
        reader.refuse(&at, "the run has no such duration", "give 1 to 4000 seconds");
        global.duration = DURATION;
    }
    global
}

/// A whole number.
pub(super) fn number(reader: &mut Reader, prop: &ObjectProp) -> Option<i64> {
    let whole = match &prop.value {
        Value::NumberLit(number) => number.value.parse::<f64>().ok(),
        _ => None,
    };
    let whole = whole.filter(|it| it.fract() == 0.0 && it.abs() <= 4e9).map(|it| it as i64);
    if whole.is_none() {
        let what = format!("`{}` is no whole number", prop.name.as_str());
        reader.refuse(&span(prop), what, "write one, 4000000000 at most");
    }
    whole
}

/// A whole number of microseconds, 0 or more.
pub(super) fn time(reader: &mut Reader, prop: &ObjectProp) -> Option<u64> {
    let time = number(reader, prop)?;
    if time < 0 {
        reader.refuse(&span(prop), "a time is below 0", "write microseconds, 0 or more");
    }
    u64::try_from(time).ok()
}

/// A text.
pub(super) fn text(reader: &mut Reader, prop: &ObjectProp) -> Option<String> {
    if let Value::StringLit(text) = &prop.value {
        return Some(text.value.to_string());
    }
    let what = format!("`{}` is no text", prop.name.as_str());
    reader.refuse(&span(prop), what, "write it in double quotes");
    None
}

/// How a task is scheduled.
#[derive(Default)]
struct Seat {
    policy: Option<String>,
    priority: Option<i64>,
    cpu: u64,
    runtime: Option<u64>,
    period: Option<u64>,
    deadline: Option<u64>,
    /// The last key that says so.
    at: Span,
}

impl Seat {
    fn read(&mut self, reader: &mut Reader, prop: &ObjectProp) {
        self.at = span(prop);
        match prop.name.as_str() {
            "policy" => self.policy = text(reader, prop),
            "priority" => self.priority = number(reader, prop),
            "dl-runtime" => self.runtime = time(reader, prop),
            "dl-period" => self.period = time(reader, prop),
            "dl-deadline" => self.deadline = time(reader, prop),
            _ => self.cpu = cpu(reader, prop).unwrap_or(0),
        }
    }

    /// Gives a task what it says: its priority, 1 being the most urgent, and its budget.
    fn give(&self, reader: &mut Reader, task: &mut Task, global: &Global) {
        let policy = self.policy.as_ref().unwrap_or(&global.policy);
        let urgent = self.priority.unwrap_or(10);
        task.cpu = self.cpu;
        match policy.as_str() {
            "SCHED_FIFO" | "SCHED_RR" if (1..=99).contains(&urgent) => {
                task.priority = 100 - urgent as u64;
            }
            "SCHED_FIFO" | "SCHED_RR" => {
                reader.refuse(&self.at, "there is no such priority", "give 1 to 99");
            }
            "SCHED_OTHER" | "SCHED_IDLE" => {
                task.priority = if policy == "SCHED_IDLE" { IDLE } else { OTHER };
                let what = format!("{policy} is a priority below all others, with equal shares");
                reader.note(&self.at, what);
            }
            "SCHED_DEADLINE" => {
                let budget = self.runtime.unwrap_or(0);
                let period = self.period.unwrap_or(budget);
                if budget < 20 || period < 100 || budget > period {
                    let help = "give a runtime of 20 us or more, and a period of 100 us or more";
                    reader.refuse(&self.at, "the kernel has no such budget", help);
                }
                task.budget = Some((budget, period));
                task.deadline = Some(self.deadline.unwrap_or(period));
                (task.by_deadline, task.priority) = (true, 1);
            }
            _ => {
                let help = "SCHED_FIFO, SCHED_RR, SCHED_DEADLINE, SCHED_OTHER or SCHED_IDLE";
                reader.refuse(&self.at, format!("there is no policy `{policy}`"), help);
            }
        }
    }
}

/// The first of a list of CPUs.
fn cpu(reader: &mut Reader, prop: &ObjectProp) -> Option<u64> {
    let Value::Array(list) = &prop.value else {
        reader.refuse(&span(prop), "`cpus` is no list", "write \"cpus\": [0]");
        return None;
    };
    let cpus = list.elements.iter().map(|one| match one {
        Value::NumberLit(number) => number.value.parse::<u64>().ok().filter(|cpu| *cpu < 64),
        _ => None,
    });
    let cpus: Option<Vec<u64>> = cpus.collect();
    let Some(&[first, ref others @ ..]) = cpus.as_deref() else {
        reader.refuse(&span(prop), "this is no list of CPUs", "name one, from 0 to 63");
        return None;
    };
    if !others.is_empty() {
        reader.note(&span(prop), format!("of several CPUs a task runs on the first, {first}"));
    }
    Some(first)
}

/// The tasks of an entry: as many as it has instances.
fn task(
    reader: &mut Reader,
    global: &Global,
    waits: &BTreeMap<String, String>,
    prop: &ObjectProp,
    tasks: &mut Vec<Task>,
) -> Result<(), Problem> {
    let (name, at) = (prop.name.as_str(), span(prop));
    let Value::Object(own) = &prop.value else {
        return Err(reader.problem(&at, format!("task `{name}` is no object"), "write { } there"));
    };
    let (mut instances, mut loops, mut delay, mut seat) = (1, -1, 0, Seat::default());
    (seat.at, seat.policy) = (at.clone(), None);
    let (mut phases, mut events): (Vec<&ObjectProp>, Vec<&ObjectProp>) = Default::default();
    for prop in &own.properties {
        match (prop.name.as_str(), &prop.value) {
            ("instance", _) => instances = number(reader, prop).unwrap_or(1),
            ("loop", _) => loops = number(reader, prop).unwrap_or(-1),
            ("delay", _) => delay = time(reader, prop).unwrap_or(0),
            ("phases", Value::Object(all)) => phases.extend(&all.properties),
            (key, _) if SCHEDULING.contains(&key) => seat.read(reader, prop),
            _ => events.push(prop),
        }
    }
    let mut read = Vec::new();
    if phases.is_empty() {
        read.push((1, parts(reader, waits, name, &events), at.clone()));
    }
    let is_one = phases.len() == 1;
    for prop in phases {
        read.push(phase(reader, waits, (name, prop), is_one.then_some(&mut seat)));
    }
    if !events.is_empty() && read.len() > 1 {
        reader.refuse(&span(events[0]), "an event stands beside phases", "put it into a phase");
    }
    let Some(mut task) = rounds(reader, segments(read), loops, &at) else { return Ok(()) };
    task.phase += delay;
    seat.give(reader, &mut task, global);
    if instances > 1 && tasks.len() + instances as usize > MOST_TASKS {
        return Err(reader.problem(&at, "these are more tasks than 64", "leave some out"));
    }
    for number in 0..instances.max(0) {
        let name = if instances > 1 { format!("{name}-{number}") } else { name.to_string() };
        tasks.push(Task { name: reader.name(&name, &at), ..task.clone() });
    }
    Ok(())
}

/// How often a phase is run, what it does, and where it is.
type Phase = (i64, Vec<Part>, Span);

fn phase(
    reader: &mut Reader,
    waits: &BTreeMap<String, String>,
    (task, prop): (&str, &ObjectProp),
    mut seat: Option<&mut Seat>,
) -> Phase {
    let at = span(prop);
    let Value::Object(own) = &prop.value else {
        reader.refuse(&at, "a phase is no object", "write { } there");
        return (1, Vec::new(), at);
    };
    let (mut loops, mut events) = (1, Vec::new());
    for prop in &own.properties {
        match (prop.name.as_str(), seat.as_deref_mut()) {
            ("loop", _) => loops = number(reader, prop).unwrap_or(1),
            (key, Some(seat)) if SCHEDULING.contains(&key) => seat.read(reader, prop),
            (key, None) if SCHEDULING.contains(&key) => {
                let what = format!("`{key}` is of one of several phases");
                reader.refuse(&span(prop), what, "give it to the task: it is scheduled in one way");
            }
            _ => events.push(prop),
        }
    }
    (loops, parts(reader, waits, task, &events), at)
}

fn segments(phases: Vec<Phase>) -> Vec<Segment> {
    let segment = |(loops, parts, at)| Segment { loops, parts, at };
    phases.into_iter().map(segment).collect()
}
