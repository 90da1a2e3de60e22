//! From a task set to the manifest of a system: a domain for each task, or one for all of them, and
//! one that ends the run.

use crate::set::{Activation, Instruction, Operand, Task, TaskSet, Time};
use abi::rtsim::{self, Act, Fields, JOB_WORDS, NUMBERS, OBJECT_WORDS, OBJECTS, Step};
use std::collections::BTreeSet;

/// Who runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// The task with the most urgent priority.
    FixedPriorities,
    /// On each CPU the task with the earliest deadline.
    EarliestDeadline,
}

/// What lends priorities, in the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Inheritance {
    /// Nothing.
    None,
    /// Mutexes, to their owners (S2G-01).
    Mutexes,
    /// Conditions too, to their helpers (S2G-02).
    Conditions,
}

/// How a task set is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Who runs.
    pub scheduler: Scheduler,
    /// What lends priorities.
    pub inheritance: Inheritance,
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
/// Slots that a domain has beside those of its threads.
const SLOTS: usize = 8;
/// The name of the domain that all tasks are threads of, if priorities are lent.
const ALL_NAME: &str = "tasks";

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
    can_inherit(set, run)?;
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
    match run.inheritance {
        Inheritance::None => {
            for (place, task) in set.tasks.iter().enumerate() {
                add(domain(set, (place, task), run)?);
            }
        }
        _ => add(one_domain(set, run)),
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

/// Whether priorities can be lent so.
fn can_inherit(set: &TaskSet, run: Run) -> Result<(), String> {
    let budget = set.tasks.iter().find(|task| task.budget.is_some());
    let why = match (run.inheritance, run.scheduler, budget) {
        (Inheritance::None, ..) => return Ok(()),
        (_, Scheduler::EarliestDeadline, _) => {
            "by EDF nothing is inherited: leave out --pi, or --scheduler edf".to_string()
        }
        (.., Some(task)) => format!(
            "task {} has a budget, and with budgets nothing is inherited: leave out --pi, or \
             the budget",
            task.name
        ),
        _ if cpus(set) > 1 => {
            "the tasks have several CPUs, and --pi is for one: leave out --pi, or `cpu`".to_string()
        }
        (Inheritance::Conditions, ..) if set.helpers.is_empty() => {
            "no condition has helpers, which --pi-cv needs: write `helpers CV Task;`".to_string()
        }
        _ => return Ok(()),
    };
    Err(why)
}

/// What the program is told of a task.
fn fields(set: &TaskSet, (place, task): (usize, &Task), run: Run) -> String {
    let code: Vec<String> = task.code.iter().map(|one| step(one).to_string()).collect();
    let helped = set.helpers.iter().filter(|(_, helper)| *helper == place);
    let helps = match run.inheritance {
        Inheritance::Conditions => helped.fold(0, |all, (condition, _)| all | 1 << condition),
        _ => 0,
    };
    let fields = Fields {
        name: &task.name,
        priority: priority(set, task),
        release: begin(set) + task.phase * run.unit,
        activation: match task.activation {
            Activation::Period(period) => rtsim::Activation::Period(period * run.unit),
            Activation::Forever => rtsim::Activation::Forever,
            Activation::Once => rtsim::Activation::Once,
        },
        seed: set.seed.wrapping_mul(1009).wrapping_add(place as u64) % (1 << 62),
        helps,
        code: &code.join(";"),
    };
    fields.to_string()
}

/// What a program is told and may use, which carries these tasks out.
fn contents(set: &TaskSet, tasks: &[(usize, &Task)], run: Run) -> String {
    let all: Vec<String> = tasks.iter().map(|task| fields(set, *task, run)).collect();
    let inherits = u8::from(run.inheritance != Inheritance::None);
    let names = tasks.iter().map(|(_, task)| task.name.as_str());
    let map = |name| format!("{{ memory = \"{name}\", rights = \"rw\" }}");
    let maps: Vec<String> = ["shared-objects"].into_iter().chain(names).map(map).collect();
    format!(
        "args = {{ tasks = \"{}\", unit = {}, blocking = {}, inherits = {inherits} }}\n\
         maps = [{}]\n\
         caps = [{{ name = \"console\", console = true }}, \
         {{ name = \"system\", system = true }}]\n",
        all.join("|"),
        run.unit,
        set.blocking,
        maps.join(", "),
    )
}

/// The domain of a task.
fn domain(set: &TaskSet, (place, task): (usize, &Task), run: Run) -> Result<String, String> {
    let Task { name, cpu, .. } = task;
    let mut text = format!("\n[[domain]]\nname = \"{name}\"\nprogram = \"rtsim-task\"\n");
    let priority = priority(set, task);
    text += &format!("priority = {priority}\ncpu = {cpu}\n");
    if let Some(reservation) = reservation(task, priority, run)? {
        text += &format!("reservation = {{ {reservation} }}\n");
    }
    Ok(text + &contents(set, &[(place, task)], run))
}

/// The domain that all tasks are threads of. The first thread starts them.
fn one_domain(set: &TaskSet, run: Run) -> String {
    let (count, highest) = (set.tasks.len(), HIGHEST);
    let head = format!("\n[[domain]]\nname = \"{ALL_NAME}\"\nprogram = \"rtsim-task\"\n");
    let (threads, slots) = (count + 1, count + SLOTS);
    let threads =
        format!("threads = {threads}\nquota = {{ threads = {count} }}\nslots = {slots}\n");
    let all: Vec<(usize, &Task)> = set.tasks.iter().enumerate().collect();
    let priorities = format!("priority = {highest}\nmax_priority = {highest}\n");
    head + &priorities + &threads + &contents(set, &all, run)
}

/// The thread that carries a task out: the name of its domain, and the how manieth it is there,
/// from 1.
pub fn thread(set: &TaskSet, task: usize, run: Run) -> (&str, u32) {
    match run.inheritance {
        Inheritance::None => (&set.tasks[task].name, 1),
        _ => (ALL_NAME, task as u32 + 2),
    }
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
