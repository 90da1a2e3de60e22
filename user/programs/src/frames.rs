//! Programs of a major time frame (S2D-07, S2D-08): tasks in windows, a handler of events, and a
//! dispatcher that moves the handler to another partition while it has something to do.
//!
//! All of them know the frame, which begins at multiples of its length since boot, and the same
//! first frame to record, so that none has to tell another.

use crate::latency::Clock;
use abi::results::Tag;
use rt::arch::counter;
use rt::prelude::*;
use rt::{Recorder, Slot, ipc, reservation, signal, system, time};

/// Metrics of the recordings: from the beginning of a window to a task's first instruction and to
/// the end of its work; from an event to the handler.
const START: u16 = 1;
const RESPONSE: u16 = 2;
const EVENT: u16 = 3;

/// The frames that are recorded.
struct Frames {
    length: u64,
    /// When the first one begins.
    first: u64,
    count: u64,
}

impl Frames {
    /// Arguments `frame` and `begin` (nanoseconds; the first frame is the one that begins then or
    /// next) and `frames`.
    fn of(env: &Env) -> Frames {
        let length = env.number("frame", 10_000_000);
        let first = env.number("begin", 0).next_multiple_of(length);
        Frames { length, first, count: env.number("frames", 16) }
    }

    /// The instant of the event of a frame: over all frames they come evenly in all parts of it
    /// (multiples of the golden section), and far from each other one after the other.
    fn event(&self, round: u64) -> u64 {
        const WHOLE: u64 = 1_000_000;
        let phase = (250_000 + 618_034 * round) % WHOLE;
        self.first + round * self.length + self.length * phase / WHOLE
    }
}

/// A task that is released before its window, and works in it for `work` units of time. Arguments
/// of [`Frames`] and `offset` (nanoseconds); in the first frame to record it goes on for ever if
/// `overruns` is 1. A memory of the domain's name for the recording.
pub fn task(env: &Env) {
    let (frames, clock) = (Frames::of(env), Clock::ask());
    let (offset, work) = (env.number("offset", 0), env.number("work", 1_000_000));
    let overruns = env.number("overruns", 0) == 1;
    let mut recorder = Recorder::open(env.mem(env.name()));
    for round in 0..frames.count {
        let window = frames.first + round * frames.length + offset;
        time::sleep_until(Instant::from_nanos(window - frames.length / 32));
        let begun = counter();
        if overruns {
            loop {
                system::work(work);
            }
        }
        system::work(work);
        let ended = counter();
        let begin = clock.counter_at(window);
        let tag = Tag { metric: START, case: 0, round: round as u16, point: 0 };
        recorder.pair(tag, begin, begun);
        recorder.pair(Tag { metric: RESPONSE, ..tag }, begin, ended);
    }
    recorder.done();
    system::sleep_until(u64::MAX);
}

/// Handles an event in each frame: by its own timeouts, or if `signalled` is 1 by the dispatcher's
/// signals. Arguments of [`Frames`]; with 0 `events` it sleeps. Capability `bell` (receive); a
/// memory of the domain's name for the recording.
pub fn handler(env: &Env) {
    let (frames, clock) = (Frames::of(env), Clock::ask());
    let signalled = env.number("signalled", 0) == 1;
    let mut recorder = Recorder::open(env.mem(env.name()));
    let events = if env.number("events", 1) == 0 { 0 } else { frames.count };
    for round in 0..events {
        let event = frames.event(round);
        if signalled {
            ipc::receive_short(env.cap("bell")).status.result().expect("the dispatcher's signal");
        } else {
            system::sleep_until(event);
        }
        let now = counter();
        let tag = Tag { metric: EVENT, case: 0, round: round as u16, point: 0 };
        recorder.pair(tag, clock.counter_at(event), now);
    }
    recorder.done();
    system::sleep_until(u64::MAX);
}

/// At each event has the handler's thread run on `busy`, signals it, and when it waits again has it
/// run on `parked`. Arguments of [`Frames`]; with 0 `events` it sleeps. Capabilities `handler` (a
/// thread), `busy` and `parked` (reservations, `reserve`), `bell` (signal).
pub fn dispatcher(env: &Env) {
    let frames = Frames::of(env);
    let events = if env.number("events", 0) == 0 { 0 } else { frames.count };
    let run_on = |leaf: Slot| {
        reservation::run_on(env.cap("handler"), leaf).expect("it may move the handler");
    };
    for round in 0..events {
        system::sleep_until(frames.event(round));
        run_on(env.cap("busy"));
        signal::signal(env.cap("bell")).expect("the handler's bell");
        // The handler's event is over long before.
        time::sleep((frames.length / 64).ns());
        run_on(env.cap("parked"));
    }
    system::sleep_until(u64::MAX);
}
