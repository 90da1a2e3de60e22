//! Programs that show how exactly budgets are enforced: spinners, and a meter of what they had.

use crate::latency::Clock;
use abi::results::Tag;
use rt::arch::counter;
use rt::prelude::*;
use rt::{Kind, Recorder, cap, reservation, system, thread};

/// Metrics of the recording: the CPU time of a reservation since boot, in nanoseconds, and how late
/// the meter woke.
const HAD: u16 = 1;
const LATE: u16 = 2;

/// Computes for ever, in the kernel too if `calls` is 1: it reads the clock and yields.
pub fn spinner(env: &Env) {
    let calls = env.number("calls", 0) == 1;
    loop {
        if calls {
            for _ in 0..8 {
                system::clock();
            }
            thread::yield_now().expect("nothing forbids it");
        }
        system::work(100);
    }
}

/// Reads in the middle of each of `periods` periods of `period` microseconds what the reservations
/// among its capabilities have had, in their order, and ends the run. The spinners must have used
/// up their budgets by then. Capability `system`; memory `recording`.
pub fn meter(env: &Env) {
    let (period, periods) = (env.number("period", 10_000) * 1_000, env.number("periods", 30));
    let (clock, begin) = (Clock::ask(), system::clock());
    let mut recorder = Recorder::open(env.mem("recording"));
    let is_reservation = |(_, slot): &(&str, _)| {
        cap::inspect(*slot).is_ok_and(|held| held.kind == Kind::Reservation)
    };
    for round in 0..periods {
        let due = begin + round * period + period / 2;
        system::sleep_until(due);
        let now = counter();
        let tag = Tag { metric: LATE, case: 0, round: round as u16, point: 0 };
        recorder.pair(tag, clock.counter_at(due), now);
        for (case, (_, slot)) in env.caps().filter(is_reservation).enumerate() {
            let had = reservation::usage(slot).expect("it is a reservation").service;
            recorder.pair(Tag { metric: HAD, case: case as u16, ..tag }, 0, had);
        }
    }
    recorder.done();
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}
