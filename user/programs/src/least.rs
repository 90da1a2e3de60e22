//! What the kernel takes of a budget: programs that count what they execute, and a meter that holds
//! it against what they were charged.

use abi::results::Tag;
use rt::arch::counter;
use rt::prelude::*;
use rt::{Kind, Recorder, cap, reservation, system, time};

/// Metric of the recording: from the time that a program has executed to what it was charged.
const TAKEN: u16 = 1;
/// Words of memory `work` that a program has: how often it went round, and what that takes.
const EACH: usize = 2;
const PIECE: u64 = 100;
const SAMPLES: u64 = 200;

/// Computes for ever, and counts the rounds, at argument `place` of memory `work`.
pub fn worker(env: &Env) {
    let (words, at) = (env.mem("work"), EACH * env.number("place", 0) as usize);
    let round = || {
        system::work(PIECE);
        words.add(at, 1);
    };
    let timed = |_| {
        let before = counter();
        round();
        round();
        counter() - before
    };
    // Two rounds and a reading of the counter, less one round and a reading.
    let single = |_| {
        let before = counter();
        round();
        counter() - before
    };
    let shortest = |samples: &dyn Fn(u64) -> u64| (0..SAMPLES).map(samples).min().unwrap_or(0);
    words.set(at + 1, shortest(&timed) - shortest(&single));
    loop {
        round();
    }
}

/// After `after` milliseconds, records for each reservation among its capabilities what its program
/// executes and is charged in `span` milliseconds, and ends the run. Capability `system`; memories
/// `work`, `recording`.
pub fn meter(env: &Env) {
    let words = env.mem("work");
    let is_reservation = |(_, slot): &(&str, Slot)| {
        cap::inspect(*slot).is_ok_and(|held| held.kind == Kind::Reservation)
    };
    let seen = |at: usize, slot: Slot| {
        let executed = words.get(EACH * at) * words.get(EACH * at + 1);
        (executed, reservation::usage(slot).expect("it is a reservation").service)
    };
    time::sleep(env.number("after", 100).ms());
    let mut before = [(0, 0); 8];
    for (at, (_, slot)) in env.caps().filter(is_reservation).enumerate() {
        before[at] = seen(at, slot);
    }
    time::sleep(env.number("span", 300).ms());
    let mut recorder = Recorder::open(env.mem("recording"));
    for (at, (_, slot)) in env.caps().filter(is_reservation).enumerate() {
        let tag = Tag { metric: TAKEN, case: at as u16, round: 0, point: 0 };
        let (now, then) = (seen(at, slot), before[at]);
        recorder.pair(tag, now.0 - then.0, now.1 - then.1);
    }
    recorder.done();
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}
