//! Three tasks of a robot, threads of one domain: `control` and `logger` share a bus, whose mutex
//! has priority inheritance, and `planner` and `logger` a picture, whose mutex has a ceiling. Each
//! watches its response times; in the end they are told. The manifest says what each does.

use rt::prelude::*;
use rt::thread::{self, Spec};
use rt::{Error, Words, system};
use sync::{CeilingMutex, Ceilings, InheritMutex, Scope, ThreadId};

/// What the memory `shared` holds: the two mutexes, and the longest response of each task.
const BUS: (usize, usize) = (0, InheritMutex::WORDS);
const PICTURE: (usize, usize) = (8, 1);
const LONGEST: usize = 16;

/// What a task does in each job, in units of time: alone, on the bus, on the picture.
struct Task {
    name: &'static str,
    priority: u64,
    period: u64,
    alone: u64,
    on_bus: u64,
    on_picture: u64,
}

/// In the order of their threads.
const TASKS: [Task; 3] = [
    Task {
        name: "logger",
        priority: 60,
        period: 41,
        alone: 3_900,
        on_bus: 1_000,
        on_picture: 1_500,
    },
    Task { name: "planner", priority: 80, period: 17, alone: 3_000, on_bus: 0, on_picture: 300 },
    Task { name: "control", priority: 100, period: 5, alone: 800, on_bus: 200, on_picture: 0 },
];

/// How long they work, in milliseconds.
const LENGTH: u64 = 4_000;

/// The program: memory `shared`, `console`, `system`, two further threads.
pub fn main(env: &Env) {
    let mut slots = env.slots();
    for (n, task) in TASKS.iter().enumerate().skip(1) {
        let (spec, slot) = (Spec::further(env, n, task.priority), slots.fresh());
        thread::start(env, n, slot, spec, (work, n as u64)).expect("there is a thread");
        thread::name(slot, task.name).expect("it is a name");
    }
    if let Some(own) = env.find_cap("logger") {
        thread::name(own, TASKS[0].name).expect("it is a name");
    }
    work(env, 0);
    let (console, shared) = (env.console(), env.mem("shared"));
    for (n, task) in TASKS.iter().enumerate().rev() {
        let longest = shared.get(LONGEST + n) / 1_000;
        println!(console, "{}: longest response {longest} us", task.name);
    }
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

/// The jobs of a task.
fn work(env: &Env, n: u64) {
    let task = &TASKS[n as usize];
    let shared = env.mem("shared");
    let me = ThreadId::current();
    let ceilings = Ceilings::of(me);
    let mut ticker = Ticker::every(task.period.ms());
    for _ in 0..LENGTH / task.period {
        let release = ticker.due();
        ticker.wait();
        job(task, shared, me, &ceilings).expect("the words are right");
        let longest = shared.get(LONGEST + n as usize);
        let response = release.elapsed().as_nanos() as u64;
        shared.set(LONGEST + n as usize, longest.max(response));
    }
}

fn job(task: &Task, shared: Words, me: ThreadId, ceilings: &Ceilings) -> Result<(), Error> {
    let bus = InheritMutex::new(shared.part(BUS.0, BUS.1));
    let picture = CeilingMutex::new(shared.part(PICTURE.0, PICTURE.1), 80, Scope::Domain);
    system::work(1_000 * task.alone / 2);
    if task.on_bus > 0 {
        let _bus = bus.lock(me)?;
        system::work(1_000 * task.on_bus);
    }
    system::work(1_000 * task.alone / 2);
    if task.on_picture > 0 {
        let _picture = picture.lock(ceilings)?;
        system::work(1_000 * task.on_picture);
    }
    Ok(())
}
