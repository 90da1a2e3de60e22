//! IPC queueing (S0-38): threads with random priorities are woken in random order, and each calls
//! a server, which serves only when all of them are queued.
//!
//! Server and waker are one thread below all others: whom it wakes runs at once, calls, and is
//! queued, and whom it answers runs at once and waits to be woken again. So there is never a
//! choice between ready threads, and what differs between kernels is the send queue. Bare messages
//! are measured, hence no typed calls.

use crate::random::Random;
use abi::results::Tag;
use rt::arch::counter;
use rt::thread::{self, Spec};
use rt::{Env, Info, Message, Recorder, Slot, ipc, signal, system};

/// The most threads.
const MOST: usize = 1000;
/// How many threads take part; case `i` is `THREADS[i]`.
const THREADS: [usize; 12] = [1, 2, 3, 5, 10, 20, 50, 100, 200, 300, 500, 1000];
const METRIC: u16 = 1;
/// The highest priority of a client; the lowest is 2.
const HIGHEST: u64 = 250;

/// Capabilities `service` (send, receive), `system`; memory `recording`; a quota for the clients'
/// threads and endpoints. The program's own priority is 1.
pub fn main(env: &Env) {
    let mut random = Random::new(env.number("seed", 1));
    let most = env.number("most", MOST as u64) as usize;
    let mut slots = env.slots();
    let mut doors = [Slot::NONE; MOST];
    for (i, door) in doors.iter_mut().enumerate().take(most) {
        *door = slots.fresh();
        signal::create_endpoint(*door, Slot::NONE).expect("an endpoint");
        let spec = Spec::further(env, i + 1, 2 + random.below(HIGHEST - 1));
        let argument = u64::from(door.0);
        thread::start(env, i + 1, slots.fresh(), spec, (client, argument)).expect("a thread");
    }
    let mut recorder = Recorder::open(env.mem("recording"));
    for (case, threads) in THREADS.into_iter().enumerate().filter(|(_, threads)| *threads <= most) {
        for round in 0..env.number("rounds", 3) {
            random.shuffle(&mut doors[..most]);
            let (before, after) = series(env, &doors[..threads]);
            let tag = Tag { metric: METRIC, case: case as u16, round: round as u16, point: 0 };
            recorder.pair(tag, before, after);
        }
    }
    recorder.done();
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

/// Wakes the threads behind these doors and serves them; the counter before and after.
fn series(env: &Env, doors: &[Slot]) -> (u64, u64) {
    let service = env.cap("service");
    let before = counter();
    for door in doors {
        ipc::send_short(*door, Info::new(0, 0), []).status.result().expect("it waits");
    }
    ipc::receive_short(service).status.result().expect("the first call");
    for _ in 1..doors.len() {
        let next = ipc::reply_wait_short(service, Info::new(0, 0), []);
        next.status.result().expect("the next call");
    }
    ipc::reply(Message::empty(0)).expect("the last one waits");
    (before, counter())
}

/// A client: waits at its door, and calls once it was woken.
fn client(env: &Env, door: u64) {
    let (door, service) = (Slot(door as u32), env.cap("service"));
    loop {
        ipc::receive_short(door).status.result().expect("somebody knocks");
        ipc::call_short(service, Info::new(0, 0), []).status.result().expect("an answer");
    }
}
