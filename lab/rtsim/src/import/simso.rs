//! Task sets of SimSo: XML, with times in milliseconds.

use super::{Read, Reader, UNIT, partition};
use crate::parser::MOST_TASKS;
use crate::set::Instruction::{Compute, Dec, Inc, Lock, Signal, Unlock, WaitCounter};
use crate::set::{Activation, Instruction, Object, Operand, Phase, Task, TaskSet, Time};
use crate::system::{Inheritance, Run, Scheduler};
use manifest::{Problem, Span};
use roxmltree::{Document, Node};

/// Schedulers by the last part of their names, without what says in which way they are carried out.
const PRIORITIES: [&str; 4] = ["RM", "RM_mono", "P_RM", "DM"];
const DEADLINES: [&str; 5] = ["EDF", "EDF_mono", "EDF2", "P_EDF", "P_EDF2"];
/// Those that give each task a CPU.
const PARTITIONED: [&str; 3] = ["P_RM", "P_EDF", "P_EDF2"];

/// A task with what only its file knows.
struct Found {
    task: Task,
    id: String,
    /// The task that its end releases, by its id.
    next: Option<(String, Span)>,
    /// Whether another task releases it.
    is_next: bool,
    wcet: u64,
    at: Span,
}

/// Reads a task set.
pub(super) fn read(reader: &mut Reader) -> Result<Read, Problem> {
    let text = reader.source.text.as_str();
    let document = Document::parse(text).map_err(|error| {
        let at = offset(text, error.pos());
        reader.problem(&(at..at), format!("this is no XML: {error}"), "mend it here")
    })?;
    let root = document.root_element();
    if !root.has_tag_name("simulation") {
        let help = "SimSo's files have <simulation> around all";
        return Err(reader.problem(&begin(root), "this is no task set of SimSo", help));
    }
    let scheduler = scheduler(reader, root)?;
    let cpus = cpus(reader, root);
    let mut found = Vec::new();
    let tasks = root.children().filter(|node| node.has_tag_name("tasks"));
    for node in tasks.flat_map(|tasks| tasks.children()).filter(|node| node.has_tag_name("task")) {
        found.extend(task(reader, node));
    }
    follow(reader, &mut found);
    if found.is_empty() && reader.problems.is_empty() {
        let help = "write <tasks><task ... /></tasks>";
        return Err(reader.problem(&begin(root), "the file has no tasks", help));
    }
    if found.len() > MOST_TASKS {
        return Err(reader.problem(&begin(root), "these are more tasks than 64", "leave some out"));
    }
    let is_edf = DEADLINES.contains(&scheduler.0.as_str());
    for place in 0..found.len() {
        let by_period = ["RM", "RM_mono", "P_RM"].contains(&scheduler.0.as_str());
        let key = |found: &Found| key(&found.task, by_period);
        let own = key(&found[place]);
        found[place].task.priority = 1 + found.iter().filter(|it| key(it) < own).count() as u64;
    }
    if cpus > 1 {
        assign(reader, &scheduler, cpus, &mut found);
    }
    let duration = duration(reader, root);
    let set = TaskSet {
        name: reader.system(),
        objects: std::mem::take(&mut reader.made),
        tasks: found.into_iter().map(|found| found.task).collect(),
        helpers: Vec::new(),
        duration,
        seed: 1,
        blocking: 0,
    };
    let scheduler = if is_edf { Scheduler::EarliestDeadline } else { Scheduler::FixedPriorities };
    Ok((set, Run { scheduler, inheritance: Inheritance::None, unit: UNIT }))
}

/// The byte of a place in a text.
fn offset(text: &str, pos: roxmltree::TextPos) -> usize {
    let before: usize = text.split_inclusive('\n').take(pos.row as usize - 1).map(str::len).sum();
    before.min(text.len())
}

/// Where an element begins.
fn begin(node: Node) -> Span {
    let from = node.range().start;
    from..from + 1
}

/// Where an attribute is, or else its element.
fn span(node: Node, key: &str) -> Span {
    node.attribute_node(key).map_or_else(|| begin(node), |own| own.range())
}

/// What orders priorities: the period or the deadline.
fn key(task: &Task, by_period: bool) -> u64 {
    let period = match task.activation {
        Activation::Period(period) if by_period => Some(period),
        _ => None,
    };
    period.or(task.deadline).unwrap_or(u64::MAX)
}

/// The scheduler's name, and where it is.
fn scheduler(reader: &mut Reader, root: Node) -> Result<(String, Span), Problem> {
    let node = root.children().find(|node| node.has_tag_name("sched"));
    let help = "RM, DM, EDF, P_RM and P_EDF there are";
    let class = node.and_then(|node| node.attribute("className").or(node.attribute("class")));
    let (Some(node), Some(class)) = (node, class) else {
        return Err(reader.problem(&begin(root), "the file names no scheduler", help));
    };
    let key = if node.has_attribute("className") { "className" } else { "class" };
    let last = class.trim_end_matches(".py").rsplit(['.', '/', '\\']).next().unwrap_or_default();
    if !PRIORITIES.contains(&last) && !DEADLINES.contains(&last) {
        let what = format!("there is no scheduler `{last}`");
        return Err(reader.problem(&span(node, key), what, help));
    }
    for key in ["overhead", "overhead_activate", "overhead_terminate"] {
        overhead(reader, node, key);
    }
    Ok((last.to_string(), span(node, key)))
}

