//! What asking for a sum takes in four forms (S4-E05): by a train, by a call to an endpoint, whose
//! server runs on the caller's time, by a message to a server that is scheduled for itself, which
//! answers with another, and by a marshalled message in a queue to such a server.
//!
//! The first four series have nothing but the question between two counter reads. In those that
//! are timed the server reads the counter too, and its readings come back with the sum.

use super::queued::Queues;
use super::sums::{Numbers, Sum, SumsClient, granted, sum_of};
use abi::results::Tag;
use rt::arch::counter;
use rt::prelude::*;
use rt::train::{self, Entry, Train, Visitor};
use rt::{Info, OwnedSlot, Recorder, Slot, SlotPool, Wait, ipc, system};
use service::{Capability, service};

/// Metrics of the recording: there and back; there; back.
const ROUND_TRIP: u16 = 1;
const CALL: u16 = 2;
const REPLY: u16 = 3;

/// Forms, by their numbers as cases.
const TRAIN: u16 = 0;
const ENDPOINT: u16 = 1;
const PLAIN: u16 = 2;
const QUEUED: u16 = 3;

/// Series of calls.
struct Series {
    recorder: Recorder,
    warm_up: u64,
}

impl Series {
    /// So many calls of a form.
    fn run(&mut self, case: u16, rounds: u64, ask: impl Fn([u64; 4]) -> Result<u64, Error>) {
        for round in 0..self.warm_up + rounds {
            let before = counter();
            let sum = ask([round, 1, 2, 3]);
            let after = counter();
            assert!(sum == Ok(round + 6), "round {round} of form {case}: {sum:?}");
            if let Some(round) = round.checked_sub(self.warm_up) {
                let tag = Tag { metric: ROUND_TRIP, case, round: round as u16, point: 0 };
                self.recorder.pair(tag, before, after);
            }
        }
    }

    /// The same where the server reads the counter too.
    fn run_timed(
        &mut self,
        case: u16,
        rounds: u64,
        ask: impl Fn([u64; 4]) -> Result<(u64, u64, u64), Error>,
    ) {
        for round in 0..self.warm_up + rounds {
            let before = counter();
            let answer = ask([round, 1, 2, 3]);
            let after = counter();
            let Ok((sum, begin, end)) = answer else { panic!("round {round}: {answer:?}") };
            assert!(sum == round + 6, "round {round} of form {case}: {sum}");
            if let Some(round) = round.checked_sub(self.warm_up) {
                let tag = Tag { metric: CALL, case, round: round as u16, point: 0 };
                self.recorder.pair(tag, before, begin);
                self.recorder.pair(Tag { metric: REPLY, ..tag }, end, after);
            }
        }
    }
}

/// Sums by a server that reads the counter.
#[service]
pub trait TimedSums {
    /// A capability to the train, whose answer has the words of [`TimedSums::sum`].
    fn open(&mut self) -> Capability;
    /// The sum of four numbers, and the counter when the server's code began and ended.
    fn sum(&mut self, a: u64, b: u64, c: u64, d: u64) -> (u64, u64, u64);
}

struct Timed(Slot);

impl TimedSums for Timed {
    fn open(&mut self) -> Capability {
        granted(self.0)
    }

    fn sum(&mut self, a: u64, b: u64, c: u64, d: u64) -> (u64, u64, u64) {
        let begin = counter();
        let sum = sum_of([a, b, c, d]);
        (sum, begin, counter())
    }
}

impl Entry for Timed {
    type Question = [u64; 4];
    type Answer = [u64; 4];
    fn enter(_: Visitor, numbers: [u64; 4]) -> [u64; 4] {
        let begin = counter();
        let sum = sum_of(numbers);
        [sum, begin, counter(), 0]
    }
}

/// The server that reads the counter: capability `timed` (receive); memory `timed-stacks`.
pub fn timed_server(env: &Env) {
    let train = SlotPool::new(env).take();
    let stacks = env.mem("timed-stacks");
    train::export::<Timed>(env, train.slot(), stacks, 4, 0).expect("a train");
    let mut sums = Timed(train.slot());
    let server = rt::Server::new(env.cap("timed")).with_buffer(env.buffer(0));
    let why = server.run(|request| sums.dispatch(request));
    panic!("no more sums: {why:?}");
}

/// The client: capabilities `sums`, `timed`, `requests` (send), `answers` (receive), `system`;
/// memories `recording`, `queues`; arguments `rounds`, of the servers that are scheduled for
/// themselves `plain`, and `warmup`.
pub fn client(env: &Env) {
    let (sums, timed_sums) =
        (SumsClient::new(env.cap("sums")), TimedSumsClient::new(env.cap("timed")));
    let (pool, buffer) = (SlotPool::new(env), env.buffer(0));
    let slot = |received: Option<Capability>| -> OwnedSlot {
        received.and_then(Capability::into_slot).expect("the server exports a train")
    };
    let train = slot(sums.accepting(pool, buffer).open().ok());
    let timed = slot(timed_sums.accepting(pool, buffer).open().ok());
    let train = Train::<Numbers, Sum>::new(train.slot());
    let timed = Train::<[u64; 4], [u64; 4]>::new(timed.slot());
    let (requests, answers) = (env.cap("requests"), env.cap("answers"));
    let (rounds, plain) = (env.number("rounds", 3_000), env.number("plain", 3_000));
    let recorder = Recorder::open(env.mem("recording"));
    let mut series = Series { recorder, warm_up: env.number("warmup", 16) };
    let failed = |_| Error::InvalidArgument;
    series.run(TRAIN, rounds, |numbers| {
        train.call(Numbers::from(numbers), Wait::NEVER).map(|answer| answer.sum)
    });
    series.run(ENDPOINT, rounds, |[a, b, c, d]| sums.sum(a, b, c, d).map_err(failed));
    series.run(PLAIN, plain, |numbers| ask_plainly(requests, answers, numbers));
    let queues = Queues::new(env.mem("queues"));
    series.run(QUEUED, plain, |numbers| queues.ask(numbers[0] as u32, numbers));
    series.run_timed(TRAIN, rounds, |numbers| {
        let [sum, begin, end, _] = timed.call(numbers, Wait::NEVER)?;
        Ok((sum, begin, end))
    });
    series.run_timed(ENDPOINT, rounds, |[a, b, c, d]| timed_sums.sum(a, b, c, d).map_err(failed));
    series.recorder.done();
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

/// Sends a question, and receives the answer as a message of its own.
fn ask_plainly(requests: Slot, answers: Slot, numbers: [u64; 4]) -> Result<u64, Error> {
    ipc::send_short(requests, Info::new(0, 4), numbers).status.result()?;
    ipc::receive_short(answers).received().map(|answer| answer.words[0])
}

/// The server that is scheduled for itself: capabilities `requests` (receive), `answers` (send).
pub fn plain_server(env: &Env) {
    let (requests, answers) = (env.cap("requests"), env.cap("answers"));
    loop {
        let request = ipc::receive_short(requests).received().expect("a question");
        ipc::send_short(answers, Info::new(0, 1), [sum_of(request.words)])
            .status
            .result()
            .expect("it waits");
    }
}
