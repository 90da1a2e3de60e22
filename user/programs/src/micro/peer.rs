//! The other side of the operations that cross domains.

use super::{Log, Metric, STOP};
use abi::call::fault::CONTINUE;
use abi::results::Tag;
use rt::arch::{self, Outcome, counter};
use rt::{Env, Info, Message, Slot, Wait, ipc};

/// The peer: capabilities `send-up`, `up`, `faults` (receive all); memory `peer-recording`.
pub fn main(env: &Env) {
    let mut log = Log::open(env, "peer-recording");
    let requests = env.cap("send-up");
    arrivals(&mut log, Metric::SendHigher, requests);
    arrivals(&mut log, Metric::NotifyHigher, env.cap("up"));
    let stop = faults(&mut log, env.cap("faults"), requests).received().expect("a last message");
    assert!(stop.info.label() == STOP, "label {} instead of the end", stop.info.label());
    log.recorder.done();
    ipc::reply(Message::empty(STOP)).expect("micro waits");
}

/// Notes when each message or signal arrives.
fn arrivals(log: &mut Log, metric: Metric, from: Slot) {
    for round in log.rounds() {
        let outcome = ipc::receive_short(from);
        let after = counter();
        outcome.received().expect("an arrival");
        log.point(metric, round, Tag::AFTER, after);
    }
}

/// Lets a thread go on after each of its faults: in the first half with a record of when the
/// fault arrived and when it was answered, in the second as fast as can be. Then waits on
/// `requests`.
fn faults(log: &mut Log, faults: Slot, requests: Slot) -> Outcome {
    let mut outcome = ipc::receive(faults, Wait::NEVER).map(|fault| fault.words[1]);
    let mut after = counter();
    for round in log.rounds() {
        let next = outcome.expect("a fault") + arch::UNDEFINED_BYTES;
        let before = counter();
        let answered = ipc::reply_wait_short(faults, Info::new(CONTINUE, 1), [next]);
        let arrived = counter();
        log.point(Metric::FaultDeliver, round, Tag::AFTER, after);
        log.point(Metric::FaultResume, round, Tag::BEFORE, before);
        outcome = answered.received().map(|fault| fault.words[1]);
        after = arrived;
    }
    let rounds = log.rounds().end;
    for round in 1..=rounds {
        let next = outcome.expect("a fault") + arch::UNDEFINED_BYTES;
        let from = if round < rounds { faults } else { requests };
        let answered = ipc::reply_wait_short(from, Info::new(CONTINUE, 1), [next]);
        if round == rounds {
            return answered;
        }
        outcome = answered.received().map(|fault| fault.words[1]);
    }
    unreachable!("at least one round")
}