/// An overhead takes as long as it takes the kernel.
fn overhead(reader: &mut Reader, node: Node, key: &str) {
    let is_some = node.attribute(key).is_some_and(|text| text.parse() != Ok(0.0));
    if is_some {
        let what = "overheads are the kernel's own, not those of the file";
        reader.note(&span(node, key), what);
    }
}

/// How many processors there are.
fn cpus(reader: &mut Reader, root: Node) -> usize {
    let all = root.children().filter(|node| node.has_tag_name("processors"));
    let mut count = 0;
    for node in all.flat_map(|all| all.children()).filter(|node| node.has_tag_name("processor")) {
        count += 1;
        for key in ["cl_overhead", "cs_overhead"] {
            overhead(reader, node, key);
        }
        if node.attribute("speed").is_some_and(|speed| speed.parse() != Ok(1.0)) {
            let help = "give the processor speed 1.0, and its tasks other lengths";
            reader.refuse(&span(node, "speed"), "all processors are equally fast", help);
        }
    }
    if count > 64 {
        reader.refuse(&begin(root), "these are more processors than 64", "leave some out");
    }
    count.max(1)
}

/// How long the run takes, in microseconds.
fn duration(reader: &mut Reader, root: Node) -> u64 {
    let of = |key: &str, default: f64| {
        root.attribute(key).and_then(|text| text.parse::<f64>().ok()).unwrap_or(default)
    };
    let ms = of("duration", 1e8) / of("cycles_per_ms", 1e6);
    if !(0.001..=4e6).contains(&ms) {
        let help = "write cycles, cycles_per_ms for each millisecond, of 4000 s at most";
        reader.refuse(&span(root, "duration"), "there is no such duration", help);
        return 1;
    }
    if root.attribute("etm").is_some_and(|etm| etm != "wcet") {
        let what = "each job takes its WCET, whatever the model of execution times";
        reader.note(&span(root, "etm"), what);
    }
    (ms * 1e3).round() as u64
}

/// Milliseconds as microseconds.
fn us(reader: &mut Reader, text: &str, at: &Span) -> Option<u64> {
    let us = text.trim().parse::<f64>().ok().map(|ms| ms * 1e3);
    let Some(us) = us.filter(|us| (0.0..=4e9).contains(us)) else {
        let what = format!("`{}` is no time", text.trim());
        reader.refuse(at, what, "write milliseconds, 0 or more");
        return None;
    };
    if (us - us.round()).abs() > 1e-6 {
        reader.note(at, "times are rounded to microseconds");
    }
    Some(us.round() as u64)
}

/// The time of an attribute that is needed.
fn needed(reader: &mut Reader, node: Node, key: &str) -> Option<u64> {
    let at = span(node, key);
    let time = node.attribute(key).and_then(|text| us(reader, text, &at)).filter(|us| *us > 0);
    if time.is_none() {
        let what = format!("the task has no `{key}`");
        reader.refuse(&at, what, "write it in milliseconds, above 0");
    }
    time
}

fn task(reader: &mut Reader, node: Node) -> Option<Found> {
    let of_file = node.attribute("name").unwrap_or("task");
    let name = reader.name(of_file, &span(node, "name"));
    let (wcet, deadline) = (needed(reader, node, "WCET")?, needed(reader, node, "deadline")?);
    if node.attribute("abort_on_miss").is_some_and(|it| it.eq_ignore_ascii_case("yes")) {
        let what = "a job that misses its deadline goes on: none is aborted";
        reader.note(&span(node, "abort_on_miss"), what);
    }
    let mut task = Task {
        name,
        priority: 1,
        activation: Activation::Forever,
        jobs: None,
        phase: 0,
        deadline: Some(deadline),
        budget: None,
        cpu: 0,
        by_deadline: false,
        phases: vec![Phase { jobs: 1, period: None, code: vec![Compute(Time::Fixed(wcet))] }],
    };
    let kind = node.attribute("task_type").unwrap_or("Periodic");
    match kind {
        "Periodic" => {
            task.activation = Activation::Period(needed(reader, node, "period")?);
            let at = span(node, "activationDate");
            let first = node.attribute("activationDate").unwrap_or("0");
            task.phase = us(reader, first, &at)?;
        }
        "Sporadic" => sporadic(reader, node, &mut task)?,
        "APeriodic" => {}
        _ => {
            let help = "Periodic, Sporadic and APeriodic there are";
            reader.refuse(&span(node, "task_type"), format!("there is no type `{kind}`"), help);
            return None;
        }
    }
    let next = node.attribute("followed_by").filter(|id| !id.trim().is_empty());
    let next = next.map(|id| (id.trim().to_string(), span(node, "followed_by")));
    let (id, is_next) = (node.attribute("id").unwrap_or(of_file).to_string(), false);
    Some(Found { task, id, next, is_next, wcet, at: begin(node) })
}

