//! Hot potato (S0-37): a ring of threads with unique priorities in shuffled order, in which each
//! receives messages, the potatoes, from the one before and sends them to the one behind.
//!
//! A potato carries the number of hops that it has left. Where it has none, its holder tells the
//! coordinator, which has thrown all potatoes of a series in at once and waits for as many.
//! With as many potatoes as threads all would wait to send: one fewer is the most. Bare messages
//! are measured, hence no typed calls.

use crate::random::Random;
use abi::results::Tag;
use rt::arch::counter;
use rt::thread::{self, Spec};
use rt::{Env, Info, Message, Recorder, Slot, Wait, ipc, signal, system};

/// Threads in the ring; their priorities are 1 to this.
const RING: usize = 250;
/// How many potatoes are under way; case `i` is `POTATOES[i]`.
const POTATOES: [usize; 14] = [1, 2, 5, 10, 25, 50, 75, 100, 125, 150, 175, 200, 225, 249];
const METRIC: u16 = 1;

/// Capabilities `done` (send, receive), `system`; memory `recording`; a quota for the ring's
/// threads and endpoints. The program's own priority is above the ring's.
pub fn main(env: &Env) {
    let mut random = Random::new(env.number("seed", 1));
    let hops = RING as u64 * env.number("messages", 150);
    let mut slots = env.slots();
    let mut endpoints: [Slot; RING] = core::array::from_fn(|_| slots.fresh());
    for endpoint in endpoints {
        signal::create_endpoint(endpoint, Slot::NONE).expect("an endpoint");
    }
    let mut priorities: [u64; RING] = core::array::from_fn(|i| i as u64 + 1);
    random.shuffle(&mut priorities);
    for (i, priority) in priorities.into_iter().enumerate() {
        let spec = Spec::further(env, i + 1, priority);
        let (from, to) = (endpoints[i], endpoints[(i + 1) % RING]);
        let places = u64::from(from.0) << 32 | u64::from(to.0);
        thread::start(env, i + 1, slots.fresh(), spec, (pass, places)).expect("a thread");
    }
    // They settle behind this thread, each waiting on its endpoint.
    system::sleep(1_000_000);
    let mut recorder = Recorder::open(env.mem("recording"));
    for (case, potatoes) in POTATOES.into_iter().enumerate() {
        for round in 0..env.number("rounds", 3) {
            endpoints.rotate_left(random.below(RING as u64) as usize);
            let (before, after) = series(env, &endpoints, potatoes, hops);
            let tag = Tag { metric: METRIC, case: case as u16, round: round as u16, point: 0 };
            recorder.pair(tag, before, after);
        }
    }
    recorder.done();
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

/// One series: `hops` hops in all, of potatoes that start evenly spread from the first endpoint
/// on; the counter before the first hop and after the last.
fn series(env: &Env, endpoints: &[Slot; RING], potatoes: usize, hops: u64) -> (u64, u64) {
    let done = env.cap("done");
    for potato in 0..potatoes {
        let own = hops / potatoes as u64 + u64::from((potato as u64) < hops % potatoes as u64);
        let at = endpoints[potato * RING / potatoes];
        ipc::send(at, Message::short(0, [own]), Wait::NEVER).expect("a thread takes it");
    }
    let before = counter();
    for _ in 0..potatoes {
        ipc::receive(done, Wait::NEVER).expect("a potato has cooled");
    }
    (before, counter())
}

/// A thread of the ring; the slots of its own endpoint and the next one's are its argument.
fn pass(env: &Env, places: u64) {
    let (from, next) = (Slot((places >> 32) as u32), Slot(places as u32));
    let done = env.cap("done");
    let mut hops = ipc::receive(from, Wait::NEVER).expect("a potato").words[0];
    loop {
        let (to, info) = if hops == 0 { (done, Info::new(1, 0)) } else { (next, Info::new(0, 1)) };
        let outcome = ipc::exchange_short(to, from, info, [hops.wrapping_sub(1)]);
        hops = outcome.received().expect("a potato").words[0];
    }
}
