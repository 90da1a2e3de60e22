//! Pairs (S1-E02): on each CPU a client calls a server of its own, and both think for an
//! exponential time between receiving and sending.
//!
//! A message is one way, so each is a think time and a pass through the kernel. The client counts
//! both directions in windows that follow each other. Who finishes says so on `done`; the first
//! pair's client waits for that and ends the run. Bare messages are counted, hence no typed calls.

use crate::random::Random;
use abi::results::Tag;
use rt::arch::counter;
use rt::{Env, Info, Message, Recorder, Slot, Wait, ipc, println, system};

/// The metric under which the messages of a window are recorded, in place of a time.
const MESSAGES: u16 = 1;

/// Think times of a thread.
struct Think {
    mean: u64,
    random: Random,
}

impl Think {
    fn of(env: &Env, who: u64) -> Think {
        let seed = env.number("seed", 1).wrapping_mul(2).wrapping_add(who);
        Think { mean: env.number("think", 4000), random: Random::new(seed) }
    }

    /// Computes for an exponential time.
    #[inline(always)]
    fn pass(&mut self) {
        if self.mean > 0 {
            system::work(self.random.exponential(self.mean));
        }
    }
}

/// A client: capability `pair` (send), and `done` (send, or in the first client receive), and
/// `system`; a memory, named by argument `recording`; arguments `seed`, `think`, `warmup`,
/// `window`, `windows`, times in steps of the counter. The first has `others`, too: how many more
/// there are.
pub fn client(env: &Env) {
    let mut client = Client { to: env.cap("pair"), think: Think::of(env, 0), round: 0 };
    let mut recorder = Recorder::open(env.mem(env.arg("recording").unwrap_or("recording")));
    let mut until = counter() + env.number("warmup", 0);
    client.converse(until);
    let mut all = 0;
    for round in 0..env.number("windows", 1) {
        until += env.number("window", 1_000_000);
        let messages = client.converse(until);
        let tag = Tag { metric: MESSAGES, case: 0, round: round as u16, point: 0 };
        recorder.record(tag, messages);
        all += messages;
    }
    recorder.done();
    let done = env.cap("done");
    match env.arg("others") {
        Some(_) => finish(env, done, all),
        None => ipc::send(done, Message::short(0, [all]), Wait::NEVER).expect("the first waits"),
    }
}

struct Client {
    to: Slot,
    think: Think,
    round: u64,
}

impl Client {
    /// Calls until an instant; how many messages that were, both ways.
    fn converse(&mut self, until: u64) -> u64 {
        let first = self.round;
        while counter() < until {
            self.think.pass();
            let answer = ipc::call_short(self.to, Info::new(0, 1), [self.round]);
            let answer = answer.received().expect("the server answers");
            self.round += 1;
            assert!(answer.words[0] == self.round, "round {}: {}", self.round, answer.words[0]);
        }
        2 * (self.round - first)
    }
}

/// Waits for the other clients, and ends the run.
fn finish(env: &Env, done: Slot, own: u64) {
    let (others, mut all, mut idle) = (env.number("others", 0), own, u64::from(own == 0));
    for _ in 0..others {
        let messages = ipc::receive(done, Wait::NEVER).expect("a client is done").words[0];
        all += messages;
        idle += u64::from(messages == 0);
    }
    let verdict = if idle == 0 { "ok" } else { "FAILED" };
    println!(env.console(), "{verdict} every CPU passes messages on");
    println!(env.console(), "{all} messages on {} CPUs", others + 1);
    system::shutdown(env.cap("system"), u64::from(idle > 0)).expect("the run ends");
}

/// A server: capability `pair` (receive); arguments `seed`, `think`.
pub fn server(env: &Env) {
    let mut think = Think::of(env, 1);
    ipc::serve(env.cap("pair"), |message| {
        think.pass();
        Message::short(0, [message.words[0].wrapping_add(1)])
    });
}
