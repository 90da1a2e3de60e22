//! The budget controller: at the releases of servers it looks at what they have used and lacked,
//! decides by [`policies::adaptive`], and sets budgets.

use super::log::Log;
use super::server::Servers;
use rt::prelude::*;
use rt::{Kind, cap, reservation, system, time};

/// Controls the reservations that its manifest calls adaptive and for which it has `control`; each
/// may have a memory of its capability's name, where its tasks report. Memory `decisions`: a log.
/// Arguments `from` (microseconds since boot, when it begins), `milliseconds` (how long it does,
/// 0: for ever) and `control` (`false`: it changes nothing). With capability `system` it ends the
/// run, with a line `had` for each reservation that it holds.
pub fn controller(env: &Env) {
    let begin = Instant::BOOT + env.number("from", 50_000).us();
    let end = match env.number("milliseconds", 0) {
        0 => Instant::from_nanos(u64::MAX),
        milliseconds => begin + milliseconds.ms(),
    };
    time::sleep_until(begin);
    let mut log = Log::of(env);
    let mut servers = match env.arg("control") {
        Some("false") => Servers::NONE,
        _ => Servers::begin(env, begin),
    };
    while let Some(next) = servers.next().filter(|next| *next < end) {
        time::sleep_until(next);
        servers.adapt(next, &mut log);
    }
    time::sleep_until(end);
    let Some(machine) = env.find_cap("system") else { return };
    tell(env);
    system::shutdown(machine, 0).expect("the run ends");
}

/// What each reservation has had, microseconds of CPU time and jobs.
fn tell(env: &Env) {
    let console = env.console();
    for (name, slot) in env.caps() {
        let is_reservation = cap::inspect(slot).is_ok_and(|held| held.kind == Kind::Reservation);
        if let (true, Ok(usage)) = (is_reservation, reservation::usage(slot)) {
            let (had, jobs) = (usage.service / 1_000, usage.jobs);
            println!(console, "had {name} {had} {} {}", jobs.ended, jobs.missed);
        }
    }
}
