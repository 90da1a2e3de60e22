//! A domain that may not use a CPU has all rights to reservations there, and changes nothing of
//! them, nor does its interrupt come there: no such call interrupts that CPU. Nor does that of a
//! domain that may use all CPUs, and whose reservation is of one.

use rt::abi::Error;
use rt::abi::reservation::{Policy, Server, Share};
use rt::prelude::*;
use rt::{Words, reservation, signal, system, time};

/// How long the CPU is watched, in pieces of work.
const PIECES: u64 = 20_000;
const PIECE: u64 = 1_000;
/// A piece that takes this long was interrupted.
const LONG: u64 = 3 * PIECE / 2;
/// Interrupts that may come, whatever for.
const FEW: u64 = 2;

/// Words of the memory `calls`.
const MADE: usize = 0;
const ALLOWED: usize = 1;
const BOUND: usize = 2;

/// Memory `calls`. Argument `watches`: capabilities `console` and `system`, and the run's status is
/// 1 if the CPU was interrupted or a call was not refused; 2: capability `own`, an interrupt. Else
/// capabilities `leaf`, `class` and `shared`, all of CPUs that the domain may not use, and `line`,
/// an interrupt.
pub fn main(env: &Env) {
    let calls = env.mem("calls");
    match env.number("watches", 0) {
        0 => disturb(env, calls),
        2 => {
            let routed = [0, 1].map(|cpu| signal::route(env.cap("own"), cpu));
            calls.set(BOUND, u64::from(routed == [Err(Error::CpuNotAllowed), Ok(())]));
        }
        _ => watch(env, calls),
    }
}

fn watch(env: &Env, calls: Words) {
    while calls.get(MADE) == 0 {
        time::sleep(100.us());
    }
    let (mut interrupts, made) = (0, calls.get(MADE));
    for _ in 0..PIECES {
        let begin = system::clock();
        system::work(PIECE);
        interrupts += u64::from(system::clock() - begin > LONG);
    }
    let (made, allowed) = (calls.get(MADE) - made, calls.get(ALLOWED));
    println!(env.console(), "{made} calls, {allowed} not refused, {interrupts} interrupts");
    let bound = calls.get(BOUND) == 1;
    let holds = made > 0 && allowed == 0 && interrupts <= FEW && bound;
    system::shutdown(env.cap("system"), u64::from(!holds)).expect("the run ends");
}

/// Each call that changes a reservation, for ever.
fn disturb(env: &Env, calls: Words) {
    let mut slots = env.slots();
    let [bell, new] = [slots.fresh(), slots.fresh()];
    signal::create_notification(bell).expect("the quota has one");
    let [leaf, class, shared, line] = ["leaf", "class", "shared", "line"].map(|name| env.cap(name));
    let soon = |us: u64| Duration::from_micros(2_000 + us % 1_000);
    for round in 0.. {
        let budget = reservation::budget(Server::Constant, soon(round) / 2, soon(round));
        let results = [
            reservation::set_share(leaf, Share::Priority(round as u16 % 2)),
            reservation::set_budget(leaf, Some(budget)),
            reservation::set_timing(leaf, Some((soon(round), soon(round)))),
            reservation::set_monitor(leaf, bell, 1, 1),
            reservation::set_background(leaf, true, round % 2 == 0),
            reservation::set_windows(class, &[]),
            reservation::create_leaf(new, class, Share::Partition { number: 3, priority: 0 }),
            reservation::create_class(new, class, Policy::FixedPriority, Share::Priority(0)),
            reservation::join(leaf, class, Share::Priority(0)),
            reservation::set_budget(shared, Some(budget)),
            signal::route(line, 0),
        ];
        let allowed = results.iter().filter(|result| **result != Err(Error::CpuNotAllowed));
        calls.set(ALLOWED, calls.get(ALLOWED) + allowed.count() as u64);
        calls.set(MADE, calls.get(MADE) + results.len() as u64);
        system::work(100);
    }
}
