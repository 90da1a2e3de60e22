//! A monitor: it waits until a reservation misses a deadline or uses up its budget, and says which
//! one, the job, and by how much. Capabilities `events`, the notification that is signalled then,
//! `console`, and the reservations that it knows. Argument `most`: lines that it writes at most;
//! `budget` and `period`: what a reservation has from its first late job on, in microseconds, where
//! its capability has the right `control`.

use core::time::Duration;
use rt::abi::control::Change;
use rt::abi::reservation::Server;
use rt::monitor::{Report, Watched};
use rt::prelude::*;
use rt::{Error, Kind, Slot, Wait, cap, ipc, reservation, sched};

/// Reservations that it can tell apart.
const MOST: usize = 16;

/// Says what happens, for as long as the system runs.
pub fn main(env: &Env) {
    let (console, events) = (env.console(), env.cap("events"));
    let mut left = env.number("most", 16);
    let [mut budget, period] = ["budget", "period"].map(|name| env.number(name, 0));
    let mut all: [Option<(&str, Watched)>; MOST] = [None; MOST];
    for (known, cap) in all.iter_mut().zip(env.caps().filter(is_reservation)) {
        *known = Watched::new(cap.1).ok().map(|watched| (cap.0, watched));
    }
    while left > 0 {
        if ipc::receive(events, Wait::NEVER).is_err() {
            return println!(console, "{}: there is nothing to wait for", env.name());
        }
        for (name, watched) in all.iter_mut().flatten() {
            let Ok(report) = watched.report() else { continue };
            let Report { missed, overran, job } = report;
            if missed > 0 && left > 0 {
                let (job, late) = (job.number, job.late / 1_000);
                println!(console, "{name}: job {job} is late, by {late} us by now");
                left -= 1;
            }
            if overran > 0 && left > 0 {
                println!(console, "{name}: has used its budget up in job {}", job.number);
                left -= 1;
            }
            if missed > 0 && budget > 0 && relieve(watched.slot(), budget, period).is_ok() {
                println!(console, "{name}: has {budget} us of {period} us from now on");
                budget = 0;
            }
        }
    }
}

/// Gives a reservation this budget, in microseconds.
fn relieve(slot: Slot, budget: u64, period: u64) -> Result<(), Error> {
    let [budget, period] = [budget, period].map(Duration::from_micros);
    let budget = Some(reservation::budget(Server::Sporadic, budget, period));
    sched::set(Change::Budget { slot: slot.0, budget })
}

fn is_reservation((_, slot): &(&str, Slot)) -> bool {
    cap::inspect(*slot).is_ok_and(|held| held.kind == Kind::Reservation)
}
