//! Tasks as arguments describe them, each of which watches its longest response. The laboratory
//! draws such sets at random and holds them against the bounds of the analysis.

use rt::prelude::*;
use rt::thread::{self, Spec};
use rt::{Slot, ipc, reservation, system, time};
use sync::{CeilingMutex, Ceilings, InheritMutex, Scope, ThreadId};

/// Words of memory that each task has: its longest response, in ns, and its jobs.
const TASK: usize = 2;
/// Where mutexes begin, and how many words each has.
const MUTEXES: usize = 64;
const MUTEX: usize = 4;
/// Capabilities to the leaves of tasks that run on reservations.
const LEAVES: [&str; 5] = ["leaf-0", "leaf-1", "leaf-2", "leaf-3", "leaf-4"];

/// A task, as one of the parts between `|` of the argument `tasks` tells it: priority, period and
/// first release (microseconds since boot), and steps with `;` between them.
struct Task<'t> {
    priority: u64,
    period: u64,
    first: u64,
    steps: &'t str,
}

/// What a job does in one step, for a number of units of time.
enum Step {
    /// Works: `wTIME`.
    Work(u64),
    /// Works with the inheriting mutex of this number: `iTIME,NUMBER`.
    Inherit(u64, usize),
    /// Works with two of them, of which it locks the first one first: `nTIME,FIRST,SECOND`.
    Nested(u64, [usize; 2]),
    /// Works with the mutex of this number and ceiling: `cTIME,NUMBER,CEILING`.
    Ceiling(u64, usize, u8),
    /// Has the server work: `sTIME`.
    Serve(u64),
}

impl Task<'static> {
    fn of(env: &Env, place: usize) -> Option<Task<'static>> {
        let mut fields = env.arg("tasks")?.split('|').nth(place)?.split(' ');
        let mut number = || fields.next()?.parse().ok();
        let [priority, period, first] = [number()?, number()?, number()?];
        Some(Task { priority, period, first, steps: fields.next()? })
    }
}

impl Step {
    fn parse(text: &str) -> Option<Step> {
        let mut numbers = text.get(1..)?.split(',').map(|number| number.parse::<u64>().ok());
        let mut number = || numbers.next()?;
        Some(match text.as_bytes()[0] {
            b'w' => Step::Work(number()?),
            b'i' => Step::Inherit(number()?, number()? as usize),
            b'n' => Step::Nested(number()?, [number()? as usize, number()? as usize]),
            b'c' => Step::Ceiling(number()?, number()? as usize, number()? as u8),
            b's' => Step::Serve(number()?),
            _ => return None,
        })
    }
}

/// A thread for each task but the first, which the first thread carries out. Arguments `tasks`, and
/// `until`, the instant (microseconds since boot) from which on no job is released. A memory of the
/// domain's name; capability `server`, if steps ask it; for tasks on reservations `leaf-0`,
/// `leaf-1`, ..., and `me`, the first thread.
pub fn main(env: &Env) {
    let mut slots = env.slots();
    for n in 1..env.threads() {
        let task = Task::of(env, n).expect("the argument tells a task for each thread");
        let spec = Spec::further(env, n, task.priority);
        let slot = slots.fresh();
        thread::start(env, n, slot, spec, (work, n as u64)).expect("there is a thread");
        if let Some(leaf) = LEAVES.get(n).and_then(|name| env.find_cap(name)) {
            reservation::run_on(slot, leaf).expect("it may run there");
        }
    }
    if let Some(leaf) = env.find_cap(LEAVES[0]) {
        reservation::run_on(env.cap("me"), leaf).expect("it may run there");
    }
    work(env, 0);
}

/// The jobs of a task.
fn work(env: &Env, n: u64) {
    let n = n as usize;
    let task = Task::of(env, n).expect("the argument tells a task for each thread");
    let until = Instant::BOOT + env.number("until", 0).us();
    let (shared, server) = (env.mem(env.name()), env.find_cap("server"));
    let me = ThreadId::current();
    let ceilings = Ceilings::of(me);
    let mut ticker = Ticker::starting(Instant::BOOT + task.first.us(), task.period.us());
    while ticker.due() < until {
        let release = ticker.pass();
        time::sleep_until(release);
        for text in task.steps.split(';') {
            let step = Step::parse(text).expect("the argument tells steps");
            run(env, step, me, &ceilings, server).expect("the step can be done");
        }
        let response = release.elapsed().as_nanos() as u64;
        let longest = shared.get(TASK * n).max(response);
        shared.set(TASK * n, longest);
        shared.set(TASK * n + 1, shared.get(TASK * n + 1) + 1);
    }
    system::sleep_until(u64::MAX);
}

fn run(
    env: &Env,
    step: Step,
    me: ThreadId,
    ceilings: &Ceilings,
    server: Option<Slot>,
) -> Result<(), Error> {
    let words = |number: usize| env.mem(env.name()).part(MUTEXES + MUTEX * number, MUTEX);
    match step {
        Step::Work(length) => system::work(length),
        Step::Inherit(length, number) => {
            let mutex = InheritMutex::new(words(number));
            let _owned = mutex.lock(me)?;
            system::work(length);
        }
        Step::Nested(length, numbers) => {
            let [first, second] = numbers.map(|number| InheritMutex::new(words(number)));
            let (_owned, _inner) = (first.lock(me)?, second.lock(me)?);
            system::work(length);
        }
        Step::Ceiling(length, number, ceiling) => {
            let mutex = CeilingMutex::new(words(number).part(0, 1), ceiling, Scope::Domain);
            let _owned = mutex.lock(ceilings)?;
            system::work(length);
        }
        Step::Serve(length) => {
            ipc::call(server.ok_or(Error::NoCapability)?, Message::short(0, [length]))?;
        }
    }
    Ok(())
}

/// Works as long as each caller on `server` asks. Argument `serves`: 1 if it says that it does.
pub fn server(env: &Env) {
    let endpoint = env.cap("server");
    if env.number("serves", 0) > 0 {
        ipc::set_serving(endpoint, true).expect("it may receive there");
    }
    let server = Server::new(endpoint);
    server.run(|request| {
        system::work(request.words()[0]);
        Message::build(0)
    });
}

/// Tells at the instant `at` (microseconds since boot) what the tasks of the domains have measured
/// whose names the argument `domains` has, and ends the run. A memory of each name; capabilities
/// `console` and `system`.
pub fn end(env: &Env) {
    time::sleep_until(Instant::BOOT + env.number("at", 0).us());
    let console = env.console();
    for domain in env.arg("domains").unwrap_or_default().split(' ') {
        let shared = env.mem(domain);
        for n in 0..MUTEXES / TASK {
            let (longest, jobs) = (shared.get(TASK * n), shared.get(TASK * n + 1));
            if jobs > 0 {
                println!(console, "{domain} {n}: longest response {longest} ns of {jobs} jobs");
            }
        }
    }
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}
