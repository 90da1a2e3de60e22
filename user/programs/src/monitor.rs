//! A monitor: it waits until a reservation misses a deadline or uses up its budget, and says which
//! one, the job, and by how much. Capabilities `events`, the notification that is signalled then,
//! `console`, and the reservations that it knows. Argument `most`: lines that it writes at most.

use rt::prelude::*;
use rt::reservation::Usage;
use rt::{Kind, Slot, Wait, cap, ipc, reservation};

/// Reservations that it can tell apart.
const MOST: usize = 16;

/// Says what happens, for as long as the system runs.
pub fn main(env: &Env) {
    let (console, events) = (env.console(), env.cap("events"));
    let mut left = env.number("most", 16);
    let mut before = [(0, 0); MOST];
    while left > 0 {
        if ipc::receive(events, Wait::NEVER).is_err() {
            return println!(console, "{}: there is nothing to wait for", env.name());
        }
        let known = env.caps().filter(is_reservation);
        for ((name, slot), before) in known.zip(&mut before) {
            let Ok(Usage { overruns, jobs, .. }) = reservation::usage(slot) else { continue };
            if jobs.missed > before.0 && left > 0 {
                let (job, late) = (jobs.ended + 1, jobs.latest / 1_000);
                println!(console, "{name}: job {job} is late; the latest was by {late} us");
                left -= 1;
            }
            if overruns > before.1 && left > 0 {
                println!(console, "{name}: used its budget up, {overruns} times by now");
                left -= 1;
            }
            *before = (jobs.missed, overruns);
        }
    }
}

fn is_reservation((_, slot): &(&str, Slot)) -> bool {
    cap::inspect(*slot).is_ok_and(|held| held.kind == Kind::Reservation)
}
