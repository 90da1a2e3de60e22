//! From a task set to the manifest of a system: a domain for each task, or one for all of them, and
//! one that ends the run.

use crate::load;
use crate::set::{Activation, Instruction, Object, Operand, Phase, Task, TaskSet, Time};
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
/// The memory that all objects lie in.
const OBJECTS_NAME: &str = "shared-objects";
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
    let leaves = set.tasks.iter().map(|task| leaf(set, task, run));
    let leaves = leaves.collect::<Result<Vec<_>, String>>()?;
    let has_tree = leaves.iter().any(Option::is_some);
    let kernel = if has_tree { "tree" } else { "fastpath" };
    let bytes = OBJECTS * OBJECT_WORDS * 8;
    let (name, cpus) = (&set.name, cpus(set));
    let mut text = format!("[system]\nname = \"{name}\"\nkernel = \"{kernel}\"\ncpus = {cpus}\n");
    text += &load::mutexes(set, run);
    if !set.objects.is_empty() {
        let size = bytes >> 10;
        text += &format!("\n[[memory]]\nname = \"{OBJECTS_NAME}\"\nsize = \"{size}K\"\n");
    }
    for task in &set.tasks {
        let bytes = (8 * (1 + JOB_WORDS as u64 * most_jobs(set, task))).next_multiple_of(4096);
        let (name, size) = (&task.name, bytes >> 10);
        text += &format!("\n[[memory]]\nname = \"{name}\"\nsize = \"{size}K\"\nhost = true\n");
    }
    let classes: BTreeSet<u64> =
        set.tasks.iter().filter(|task| is_in_edf(task, run)).map(|task| task.cpu).collect();
    for cpu in classes {
        let name = format!("name = \"edf-{cpu}\"\ncpu = {cpu}");
        text += &format!("\n[[reservation]]\n{name}\npolicy = \"edf\"\npriority = {EDF}\n");
    }
    match run.inheritance {
        Inheritance::None => {
            let tasks = set.tasks.iter().enumerate().zip(&leaves);
            tasks.for_each(|(task, leaf)| text += &domain(set, task, leaf.as_ref(), run));
        }
        _ => text += &one_domain(set, &leaves, run),
    }
    Ok(text + &end(set, has_tree, run))
}

/// The domain that ends the run.
fn end(set: &TaskSet, has_tree: bool, run: Run) -> String {
    let at = begin(set) + set.duration * run.unit;
    let released = set.tasks.iter().filter(|task| task.activation != Activation::Forever);
    let names: Vec<&str> = released.map(|task| task.name.as_str()).collect();
    let map = |name: &&str| format!("{{ memory = \"{name}\", rights = \"r\" }}");
    let maps: Vec<String> = names.iter().map(map).collect();
    // It is the most urgent, and sleeps until the end; what it does then delays no task.
    let jobs = "execution = \"100us\", period = \"86400s\"";
    let jobs = match has_tree {
        true => format!("reservation = {{ priority = {END}, deadline = \"1s\", {jobs} }}"),
        false => jobs.replace(", ", "\n"),
    };
    format!(
        "\n[[domain]]\nname = \"{END_NAME}\"\nprogram = \"rtsim-end\"\npriority = 255\n{jobs}\n\
         args = {{ at = {at}, tasks = \"{}\" }}\nmaps = [{}]\n\
         caps = [{{ name = \"console\", console = true }}, \
         {{ name = \"system\", system = true }}]\n",
        names.join(" "),
        maps.join(", ")
    )
}

/// For how many jobs of a task there is room.
fn most_jobs(set: &TaskSet, task: &Task) -> u64 {
    let most = match task.activation {
        Activation::Period(period) => {
            let shortest =
                task.phases.iter().filter_map(|phase| phase.period).fold(period, u64::min);
            (set.duration / shortest + 1).min(MOST_JOBS)
        }
        // A job takes a unit of time or more as a rule.
        Activation::Forever => set.duration.min(MOST_JOBS / 16),
        Activation::Once => 1,
    };
    most.min(task.jobs.unwrap_or(u64::MAX))
}

/// Whether a task uses or helps an object.
fn names_objects(set: &TaskSet, (place, task): (usize, &Task)) -> bool {
    let mut code = task.phases.iter().flat_map(|phase| &phase.code);
    code.any(|instruction| !instruction.operands().is_empty())
        || set.helpers.iter().any(|(_, helper)| *helper == place)
}

