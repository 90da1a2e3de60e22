//! Tasks of RTSim's language (S2G-08), with objects in memory that all of them share: each a
//! domain, or, since inheritance works within one domain, all of them threads of one.

mod job;
mod locks;
mod objects;

use crate::random::Random;
use abi::rtsim::{Activation, Fields, JOB_WORDS, OBJECTS, Phase};
use core::iter;
use job::Job;
use objects::{Objects, Wrong};
use rt::prelude::*;
use rt::thread::{self, Spec};
use rt::{Words, reservation, system, time};
use sync::ThreadId;

/// Tasks: the first thread carries one out, or starts a thread for each. Arguments `tasks`
/// ([`abi::rtsim`]); `unit`, nanoseconds of a unit of time; `blocking`, units that a wait takes
/// which blocks; `inherits`, 1 if mutexes and conditions lend priorities. Memory `shared-objects`,
/// where tasks name objects, and one of each task's name for the records of jobs. Capabilities
/// `console`, and `system` to end a run that went wrong; of the names of tasks, to the reservations
/// that their threads run on.
pub fn task(env: &Env) {
    if env.threads() == 1 {
        return run(env, 0);
    }
    let mut slots = env.slots();
    for n in 1..env.threads() {
        let (slot, task) = (slots.fresh(), fields(env, n - 1));
        let spec = Spec::further(env, n, task.priority);
        thread::start(env, n, slot, spec, (run, n as u64 - 1)).expect("a thread for each task");
        // A name too long for the kernel is left out: traces show a number instead.
        let _ = thread::name(slot, task.name);
        if task.cpu > 0 {
            thread::migrate(slot, task.cpu).expect("the machine has the CPU");
        }
        if let Some(leaf) = env.find_cap(task.name) {
            reservation::run_on(slot, leaf).expect("the leaf is of the task's CPU");
        }
    }
}

fn fields(env: &Env, place: usize) -> Fields<'static> {
    let tasks = env.arg("tasks").unwrap_or_default();
    Fields::parse(tasks, place).expect("the argument `tasks` tells all tasks")
}

/// Carries out the task with this place.
fn run(env: &Env, place: u64) {
    let Fields { name, mut release, activation, jobs, seed, helps, code, .. } =
        fields(env, place as usize);
    let objects = Objects::new(env.find_mem("shared-objects"), env.number("inherits", 0) != 0);
    let records = env.mem(name);
    let (unit, blocking) = (env.number("unit", 100_000), env.number("blocking", 0));
    let me = ThreadId::current();
    for condition in (0..OBJECTS).filter(|condition| helps >> condition & 1 == 1) {
        objects.condition(condition).help(me).expect("each task helps a condition once");
    }
    let job = Job { me, unit, blocking };
    let mut random = Random::new(seed);
    let phases = code.split('/').map(|text| Phase::parse(text).expect("the code tells phases"));
    let each = phases.cycle().flat_map(|phase| iter::repeat_n(phase, phase.jobs as usize));
    let most = if jobs == 0 { usize::MAX } else { jobs as usize };
    for (number, phase) in each.take(most).enumerate() {
        time::sleep_until(Instant::from_nanos(release));
        let began = Instant::now().as_nanos();
        if let Err(Wrong { step, what }) = job.run(phase.steps, &objects, &mut random) {
            let console = env.console();
            println!(console, "task {name}, job {}, step {step}: {what}", number + 1);
            let _ = system::shutdown(env.cap("system"), 1);
        }
        let complete = Instant::now().as_nanos();
        record(records, number, [release, began, complete]);
        match (activation, phase.period) {
            (Activation::Forever, _) => release = complete,
            (Activation::Period(period), 0) | (_, period) => release += period,
        }
    }
    system::sleep_until(u64::MAX);
}

/// Writes the record of a job, if there is room, and counts it.
fn record(records: Words, number: usize, job: [u64; JOB_WORDS]) {
    let first = 1 + JOB_WORDS * number;
    if first + JOB_WORDS <= records.len() {
        (first..).zip(job).for_each(|(word, instant)| records.set(word, instant));
    }
    records.set(0, number as u64 + 1);
}

/// Ends the run at an instant, and says how long jobs took that were released: argument `at`
/// (nanoseconds since boot), `tasks`, the names of the tasks with blanks between them, and a memory
/// of each name; capabilities `console` and `system`.
pub fn end(env: &Env) {
    system::sleep_until(env.number("at", 0));
    let console = env.console();
    for name in env.arg("tasks").unwrap_or_default().split(' ').filter(|name| !name.is_empty()) {
        let records = env.mem(name);
        let kept = (records.get(0) as usize).min((records.len() - 1) / JOB_WORDS);
        let job = |number: usize| [0, 2].map(|word| records.get(1 + JOB_WORDS * number + word));
        let longest = (0..kept).map(job).map(|[release, end]| end.saturating_sub(release)).max();
        let (jobs, longest) = (records.get(0), longest.unwrap_or(0).div_ceil(1_000));
        println!(console, "{name}: {jobs} jobs, longest response {longest} us");
    }
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}