/// A task whose releases are listed: a phase for each row of equal distances.
fn sporadic(reader: &mut Reader, node: Node, task: &mut Task) -> Option<()> {
    let at = span(node, "list_activation_dates");
    let list = node.attribute("list_activation_dates").unwrap_or_default();
    let dates = list.split(',').filter(|text| !text.trim().is_empty());
    let dates: Option<Vec<u64>> = dates.map(|text| us(reader, text, &at)).collect();
    let dates = dates?;
    let gaps: Vec<u64> = dates.windows(2).map(|two| two[1].saturating_sub(two[0])).collect();
    let (Some(first), false) = (dates.first(), gaps.contains(&0)) else {
        let help = "write milliseconds in ascending order, with commas between them";
        reader.refuse(&at, "the task has no list of releases", help);
        return None;
    };
    let code = std::mem::take(&mut task.phases).remove(0).code;
    for same in gaps.chunk_by(|one, next| one == next) {
        let (jobs, period) = (same.len() as u64, Some(same[0]));
        task.phases.push(Phase { jobs, period, code: code.clone() });
    }
    task.phases.push(Phase { jobs: 1, period: None, code });
    let own = node.attribute("period").and_then(|text| us(reader, text, &at));
    let least = gaps.iter().copied().min().or(own).filter(|gap| *gap > 0);
    let period = least.unwrap_or(task.deadline.unwrap_or(1));
    (task.activation, task.phase) = (Activation::Period(period), *first);
    task.jobs = Some(dates.len() as u64);
    Some(())
}

/// Has the ends of tasks release those that follow them; what nothing releases is left out.
fn follow(reader: &mut Reader, found: &mut Vec<Found>) {
    for place in 0..found.len() {
        let Some((id, at)) = found[place].next.clone() else { continue };
        let Some(next) = found.iter().position(|other| other.id == id) else {
            reader.refuse(&at, format!("there is no task with the id `{id}`"), "name one");
            continue;
        };
        if found[next].task.activation != Activation::Forever {
            let what = "a task follows another one, and has releases of its own";
            reader.refuse(&at, what, "make it APeriodic");
            continue;
        }
        let name = found[next].task.name.clone();
        let mut object = |end: &str, kind| reader.object(&format!("{end}{name}"), kind, &at);
        let operands = [("m-", Object::Mutex), ("c-", Object::Condition), ("n-", Object::Counter)];
        let [mutex, condition, counter] = operands.map(|(end, kind)| object(end, kind));
        let releases = [Lock(mutex), Inc(counter), Signal(mutex, condition), Unlock(mutex)];
        for phase in &mut found[place].task.phases {
            phase.code.extend(releases.iter().cloned());
        }
        if !std::mem::replace(&mut found[next].is_next, true) {
            let code = &mut found[next].task.phases[0].code;
            let waits = released_by([mutex, condition, counter]);
            *code = waits.into_iter().chain(std::mem::take(code)).collect();
        }
    }
    found.retain(|one| {
        let never = one.task.activation == Activation::Forever && !one.is_next;
        if never {
            let what = format!("nothing releases `{}`: it is left out", one.task.name);
            reader.note(&one.at, what);
        }
        !never
    });
}

/// Waits until the counter says that there is a release, and takes it.
fn released_by([mutex, condition, counter]: [Operand; 3]) -> [Instruction; 4] {
    let waits = WaitCounter(mutex, condition, counter);
    [Lock(mutex), waits, Dec(counter), Unlock(mutex)]
}

/// Gives each task a CPU.
fn assign(reader: &mut Reader, (scheduler, at): &(String, Span), cpus: usize, found: &mut [Found]) {
    if !PARTITIONED.contains(&scheduler.as_str()) {
        let what = format!("under `{scheduler}` jobs go from CPU to CPU");
        reader.refuse(at, what, "name P_RM or P_EDF, or leave one processor");
        return;
    }
    let share = |found: &Found| {
        let period = match found.task.activation {
            Activation::Period(period) => period,
            _ => found.task.deadline.unwrap_or(u64::MAX),
        };
        found.wcet as f64 / period as f64
    };
    let shares: Vec<f64> = found.iter().map(share).collect();
    let seats = partition::decreasing_first_fit(&shares, cpus);
    for (found, cpu) in found.iter_mut().zip(&seats) {
        found.task.cpu = *cpu as u64;
    }
    let seat = |found: &Found| format!("{} {}", found.task.name, found.task.cpu);
    let seats: Vec<String> = found.iter().map(seat).collect();
    let what = format!("CPUs by the first fit of decreasing shares: {}", seats.join(", "));
    reader.note(at, what);
}
