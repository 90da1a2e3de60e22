//! Ping-pong (S0-36): a client calls, a server replies and waits, both of the same priority.
//!
//! For each message length the client announces the case, then both go through the same number
//! of rounds. Four points of a round are recorded: the client's counter before its call and after
//! the answer, the server's on the message's arrival and before its reply. So
//!
//! - *call* is from the client's first to the server's first point,
//! - *reply-wait* from the server's second to the client's second.
//!
//! Filling, checking and recording all lie outside of these spans. Bare messages are measured,
//! hence no typed calls: those are in `micro/typed.rs`.

use abi::results::Tag;
use rt::arch::{Outcome, counter};
use rt::thread::{self, Spec};
use rt::{Buffer, Env, Info, Message, Received, Recorder, Slot, Wait, ipc, system};

/// Message lengths in words; case `i` is `WORDS[i]` across domains, case `i + WORDS.len()` the
/// same within one.
const WORDS: [usize; 6] = [0, 4, 8, 16, 32, 64];
const METRIC: u16 = 1;

const START: u32 = 1;
const ROUND: u32 = 2;
const STOP: u32 = 3;

/// The client across domains: capabilities `ping` (send), `system`; memory `client-recording`.
pub fn client(env: &Env) {
    run_client(env, 0);
}

/// The server across domains: capability `ping` (receive); memory `server-recording`.
pub fn server(env: &Env) {
    serve(env, 0);
}

/// Client and server in one domain: what both need, and a second thread.
pub fn same(env: &Env) {
    let slot = env.slots().fresh();
    let priority = env.number("priority", 100);
    let spec = Spec::further(env, 1, priority);
    thread::start(env, 1, slot, spec, (serve, 1)).expect("the server thread");
    run_client(env, WORDS.len());
}

/// How many rounds a case has.
#[derive(Clone, Copy)]
struct Rounds {
    warm_up: u64,
    recorded: u64,
}

impl Rounds {
    fn of(env: &Env) -> Rounds {
        Rounds { warm_up: env.number("warmup", 16), recorded: env.number("rounds", 1000) }
    }

    fn all(self) -> u64 {
        self.warm_up + self.recorded
    }

    /// The tag of a round that is recorded.
    fn tag(self, case: usize, round: u64, point: u16) -> Option<Tag> {
        let round = round.checked_sub(self.warm_up)? as u16;
        Some(Tag { metric: METRIC, case: case as u16, round, point })
    }
}

fn value(round: u64, index: usize) -> u64 {
    (round << 16) + index as u64
}

/// Puts the words that do not travel in registers into the message buffer.
fn fill(buffer: Buffer, words: usize, value: impl Fn(usize) -> u64) {
    for i in 4..words {
        buffer.0.set(i, value(i));
    }
}

/// Checks every word of a message.
fn check(
    what: &str,
    message: &Received,
    buffer: Buffer,
    words: usize,
    value: impl Fn(usize) -> u64,
) {
    assert!(message.info.words() == words, "{what}: {} words", message.info.words());
    for i in 0..words {
        let word = message.words.get(i).copied().unwrap_or_else(|| buffer.0.get(i));
        assert!(word == value(i), "{what}: word {i} of {words} is {word:#x}");
    }
}

struct Client {
    to: Slot,
    buffer: Buffer,
    rounds: Rounds,
    recorder: Recorder,
}

fn run_client(env: &Env, first_case: usize) {
    let mut client = Client {
        to: env.cap("ping"),
        buffer: env.buffer(0),
        rounds: Rounds::of(env),
        recorder: Recorder::open(env.mem("client-recording")),
    };
    for (i, words) in WORDS.into_iter().enumerate() {
        match words {
            0 => client.series::<0>(first_case + i, words),
            _ => client.series::<4>(first_case + i, words),
        }
    }
    ipc::call(client.to, Message::empty(STOP)).expect("the server stops");
    client.recorder.done();
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

impl Client {
    fn series<const REGISTERS: usize>(&mut self, case: usize, words: usize) {
        let start = Message::short(START, [case as u64, words as u64]);
        ipc::call(self.to, start).expect("the server takes the case");
        for round in 0..self.rounds.all() {
            fill(self.buffer, words, |i| value(round, i));
            let (before, after, outcome) = self.call::<REGISTERS>(words, round);
            let answer = outcome.received().expect("a call is answered");
            check("answer", &answer, self.buffer, words, |i| value(round, i) + 1);
            if let Some(tag) = self.rounds.tag(case, round, Tag::BEFORE) {
                self.recorder.pair(tag, before, after);
            }
        }
    }

    /// One call, with nothing but the stub between the two counter reads.
    #[inline(never)]
    fn call<const REGISTERS: usize>(&self, words: usize, round: u64) -> (u64, u64, Outcome) {
        let to = self.to;
        let info = Info::new(ROUND, words);
        let values: [u64; REGISTERS] = core::array::from_fn(|i| value(round, i));
        let before = counter();
        let outcome = ipc::call_short(to, info, values);
        let after = counter();
        (before, after, outcome)
    }
}

struct Server {
    on: Slot,
    buffer: Buffer,
    rounds: Rounds,
    recorder: Recorder,
}

/// Serves with the message buffer of further thread `n`.
fn serve(env: &Env, n: u64) {
    let mut server = Server {
        on: env.cap("ping"),
        buffer: env.buffer(n as usize),
        rounds: Rounds::of(env),
        recorder: Recorder::open(env.mem("server-recording")),
    };
    let mut next = ipc::receive(server.on, Wait::NEVER).expect("a first message");
    while next.info.label() == START {
        let [case, words, ..] = next.words.map(|word| word as usize);
        next = match words {
            0 => server.series::<0>(case, words),
            _ => server.series::<4>(case, words),
        };
    }
    server.recorder.done();
    ipc::reply(Message::empty(STOP)).expect("the client waits");
}

impl Server {
    fn series<const REGISTERS: usize>(&mut self, case: usize, words: usize) -> Received {
        let mut last = self.reply_wait::<0>(0, 0);
        for round in 0..self.rounds.all() {
            let message = last.2.received().expect("a message");
            check("message", &message, self.buffer, words, |i| value(round, i));
            fill(self.buffer, words, |i| value(round, i) + 1);
            let next = self.reply_wait::<REGISTERS>(words, round);
            if let Some(tag) = self.rounds.tag(case, round, Tag::AFTER) {
                self.recorder.record(tag, last.1);
                self.recorder.record(Tag { point: Tag::BEFORE, ..tag }, next.0);
            }
            last = next;
        }
        last.2.received().expect("what follows the last round")
    }

    /// Replies and waits, with nothing but the stub between the two counter reads.
    #[inline(never)]
    fn reply_wait<const REGISTERS: usize>(&self, words: usize, round: u64) -> (u64, u64, Outcome) {
        let on = self.on;
        let info = Info::new(ROUND, words);
        let values: [u64; REGISTERS] = core::array::from_fn(|i| value(round, i) + 1);
        let before = counter();
        let outcome = ipc::reply_wait_short(on, info, values);
        let after = counter();
        (before, after, outcome)
    }
}
