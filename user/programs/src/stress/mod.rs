//! Everything that CPUs do to each other, at random and all at once, checked from inside.
//!
//! There are stations. What stands at one is born and dies over and over: an endpoint, a server
//! (a thread of this domain or a domain with a thread) and a page. Its *owner* makes, moves, stops,
//! starts and destroys all that; two *clients* call it, look at its page, ring each other's bells
//! and get in the way. A *monitor* takes their faults. A round has new threads and a new part of
//! the seed; when it is over everything that was made is gone, and all quotas are as before.
//!
//! A station's count says what may happen there: four steps for each life, of which it lives in
//! one ([`Life`]). A client that reads the same count before and after a call knows how it had to
//! end.

mod client;
mod monitor;
mod owner;
mod place;
mod server;
mod wrong;

use crate::random::Random;
use abi::call::{Fact, Table};
use abi::object::Resource;
use place::{Common, Place, Role, Tally, Worker};
use rt::{Env, println, system};
use wrong::{KINDS, Wrong};

/// A millisecond, and a microsecond.
const MS: u64 = 1_000_000;
const US: u64 = 1_000;
/// How long what was asked for may take where all threads sleep now and then: far longer than it
/// does, and short for a thread that waits for ever.
const PATIENCE: u64 = 500 * MS;
/// How many times as long as asked for a run lasts at most, until everything has happened.
const LONGEST: u64 = 20;
/// The priority of the monitor; the first thread's is above it. The lowest of servers and of all
/// others, and beyond.
const MONITOR: u64 = 115;
const SERVERS: u64 = 70;
const OTHERS: u64 = 90;

/// Capabilities `console`, `system`, `own` (the program's domain), `code` (a page for the code of
/// domains); memory `shared`. Arguments `seed`, `ms` (how long; on a slow machine longer, until
/// everything has happened), `round` (milliseconds of a round), `stations`, `pause` (mean
/// microseconds between what a thread does).
pub fn main(env: &Env) {
    let (console, place) = (env.console(), Place::new(env));
    let (begin, span) = (system::clock(), env.number("ms", 100) * MS);
    let (mut rounds, mut quotas) = (0, None);
    server::lay_out(env);
    let lasts = |spans| system::clock() - begin < spans * span;
    while place.is_right() && (lasts(1) || place.lacks_something() && lasts(LONGEST)) {
        rounds += 1;
        round(&place, rounds);
        // Page tables stay with a domain, so the first round decides how many there are.
        let used = used(env);
        if *quotas.get_or_insert(used) != used {
            let differs = (0..Resource::COUNT).find(|i| quotas.is_some_and(|q| q[*i] != used[*i]));
            let which = differs.unwrap_or(0);
            place.wrong(Wrong::Quota, 0, [which as u64, used[which]]);
        }
    }
    let took = (system::clock() - begin) / MS;
    let found = place.found();
    for kind in KINDS {
        match found.filter(|found| found.wrong.kind() == kind) {
            None => println!(console, "ok {kind}"),
            Some(found) => println!(console, "FAILED {kind}: round {rounds}, {found}"),
        }
    }
    let [answered, refused, late, looks, births, wakes] =
        Tally::ALL.map(|tally| place.total(tally));
    let idle = place.lacks_something();
    println!(console, "{} everything happens", if idle { "FAILED" } else { "ok" });
    let (cpus, _) = system::fact(Fact::Cpus).unwrap_or((1, 0));
    println!(
        console,
        "seed {}, {cpus} CPUs, {took} ms, {rounds} rounds: {births} lives, {answered} calls \
         answered, {refused} ended with their partner, {late} timed out, {looks} looks at pages, \
         {wakes} wake-ups",
        env.number("seed", 1)
    );
    let status = u64::from(found.is_some() || idle);
    system::shutdown(env.cap("system"), status).expect("the run ends");
}

/// How much of each resource the program uses.
fn used(env: &Env) -> [u64; Resource::COUNT] {
    let system = env.cap("system");
    let [low, high] = abi::boot::name_words(env.name());
    let is_own = |index: &u64| {
        system::inspect(system, Table::Domain, *index)
            .is_ok_and(|row| row.words[..2] == [low, high])
    };
    let index = (0..64).find(is_own).expect("the program's domain has its name");
    Resource::ALL.map(|resource| {
        let row = system::inspect(system, Table::Quota, index | (resource as u64) << 32);
        row.expect("the program's own domain").results[0]
    })
}

/// A round: all threads begin, work, and end.
fn round(place: &Place, number: u64) {
    place.begin_round(number);
    for n in place.workers() {
        Worker::new(place, n).prepare();
    }
    for n in place.workers().filter(|n| place.role(*n) != Role::Server) {
        Worker::new(place, n).start();
    }
    place.set(Common::Begun, 1);
    system::sleep(place.env.number("round", 20) * MS);
    place.set(Common::Stop, 1);
    let clients = place.workers().filter(|n| place.role(*n) == Role::Client);
    await_all(place, clients);
    place.set(Common::Stop, 2);
    let owners = place.workers().filter(|n| place.role(*n) == Role::Owner);
    await_all(place, owners);
    for n in place.workers() {
        Worker::new(place, n).end();
    }
    place.end_round();
}

/// Waits for threads to be done. One that is not has missed a wake-up.
fn await_all(place: &Place, threads: impl Iterator<Item = usize> + Clone) {
    let until = system::clock() + PATIENCE;
    let late = || threads.clone().find(|n| !Worker::new(place, *n).is_done());
    while late().is_some() && place.is_right() && system::clock() < until {
        system::sleep(MS / 2);
    }
    if let Some(n) = late().filter(|_| place.is_right()) {
        let state = rt::thread::state(Worker::new(place, n).thread());
        place.wrong(Wrong::Stuck, n, [state.unwrap_or(0), 0]);
        place.workers().for_each(|n| tell(place, n));
    }
}

/// Says how far a thread is that others may wait for.
fn tell(place: &Place, n: usize) {
    let worker = Worker::new(place, n);
    let (state, done) = (rt::thread::state(worker.thread()), worker.is_done());
    println!(place.env.console(), "thread {n}: {:?}, state {state:?}, done: {done}", place.role(n));
}

/// A thread's random numbers in this round.
fn random(place: &Place, n: usize) -> Random {
    let seed = place.env.number("seed", 1);
    Random::new(seed ^ place.get(Common::Round) << 32 ^ (n as u64) << 20)
}

/// Sleeps so that a thread does something once in `pause` microseconds on average.
fn pause(place: &Place, random: &mut Random) {
    match random.below(4) {
        0 => system::work(random.below(2000)),
        1 => system::sleep_until(shortly_before_a_tick(random)),
        _ => system::sleep(random.below(place.pause * 8 / 3) * US),
    }
}

/// An instant that may share the interrupt of the next tick, which then comes early.
fn shortly_before_a_tick(random: &mut Random) -> u64 {
    let (tick, _) = system::fact(Fact::Tick).unwrap_or((MS, 0));
    (system::clock() / tick + 1) * tick - random.below(US * 3 / 2)
}
