//! A task of a control system: a job at each release, whose response times it watches. Arguments
//! `period` and `deadline` (microseconds), `work` (units of time in each job) and `jobs`; `from`
//! (microseconds since boot) for the first release, and `all` 1 for jobs also at releases that are
//! past when the one before ends. Capabilities `console`, and `system` for the one whose last job
//! ends the run. What reservations have had that it holds capabilities to is told at the end.

use rt::prelude::*;
use rt::{Kind, cap, reservation, system, time};

/// Does its jobs, and says how long the worst took from release to end.
pub fn main(env: &Env) {
    let (period, jobs) = (env.number("period", 5_000), env.number("jobs", 200));
    let deadline = env.number("deadline", period).us();
    let work = env.number("work", 100_000);
    let all = env.number("all", 0) == 1;
    let mut ticker = match env.number("from", 0) {
        0 => Ticker::every(period.us()),
        from => Ticker::starting(Instant::BOOT + from.us(), period.us()),
    };
    let (mut worst, mut late) = (Duration::ZERO, 0);
    for _ in 0..jobs {
        let release = ticker.due();
        if all {
            time::sleep_until(ticker.pass());
        } else {
            late += ticker.wait();
        }
        system::work(work);
        let response = release.elapsed();
        worst = worst.max(response);
        late += u64::from(response > deadline);
    }
    let (console, name) = (env.console(), env.name());
    let (worst, of) = (worst.as_micros(), deadline.as_micros());
    println!(console, "{name}: {jobs} jobs, {late} late, worst response {worst} us of {of} us");
    let Some(machine) = env.find_cap("system") else { return };
    for (name, slot) in env.caps() {
        let is_reservation = cap::inspect(slot).is_ok_and(|held| held.kind == Kind::Reservation);
        if let (true, Ok(usage)) = (is_reservation, reservation::usage(slot)) {
            let (had, overruns) = (usage.service / 1_000, usage.overruns);
            println!(console, "{name}: had {had} us, budget exhausted {overruns} times");
        }
    }
    system::shutdown(machine, u64::from(late > 0)).expect("the run ends");
}
