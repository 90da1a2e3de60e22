//! How long a restart takes: victims that stamp their last and their first instant, and a program
//! that tells them when to fail and records the stamps.

use super::Order;
use crate::latency::unleash;
use crate::random::Random;
use abi::results::Tag;
use rt::arch::{self, counter};
use rt::prelude::*;
use rt::{Recorder, Words, ipc, system, time};

/// Words of a victim.
const WORDS: usize = 8;
/// Its words: the order, its last instant, its first one.
const ORDER: usize = 0;
const LAST: usize = 1;
const FIRST: usize = 2;
/// The metric, and its cases: which victim fails in which way.
const METRIC: u16 = 1;
const CASES: [(usize, Order); 4] =
    [(0, Order::Fault), (0, Order::Panic), (1, Order::Fault), (3, Order::Fault)];
/// How long a victim has to come back.
const PATIENCE: Duration = Duration::from_millis(20);
/// The least distance of two failures of a victim, which its window allows.
const PAUSE: Duration = Duration::from_micros(200);

fn words_of(env: &Env, place: usize) -> Words {
    env.mem("stamps").part(place * WORDS, WORDS)
}

/// A victim: memory `stamps`; arguments `place` and `seed`.
pub fn main(env: &Env) {
    let begun = counter();
    let stamps = words_of(env, env.number("place", 0) as usize);
    stamps.set(FIRST, begun);
    let mut random = Random::new(env.number("seed", 1) ^ begun);
    loop {
        // Anywhere between two ticks.
        time::sleep(random.below(50_000).ns());
        let order = stamps.get(ORDER);
        if order == 0 {
            continue;
        }
        stamps.set(ORDER, 0);
        stamps.set(LAST, counter());
        match order == Order::Fault as u64 {
            true => arch::undefined(),
            false => panic!("as ordered"),
        }
    }
}

/// The recorder: capabilities `restarted` (receive), `console`, `system`; memory `stamps`,
/// `recording`; argument `samples`. With what [`unleash`] wants the restarts are under load.
pub fn record(env: &Env) {
    if env.find_cap("go-messages").is_some() {
        unleash(env);
    }
    let mut recorder = Recorder::open(env.mem("recording"));
    let restarted = env.cap("restarted");
    for (case, (victim, order)) in (0..).zip(CASES) {
        let stamps = words_of(env, victim);
        for round in 0..env.number("samples", 200) as u16 {
            time::sleep(PAUSE);
            stamps.set(FIRST, 0);
            stamps.set(ORDER, order as u64);
            let mut told = 0;
            while told >> victim & 1 == 0 {
                let received = ipc::receive(restarted, Wait::within(PATIENCE));
                told = received.expect("the victim is restarted").badge;
            }
            // It is told before the victim runs, which comes first all the same: it is higher.
            let (last, first) = (stamps.get(LAST), stamps.get(FIRST));
            assert!(first > last, "the victim has not begun again");
            let tag = Tag { metric: METRIC, case, round, point: Tag::BEFORE };
            recorder.pair(tag, last, first);
        }
    }
    recorder.done();
    let _ = system::shutdown(env.cap("system"), 0);
}