/// Whether priorities can be lent so.
fn can_inherit(set: &TaskSet, run: Run) -> Result<(), String> {
    if run.inheritance == Inheritance::None {
        return Ok(());
    }
    if run.inheritance == Inheritance::Conditions && set.helpers.is_empty() {
        let why = "no condition has helpers, which --pi-cv needs: write `helpers CV Task;`";
        return Err(why.to_string());
    }
    // A waiter of another CPU lends its priority, of which a reservation has no use.
    let all: Vec<(&Task, BTreeSet<usize>)> =
        set.tasks.iter().enumerate().map(|task| (task.1, lent_through(set, task))).collect();
    let on_leaf = |task: &Task| task.budget.is_some() || is_in_edf(task, run);
    for (task, own) in all.iter().filter(|(task, _)| on_leaf(task)) {
        for (other, theirs) in all.iter().filter(|(other, _)| other.cpu != task.cpu) {
            if let Some(object) = own.intersection(theirs).next() {
                return Err(format!(
                    "tasks {} and {} of two CPUs share {}, and across CPUs the kernel lends \
                     nothing to a task with a budget or a deadline: give both one CPU, or \
                     leave out --pi",
                    task.name, other.name, set.objects[*object].0
                ));
            }
        }
    }
    Ok(())
}

/// The mutexes and conditions through which a task may lend or be lent to.
fn lent_through(set: &TaskSet, (place, task): (usize, &Task)) -> BTreeSet<usize> {
    let lends = |(_, kind): &(String, Object)| matches!(kind, Object::Mutex | Object::Condition);
    let mut found = BTreeSet::new();
    for instruction in task.phases.iter().flat_map(|phase| &phase.code) {
        for Operand { object, through } in instruction.operands() {
            if through {
                // It may refer to any.
                found.extend((0..set.objects.len()).filter(|other| lends(&set.objects[*other])));
            } else if lends(&set.objects[object]) {
                found.insert(object);
            }
        }
    }
    let helped = set.helpers.iter().filter(|(_, helper)| *helper == place);
    found.extend(helped.map(|(condition, _)| *condition));
    found
}

/// What the program is told of a task.
fn fields(set: &TaskSet, (place, task): (usize, &Task), run: Run) -> String {
    let phase = |phase: &Phase| {
        let steps: Vec<String> = phase.code.iter().map(|one| step(one).to_string()).collect();
        let period = phase.period.unwrap_or(0) * run.unit;
        rtsim::Phase { jobs: phase.jobs, period, steps: &steps.join(";") }.to_string()
    };
    let code: Vec<String> = task.phases.iter().map(phase).collect();
    let helped = set.helpers.iter().filter(|(_, helper)| *helper == place);
    let helps = match run.inheritance {
        Inheritance::Conditions => helped.fold(0, |all, (condition, _)| all | 1 << condition),
        _ => 0,
    };
    let fields = Fields {
        name: &task.name,
        priority: priority(set, task),
        cpu: task.cpu,
        release: begin(set) + task.phase * run.unit,
        activation: match task.activation {
            Activation::Period(period) => rtsim::Activation::Period(period * run.unit),
            Activation::Forever | Activation::Once => rtsim::Activation::Forever,
        },
        jobs: task.jobs.unwrap_or(0),
        seed: set.seed.wrapping_mul(1009).wrapping_add(place as u64) % (1 << 62),
        helps,
        code: &code.join("/"),
    };
    fields.to_string()
}

/// What a program is told and may use, which carries these tasks out.
fn contents(set: &TaskSet, tasks: &[(usize, &Task)], leaves: &str, run: Run) -> String {
    let all: Vec<String> = tasks.iter().map(|task| fields(set, *task, run)).collect();
    let inherits = u8::from(run.inheritance != Inheritance::None);
    let names = tasks.iter().map(|(_, task)| task.name.as_str());
    let map = |name| format!("{{ memory = \"{name}\", rights = \"rw\" }}");
    // What a task cannot use it cannot wait in.
    let objects = tasks.iter().any(|task| names_objects(set, *task)).then_some(OBJECTS_NAME);
    let maps: Vec<String> = objects.into_iter().chain(names).map(map).collect();
    format!(
        "args = {{ tasks = \"{}\", unit = {}, blocking = {}, inherits = {inherits} }}\n\
         maps = [{}]\n\
         caps = [{{ name = \"console\", console = true }}, \
         {{ name = \"system\", system = true }}{leaves}]\n",
        all.join("|"),
        run.unit,
        set.blocking,
        maps.join(", "),
    )
}

