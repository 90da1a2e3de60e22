//! From a task set to the manifest of a system: a domain for each task, and one that ends the run.

use crate::set::{Activation, Instruction, Operand, Task, TaskSet, Time};
use abi::rtsim::{Act, JOB_WORDS, NUMBERS, OBJECT_WORDS, OBJECTS, Step};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Who runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// The task with the most urgent priority.
    FixedPriorities,
    /// On each CPU the task with the earliest deadline.
    EarliestDeadline,
}

/// How a task set is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Who runs.
    pub scheduler: Scheduler,
    /// Nanoseconds of a unit of time, a multiple of 1,000.
    pub unit: u64,
}

/// The priority of the most urgent tasks, on the kernel; those of others are right below.
pub const HIGHEST: u64 = 240;
/// The priority of the class of EDF, above threads' own, and that of the end of the run.
const EDF: u64 = 300;
const END: u64 = 511;
/// When tasks begin on one CPU and on several, which take longer to start, in ns since boot.
const BEGIN: [u64; 2] = [10_000_000, 600_000_000];
/// The most jobs of a task whose instants are recorded.
const MOST_JOBS: u64 = 1 << 20;
/// The name of the domain that ends the run: no task can be called so.
pub const END_NAME: &str = "rtsim-end";

/// When the tasks begin, in nanoseconds since boot.
pub fn begin(set: &TaskSet) -> u64 {
    BEGIN[usize::from(cpus(set) > 1)]
}

/// How many CPUs the task set asks for.
pub fn cpus(set: &TaskSet) -> u64 {
    set.tasks.iter().map(|task| task.cpu).max().unwrap_or(0) + 1
}

/// The priority of a task on the kernel: only the order of priorities counts.
pub fn priority(set: &TaskSet, task: &Task) -> u64 {
    let more_urgent: BTreeSet<u64> = set.tasks.iter().map(|task| task.priority).collect();
    HIGHEST - more_urgent.range(..task.priority).count() as u64
}

/// The manifest of a system that carries the task set out.
///
/// # Errors
///
/// Why it cannot be scheduled so, and what to change.
pub fn manifest(set: &TaskSet, run: Run) -> Result<String, String> {
    let edf = run.scheduler == Scheduler::EarliestDeadline;
    let has_tree = edf || set.tasks.iter().any(|task| task.budget.is_some());
    let kernel = if has_tree { "tree" } else { "fastpath" };
    let bytes = OBJECTS * OBJECT_WORDS * 8;
    let mut text = String::new();
    let mut add = |lines: String| text += &lines;
    add(format!("[system]\nname = \"rtsim\"\nkernel = \"{kernel}\"\ncpus = {}\n", cpus(set)));
    add(format!("\n[[memory]]\nname = \"shared-objects\"\nsize = \"{}K\"\n", bytes >> 10));
    for task in &set.tasks {
        let bytes = (8 * (1 + JOB_WORDS as u64 * most_jobs(set, task))).next_multiple_of(4096);
        let (name, size) = (&task.name, bytes >> 10);
        add(format!("\n[[memory]]\nname = \"{name}\"\nsize = \"{size}K\"\nhost = true\n"));
    }
    for cpu in (0..cpus(set)).filter(|_| edf) {
        let name = format!("name = \"edf-{cpu}\"\ncpu = {cpu}");
        add(format!("\n[[reservation]]\n{name}\npolicy = \"edf\"\npriority = {EDF}\n"));
    }
    for task in &set.tasks {
        add(domain(set, task, run)?);
    }
    let end = begin(set) + set.duration * run.unit;
    add(format!("\n[[domain]]\nname = \"{END_NAME}\"\nprogram = \"rtsim-end\"\npriority = 255\n"));
    if has_tree {
        add(format!("reservation = {{ priority = {END} }}\n"));
    }
    add(format!("args = {{ at = {end} }}\ncaps = [{{ name = \"system\", system = true }}]\n"));
    Ok(text)
}

/// For how many jobs of a task there is room.
fn most_jobs(set: &TaskSet, task: &Task) -> u64 {
    match task.activation {
        Activation::Period(period) => (set.duration / period + 1).min(MOST_JOBS),
        // A job takes a unit of time or more as a rule.
        Activation::Forever => set.duration.min(MOST_JOBS / 16),
        Activation::Once => 1,
    }
}

