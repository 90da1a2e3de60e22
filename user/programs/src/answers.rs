//! Clients call a server of low priority, beside a thread of a priority between them that computes
//! most of the time (S2G-07). The server helps its clients' conditions, so they wait for its work
//! and for each other's, and for nothing else.

use rt::prelude::*;
use rt::system::{clock, sleep_until};
use rt::thread::{self, Spec};
use rt::{Error, Wait, Words};
use sync::{Barrier, InheritCalls, Scope, ThreadId};

/// A question is how long to work, in microseconds; the answer is when that was done.
type Calls = InheritCalls<u64, u64>;

const CLIENTS: usize = 2;
/// How often each client asks, and how long its work takes, in microseconds.
const ROUNDS: u64 = 20;
const WORK: u64 = 500;
const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000_000;

/// A further thread: its priority and what it does.
type Further = (u64, fn(&Env, u64));

/// The further threads. The last ones are the clients.
const THREADS: [Further; 2 + CLIENTS] = [(40, serve), (60, compute), (70, ask), (80, ask)];
/// The number of the first client's thread.
const FIRST_CLIENT: u64 = 3;

/// What the memory `shared` holds: the calls, the end, and how long each client has waited.
fn calls(env: &Env) -> Calls {
    Calls::new(env.mem("shared").part(0, Calls::words(CLIENTS)), CLIENTS)
}

fn end(env: &Env) -> Barrier {
    Barrier::new(env.mem("shared").part(64, Barrier::WORDS), CLIENTS as u64 + 1, Scope::Domain)
}

fn longest(env: &Env) -> Words {
    env.mem("shared").part(72, CLIENTS)
}

/// The program: memory `shared`, `system`, four further threads.
pub fn main(env: &Env) {
    let console = env.console();
    if let Err(error) = work(env) {
        println!(console, "the example fails: {error:?}");
        let _ = rt::system::shutdown(env.cap("system"), 1);
    }
    for client in 0..CLIENTS {
        let (priority, _) = THREADS[2 + client];
        let time = longest(env).get(client).div_ceil(100 * MICROSECOND);
        println!(console, "priority {priority}: at most {}.{} ms", time / 10, time % 10);
    }
    let _ = rt::system::shutdown(env.cap("system"), 0);
}

fn work(env: &Env) -> Result<(), Error> {
    let mut slots = env.slots();
    for (n, (priority, work)) in (1..).zip(THREADS) {
        let spec = Spec::further(env, n, priority);
        thread::start(env, n, slots.fresh(), spec, (work, n as u64))?;
    }
    end(env).wait(ThreadId::current(), Wait::NEVER).map(|_| ())
}

fn compute_until(instant: u64) {
    while clock() < instant {}
}

/// Answers for ever.
fn serve(env: &Env, _: u64) {
    let calls = calls(env);
    let Ok(server) = calls.server(ThreadId::current()) else { return };
    while server
        .serve(|work| {
            compute_until(clock() + work * MICROSECOND);
            clock()
        })
        .is_ok()
    {}
}

/// Computes for 9 ms of each 10.
fn compute(_: &Env, _: u64) {
    let mut begin = clock();
    loop {
        compute_until(begin + 9 * MILLISECOND);
        begin += 10 * MILLISECOND;
        sleep_until(begin);
    }
}

/// Asks each 7 ms, when the other client does, and writes down how long that takes at most.
fn ask(env: &Env, n: u64) {
    let (me, client, calls) = (ThreadId::current(), (n - FIRST_CLIENT) as usize, calls(env));
    // The server is there by then.
    for round in 3..3 + ROUNDS {
        let released = round * 7 * MILLISECOND;
        sleep_until(released);
        let Ok(answered) = calls.call(me, client, WORK) else { return };
        let waited = longest(env);
        waited.set(client, waited.get(client).max(answered - released));
    }
    let _ = end(env).wait(me, Wait::NEVER);
}
