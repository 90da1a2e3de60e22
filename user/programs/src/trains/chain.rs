//! A chain of domains (S2F-05): a thread goes through as many of them as it asks for, by trains, or
//! each asks the next one by a call.

use super::sums::granted;
use abi::results::Tag;
use rt::arch::counter;
use rt::prelude::*;
use rt::train::{self, Entry, Train, Visitor};
use rt::{OwnedSlot, Recorder, Slot, SlotPool, Wait, system};
use service::{Capability, service};

/// A domain of the chain.
#[service]
pub trait Stage {
    /// A capability to its train, by which a thread goes through it and further.
    fn open(&mut self) -> Capability;
    /// Passes on to so many domains more; returns how many it went through.
    fn pass(&mut self, more: u64) -> u64;
}

struct Server {
    train: Slot,
    next: Option<StageClient>,
}

impl Stage for Server {
    fn open(&mut self) -> Capability {
        granted(self.train)
    }

    fn pass(&mut self, more: u64) -> u64 {
        match (more, &self.next) {
            (0, _) => 1,
            (_, None) => 0,
            (more, Some(next)) => next.pass(more - 1).map_or(0, |passed| passed + 1),
        }
    }
}

/// What a thread runs in each domain: the train's argument is the slot of the next one, 0 of none.
struct Through;

impl Entry for Through {
    type Question = [u64; 4];
    type Answer = [u64; 4];
    fn enter(visitor: Visitor, [more, ..]: [u64; 4]) -> [u64; 4] {
        let passed = match (more, visitor.argument) {
            (0, _) => 1,
            (_, 0) => 0,
            (more, next) => go_through(Slot(next as u32), more).map_or(0, |passed| passed + 1),
        };
        [passed, 0, 0, 0]
    }
}

/// Goes through so many domains by trains, from this one on; how many it went through.
fn go_through(first: Slot, domains: u64) -> Result<u64, Error> {
    let [passed, ..] =
        Train::<[u64; 4], [u64; 4]>::new(first).call([domains - 1; 4], Wait::NEVER)?;
    Ok(passed)
}

/// The train of a domain of the chain.
fn opened(env: &Env, stage: Slot) -> OwnedSlot {
    let stage = StageClient::new(stage).accepting(SlotPool::new(env), env.buffer(0));
    stage.open().ok().and_then(Capability::into_slot).expect("the next domain exports a train")
}

/// A domain of the chain: capabilities `stage` (receive), `next` (send) unless it is the last one;
/// memory, named by argument `stacks`.
pub fn stage(env: &Env) {
    let next = env.find_cap("next");
    let further = next.map(|next| opened(env, next));
    let argument = further.as_ref().map_or(0, |further| u64::from(further.slot().0));
    let train = SlotPool::new(env).take();
    let stacks = env.mem(env.arg("stacks").unwrap_or("stacks"));
    train::export::<Through>(env, train.slot(), stacks, 1, argument).expect("a train");
    let mut stage = Server { train: train.slot(), next: next.map(StageClient::new) };
    let server = rt::Server::new(env.cap("stage")).with_buffer(env.buffer(0));
    let why = server.run(|request| stage.dispatch(request));
    panic!("no more requests: {why:?}");
}

/// A way through so many domains; how many it went through.
type Way<'a> = &'a dyn Fn(u64) -> Option<u64>;

/// The caller: capabilities `stage` (send), `system`; memory `recording`; arguments `lengths` of
/// chains, `rounds`, `warmup`, and `period` in microseconds. In each period it goes through chains
/// of all lengths, first by trains (case: the length), then by calls (case: 256 and the length).
pub fn caller(env: &Env) {
    const BY_CALLS: u16 = 0x100;
    let train = opened(env, env.cap("stage"));
    let first = StageClient::new(env.cap("stage"));
    let ways: [(u16, Way); 2] = [
        (0, &|length| go_through(train.slot(), length).ok()),
        (BY_CALLS, &|length| first.pass(length - 1).ok()),
    ];
    let mut recorder = Recorder::open(env.mem("recording"));
    let (rounds, warm_up) = (env.number("rounds", 100), env.number("warmup", 4));
    let mut ticker = Ticker::every(env.number("period", 2_300).us());
    for round in 0..warm_up + rounds {
        ticker.wait();
        for (form, pass) in ways {
            for length in env.arg("lengths").unwrap_or_default().split_whitespace() {
                let length: u16 = length.parse().expect("a length");
                let before = counter();
                let passed = pass(length.into());
                let after = counter();
                assert!(passed == Some(length.into()), "{passed:?} of {length} domains");
                let round = round.checked_sub(warm_up).map(|round| round as u16);
                let tag =
                    round.map(|round| Tag { metric: 1, case: form | length, round, point: 0 });
                tag.into_iter().for_each(|tag| recorder.pair(tag, before, after));
            }
        }
    }
    recorder.done();
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}