fn domain(set: &TaskSet, task: &Task, run: Run) -> Result<String, String> {
    let Task { name, cpu, .. } = task;
    let place = set.tasks.iter().position(|other| other.name == *name).unwrap_or(0) as u64;
    let mut text = format!("\n[[domain]]\nname = \"{name}\"\nprogram = \"rtsim-task\"\n");
    let priority = priority(set, task);
    // Writing to a text does not fail.
    let _ = writeln!(text, "priority = {priority}\ncpu = {cpu}");
    if let Some(reservation) = reservation(task, priority, run)? {
        let _ = writeln!(text, "reservation = {{ {reservation} }}");
    }
    let (period, forever) = match task.activation {
        Activation::Period(period) => (period * run.unit, 0),
        Activation::Forever => (0, 1),
        Activation::Once => (0, 0),
    };
    let code: Vec<String> = task.code.iter().map(|one| step(one).to_string()).collect();
    let release = begin(set) + task.phase * run.unit;
    let seed = set.seed.wrapping_mul(1009).wrapping_add(place) % (1 << 62);
    let _ = writeln!(
        text,
        "args = {{ code = \"{}\", release = {release}, period = {period}, forever = {forever}, \
         unit = {}, blocking = {}, seed = {seed} }}",
        code.join(";"),
        run.unit,
        set.blocking,
    );
    let maps = ["shared-objects", name].map(|m| format!("{{ memory = \"{m}\", rights = \"rw\" }}"));
    let _ = writeln!(text, "maps = [{}]", maps.join(", "));
    text +=
        "caps = [{ name = \"console\", console = true }, { name = \"system\", system = true }]\n";
    Ok(text)
}

/// The reservation that a task runs on, if it is not its priority.
fn reservation(task: &Task, priority: u64, run: Run) -> Result<Option<String>, String> {
    let time = |units: u64| format!("\"{}us\"", units * run.unit / 1_000);
    let budget = task
        .budget
        .map(|(budget, period)| format!("budget = {}, period = {}", time(budget), time(period)));
    if run.scheduler == Scheduler::FixedPriorities {
        return Ok(budget.map(|budget| format!("priority = {priority}, {budget}")));
    }
    let own = match task.activation {
        Activation::Period(period) => Some(period),
        _ => None,
    };
    let class = format!("in = \"edf-{}\"", task.cpu);
    match (budget, task.deadline.or(own)) {
        (Some(budget), _) => Ok(Some(format!("{class}, {budget}"))),
        (None, Some(deadline)) => {
            let period = own.unwrap_or(deadline);
            let times = format!("deadline = {}, period = {}", time(deadline), time(period));
            Ok(Some(format!("{class}, {times}")))
        }
        (None, None) => Err(format!(
            "task {} has no deadline, which EDF needs: give it `deadline 100` or `budget 10 100`",
            task.name
        )),
    }
}

/// What the program that carries tasks out is told of an instruction.
pub fn step(instruction: &Instruction) -> Step {
    let of = |operand: &Operand| 2 * operand.object as u64 + u64::from(operand.through);
    let with = |act, operands: &[&Operand]| {
        let mut numbers = [0; NUMBERS];
        numbers.iter_mut().zip(operands).for_each(|(number, operand)| *number = of(operand));
        Step { act, numbers }
    };
    let time = |time: &Time, [fixed, uniform, exponential]: [Act; 3]| match *time {
        Time::Fixed(length) => Step { act: fixed, numbers: [length, 0, 0, 0] },
        Time::Uniform(least, most) => Step { act: uniform, numbers: [least, most, 0, 0] },
        Time::Exponential(mean) => Step { act: exponential, numbers: [mean, 0, 0, 0] },
    };
    match instruction {
        Instruction::Compute(length) => time(length, [Act::Fixed, Act::Uniform, Act::Exponential]),
        Instruction::Delay(length) => {
            time(length, [Act::Delay, Act::DelayUniform, Act::DelayExponential])
        }
        Instruction::Lock(mutex) => with(Act::Lock, &[mutex]),
        Instruction::Unlock(mutex) => with(Act::Unlock, &[mutex]),
        Instruction::Wait(mutex, condition) => with(Act::Wait, &[mutex, condition]),
        Instruction::Signal(mutex, condition) => with(Act::Signal, &[mutex, condition]),
        Instruction::Inc(counter) => with(Act::Inc, &[counter]),
        Instruction::Dec(counter) => with(Act::Dec, &[counter]),
        Instruction::Set(counter, value) => {
            Step { act: Act::Set, numbers: [of(counter), *value, 0, 0] }
        }
        Instruction::WaitCounter(mutex, condition, counter) => {
            with(Act::WaitCounter, &[mutex, condition, counter])
        }
        Instruction::WaitQueue(mutex, condition, queue) => {
            with(Act::WaitQueue, &[mutex, condition, queue])
        }
        Instruction::Push(queue) => with(Act::Push, &[queue]),
        Instruction::Pop(queue) => with(Act::Pop, &[queue]),
        Instruction::PushReferences(queue, [one, two, three]) => {
            with(Act::PushReferences, &[queue, one, two, three])
        }
        Instruction::PopReferences(queue, [one, two, three]) => {
            with(Act::PopReferences, &[queue, one, two, three])
        }
    }
}
