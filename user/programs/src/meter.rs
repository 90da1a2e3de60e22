//! Programs that watch service curves: one reads what reservations have had at given instants, one
//! answers packets that come at a distance.

use rt::prelude::*;
use rt::{Kind, cap, reservation, system, time};

/// Readings that a meter keeps.
const READINGS: usize = 192;
/// Packets whose delays are kept.
const PACKETS: usize = 256;

/// Reads what the reservations among its capabilities have had at each of the instants `at`,
/// milliseconds from its start in ascending order, and ends the run with a line `had` for each: the
/// instant, the reservation, microseconds of CPU time. Capabilities `console` and `system`.
pub fn meter(env: &Env) {
    let begin = Instant::now();
    let mut readings = [(0, "", 0); READINGS];
    let mut count = 0;
    for at in env.arg("at").unwrap_or_default().split_whitespace() {
        let Ok(milliseconds) = at.parse::<u64>() else { panic!("`at`: {at} is no number") };
        time::sleep_until(begin + milliseconds.ms());
        for (name, slot) in env.caps().filter(is_reservation) {
            let Some(reading) = readings.get_mut(count) else { panic!("too many readings") };
            let had = reservation::usage(slot).expect("it is a reservation").service;
            (*reading, count) = ((milliseconds, name, had / 1_000), count + 1);
        }
    }
    let console = env.console();
    for (at, name, had) in &readings[..count] {
        println!(console, "had {at} {name} {had}");
    }
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

fn is_reservation((_, slot): &(&str, Slot)) -> bool {
    cap::inspect(*slot).is_ok_and(|held| held.kind == Kind::Reservation)
}

/// Works `work` units of time for each of `packets` packets, which come every `period`
/// milliseconds, and ends the run with a line `delay` for each: microseconds from the packet to the
/// end of its work. Capabilities `console` and `system`.
pub fn responder(env: &Env) {
    let (period, work) = (env.number("period", 3_000), env.number("work", 30_000_000));
    let packets = env.number("packets", 100) as usize;
    let mut delays = [0; PACKETS];
    assert!(packets <= PACKETS, "`packets` is {PACKETS} at most");
    let mut ticker = Ticker::every(period.ms());
    for delay in &mut delays[..packets] {
        let packet = ticker.due();
        ticker.wait();
        system::work(work);
        *delay = packet.elapsed().as_micros();
    }
    let console = env.console();
    for delay in &delays[..packets] {
        println!(console, "delay {delay}");
    }
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}
