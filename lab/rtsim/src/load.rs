//! What the analysis is told of a task: how long its jobs execute, and what they share.

use crate::set::{Activation, Instruction, Object, Phase, Task, TaskSet, Time};
use crate::system::{Inheritance, Keys, Run};
use std::fmt::Write;

/// What a job executes beside its steps, and what locking and unlocking a mutex takes, in
/// microseconds: calls of the program.
const OF_JOB: u64 = 20;
const OF_SECTION: u64 = 10;
/// The most that a manifest takes as a period, in microseconds.
const LONGEST: u64 = 86_400_000_000;

/// The jobs of a task. Times are in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    execution: u64,
    period: u64,
    deadline: u64,
    /// The mutexes that are held together, by their names, and for how long at most.
    sections: Vec<(Vec<String>, u64)>,
}

impl Load {
    /// The line of the manifest that says how long a job executes.
    pub(crate) fn execution(&self) -> String {
        format!("execution = \"{}us\"", self.execution)
    }

    fn times(&self) -> String {
        let Load { period, deadline, .. } = self;
        format!("{}\nperiod = \"{period}us\"\ndeadline = \"{deadline}us\"\n", self.execution())
    }

    fn sections(&self) -> String {
        let section = |(mutexes, length): &(Vec<String>, u64)| {
            let names: Vec<String> = mutexes.iter().map(|name| format!("\"{name}\"")).collect();
            let what = match &names[..] {
                [name] => format!("mutex = {name}"),
                _ => format!("mutexes = [{}]", names.join(", ")),
            };
            format!("{{ {what}, length = \"{length}us\" }}")
        };
        let all: Vec<String> = self.sections.iter().map(section).collect();
        if all.is_empty() { String::new() } else { format!("sections = [{}]\n", all.join(", ")) }
    }
}

/// The load of a task; none where it cannot be told from the code: lengths at random, sleeping and
/// waiting for others within a job, jobs behind each other without an end, sections of jobs that
/// are not alike, and a budget with a period of its own.
pub(crate) fn of(set: &TaskSet, task: &Task, run: Run) -> Option<Load> {
    let us = |units: u64| units * run.unit / 1_000;
    let shares = |phase: &Phase| phase.code.iter().any(|it| matches!(it, Instruction::Lock(_)));
    if task.phases.len() > 1 && task.phases.iter().any(shares) {
        return None;
    }
    let jobs = task.phases.iter().map(|phase| of_job(set, phase, &us));
    let jobs = jobs.collect::<Option<Vec<_>>>()?;
    let (execution, sections) = jobs.into_iter().max_by_key(|(execution, _)| *execution)?;
    let period = match task.activation {
        Activation::Period(period) => {
            let between = task.phases.iter().filter_map(|phase| phase.period);
            us(between.fold(period, u64::min))
        }
        Activation::Once => us(task.deadline.unwrap_or(set.duration)),
        Activation::Forever => return None,
    };
    // A leaf has one period, for its budget and for its jobs.
    if task.budget.is_some_and(|(_, other)| us(other) != period) {
        return None;
    }
    let period = period.min(LONGEST);
    let deadline = task.deadline.map_or(period, us);
    (execution <= period.min(deadline)).then_some(Load { execution, period, deadline, sections })
}

/// How long a job executes, and its sections.
type Job = (u64, Vec<(Vec<String>, u64)>);

fn of_job(set: &TaskSet, phase: &Phase, us: &dyn Fn(u64) -> u64) -> Option<Job> {
    let (mut execution, mut sections) = (OF_JOB, Vec::new());
    // Those that are held, and those that are part of the section.
    let (mut held, mut names, mut length) = (0, Vec::new(), 0);
    for instruction in &phase.code {
        match instruction {
            Instruction::Compute(Time::Fixed(time)) => {
                execution += us(*time);
                length += us(*time);
            }
            Instruction::Lock(mutex) if !mutex.through => {
                if held == 0 {
                    (names, length) = (Vec::new(), 0);
                }
                held += 1;
                execution += OF_SECTION;
                length += OF_SECTION;
                let name = &set.objects[mutex.object].0;
                // It is locked twice: the job fails there.
                if names.contains(name) {
                    return None;
                }
                names.push(name.clone());
            }
            Instruction::Unlock(mutex) if !mutex.through => {
                held -= u64::from(held > 0);
                if held == 0 && !names.is_empty() {
                    sections.push((std::mem::take(&mut names), length));
                }
            }
            Instruction::Inc(_) | Instruction::Dec(_) | Instruction::Set(..) => {}
            _ => return None,
        }
    }
    // What is locked at the end of a job is unlocked then.
    if held > 0 {
        sections.push((names, length));
    }
    Some((execution, sections))
}

/// The mutexes of the set.
pub(crate) fn mutexes(set: &TaskSet, run: Run) -> String {
    let protocol = match run.inheritance {
        Inheritance::None => "none",
        _ => "inheritance",
    };
    let mutexes = set.objects.iter().filter(|(_, kind)| *kind == Object::Mutex);
    let mutex = |(name, _): &(String, Object)| {
        format!("\n[[mutex]]\nname = \"{name}\"\nprotocol = \"{protocol}\"\n")
    };
    mutexes.map(mutex).collect()
}

/// Keys of the domain of a task.
pub(crate) fn of_domain(set: &TaskSet, task: &Task, run: Run) -> String {
    of(set, task, run).map_or_else(String::new, |load| load.times() + &load.sections())
}

/// The tasks of a domain that has them all as threads: all of them, or nothing is said. The
/// analysis knows threads of one CPU.
pub(crate) fn of_threads(set: &TaskSet, leaves: &[Option<Keys>], run: Run) -> String {
    let mut text = String::new();
    for (task, leaf) in set.tasks.iter().zip(leaves) {
        let load = of(set, task, run).filter(|_| task.cpu == 0);
        let Some(load) = load else { return String::new() };
        let (name, priority) = (&task.name, crate::priority(set, task));
        let _ = write!(
            text,
            "\n[[domain.task]]\nname = \"{name}\"\npriority = {priority}\n{}{}",
            load.times(),
            load.sections()
        );
        if leaf.is_some() {
            let _ = writeln!(text, "reservation = \"{name}\"");
        }
    }
    text
}