/// The domain of a task, which runs on a leaf with these keys or by its priority.
fn domain(set: &TaskSet, (place, task): (usize, &Task), leaf: Option<&Keys>, run: Run) -> String {
    let Task { name, cpu, .. } = task;
    let mut text = format!("\n[[domain]]\nname = \"{name}\"\nprogram = \"rtsim-task\"\n");
    let priority = priority(set, task);
    text += &format!("priority = {priority}\ncpu = {cpu}\n");
    match leaf {
        Some(keys) => text += &format!("reservation = {{ {} }}\n", keys.join(", ")),
        None => text += &load::of_domain(set, task, run),
    }
    text + &contents(set, &[(place, task)], "", run)
}

/// The domain that all tasks are threads of. The first thread starts them.
fn one_domain(set: &TaskSet, leaves: &[Option<Keys>], run: Run) -> String {
    let (count, highest) = (set.tasks.len(), HIGHEST);
    let (mut text, mut caps) = (String::new(), String::new());
    for (task, keys) in set.tasks.iter().zip(leaves) {
        let Some(keys) = keys else { continue };
        let name = &task.name;
        text += &format!("\n[[reservation]]\nname = \"{name}\"\n");
        // A leaf in a class is of its CPU.
        if !is_in_edf(task, run) {
            text += &format!("cpu = {}\n", task.cpu);
        }
        text += &format!("{}\n", keys.join("\n"));
        caps += &format!(", {{ name = \"{name}\", reservation = \"{name}\" }}");
    }
    text += &format!("\n[[domain]]\nname = \"{ALL_NAME}\"\nprogram = \"rtsim-task\"\n");
    text += &format!("priority = {highest}\nmax_priority = {highest}\n");
    let (threads, slots) = (count + 1, 2 * count + SLOTS);
    text += &format!("threads = {threads}\nquota = {{ threads = {count} }}\nslots = {slots}\n");
    let all: Vec<(usize, &Task)> = set.tasks.iter().enumerate().collect();
    text + &contents(set, &all, &caps, run) + &load::of_threads(set, leaves, run)
}

/// The thread that carries a task out: the name of its domain, and the how manieth it is there,
/// from 1.
pub fn thread(set: &TaskSet, task: usize, run: Run) -> (&str, u32) {
    match run.inheritance {
        Inheritance::None => (&set.tasks[task].name, 1),
        _ => (ALL_NAME, task as u32 + 2),
    }
}

/// Lines of a leaf in a manifest, each a key with its value.
pub(crate) type Keys = Vec<String>;

/// Whether a task goes by its deadlines.
fn is_in_edf(task: &Task, run: Run) -> bool {
    run.scheduler == Scheduler::EarliestDeadline || task.by_deadline
}

/// The leaf that a task runs on, if it is not by its priority.
fn leaf(set: &TaskSet, task: &Task, run: Run) -> Result<Option<Keys>, String> {
    let time = |units: u64| format!("\"{}us\"", units * run.unit / 1_000);
    let mut keys = Vec::new();
    if let Some((budget, period)) = task.budget {
        keys.extend([format!("budget = {}", time(budget)), format!("period = {}", time(period))]);
    }
    if !is_in_edf(task, run) {
        let priority = format!("priority = {}", priority(set, task));
        keys.insert(0, priority);
        return Ok(task.budget.map(|_| keys));
    }
    keys.insert(0, format!("in = \"edf-{}\"", task.cpu));
    let own = match task.activation {
        Activation::Period(period) => Some(period),
        _ => None,
    };
    match (task.budget, task.deadline.or(own)) {
        (Some(_), _) => keys.extend(task.deadline.map(|it| format!("deadline = {}", time(it)))),
        (None, Some(deadline)) => {
            let period = own.unwrap_or(deadline);
            keys.push(format!("deadline = {}", time(deadline)));
            keys.push(format!("period = {}", time(period)));
        }
        (None, None) => {
            return Err(format!(
                "task {} has no deadline, which EDF needs: give it `deadline 100` or \
                 `budget 10 100`",
                task.name
            ));
        }
    }
    let jobs_have_deadlines = task.budget.is_none() || task.deadline.is_some();
    let load = load::of(set, task, run).filter(|_| jobs_have_deadlines);
    keys.extend(load.map(|load| load.execution()));
    Ok(Some(keys))
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
