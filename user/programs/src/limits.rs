//! Programs that show how exactly budgets are enforced: spinners, and a meter of what they had.

use crate::latency::Clock;
use abi::reservation::{Budget, Server};
use abi::results::Tag;
use rt::arch::counter;
use rt::prelude::*;
use rt::{Kind, Recorder, Slot, cap, reservation, system, thread};

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

/// Gives each reservation among its capabilities the limit that the argument of its name says (a
/// server and microseconds of budget, in each `period` microseconds), reads in the middle of each
/// of `periods` periods what it has had since, and ends the run. The spinners must have used up
/// their budgets by then. Capability `system`; memory `recording`.
pub fn meter(env: &Env) {
    let (period, periods) = (env.number("period", 10_000), env.number("periods", 30));
    let had = |slot| reservation::usage(slot).expect("it is a reservation").service;
    let is_reservation = |(_, slot): &(&str, Slot)| {
        cap::inspect(*slot).is_ok_and(|held| held.kind == Kind::Reservation)
    };
    let mut before = [(Slot::NONE, 0); 8];
    let mut count = 0;
    for (name, slot) in env.caps().filter(is_reservation) {
        let limit = limit(env.arg(name).unwrap_or_default(), period.us());
        reservation::set_budget(slot, Some(limit)).expect("it may change it");
        (before[count], count) = ((slot, had(slot)), count + 1);
    }
    let (clock, begin, period) = (Clock::ask(), system::clock(), period * 1_000);
    let mut recorder = Recorder::open(env.mem("recording"));
    for round in 0..periods {
        let due = begin + round * period + period / 2;
        system::sleep_until(due);
        let now = counter();
        let tag = Tag { metric: LATE, case: 0, round: round as u16, point: 0 };
        recorder.pair(tag, clock.counter_at(due), now);
        for (case, (slot, before)) in before[..count].iter().enumerate() {
            recorder.pair(Tag { metric: HAD, case: case as u16, ..tag }, *before, had(*slot));
        }
    }
    recorder.done();
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

/// A limit in words: `periodic 500`.
fn limit(words: &str, period: Duration) -> Budget {
    let (server, budget) = words.split_once(' ').unwrap_or_default();
    let server = match server {
        "periodic" => Server::Periodic,
        "constant" => Server::Constant,
        "sporadic" => Server::Sporadic,
        other => panic!("there is no server `{other}`"),
    };
    let Ok(budget) = budget.parse::<u64>() else { panic!("`{words}` has no budget") };
    reservation::budget(server, budget.us(), period)
}
