//! Programs that run out of time, and one that counts how often they are restarted.

use super::saboteur::used;
use abi::object::Resource;
use rt::prelude::*;
use rt::{ipc, reservation, system, time};

/// How long the programs have to come to rest.
const REST: Duration = Duration::from_millis(50);
/// How long each has until it is restarted.
const PATIENCE: Duration = Duration::from_millis(200);

/// A task whose jobs take longer behind the first ones. Arguments `period` (microseconds), `work`
/// and `long` (units of time in a job), `good` (jobs before a long one).
pub fn main(env: &Env) {
    let [work, long] = ["work", "long"].map(|name| env.number(name, 1));
    let mut ticker = Ticker::every(env.number("period", 1_000).us());
    for _ in 0..env.number("good", 1) {
        ticker.wait();
        system::work(work);
    }
    ticker.wait();
    loop {
        system::work(long);
    }
}

/// Looks that they are restarted so many times, that nothing is lost, and that no program had more
/// than its budget by that. Arguments `restarts`; of each program that is told with bit n, `budget`
/// and `period` (microseconds) with n behind them. Capabilities `told` (receive), `console`,
/// `system`; the reservations of those programs as `leaf0` and so on, and `steady`, whose jobs are
/// never late.
pub fn tally(env: &Env) {
    let (machine, console) = (env.cap("system"), env.console());
    let restarts = env.number("restarts", 20);
    time::sleep(REST);
    let (before, begun) = (used(machine), Instant::now());
    let mut counts = [0_u64; 2];
    let had = |leaf: Slot| reservation::usage(leaf).expect("it is there").service;
    let leaves = ["leaf0", "leaf1"].map(|name| env.cap(name));
    let first = leaves.map(had);
    while counts.iter().any(|count| *count < restarts) {
        let told = ipc::receive(env.cap("told"), Wait::within(PATIENCE));
        let told = told.expect("programs are restarted").badge;
        for (nth, count) in counts.iter_mut().enumerate() {
            *count += told >> nth & 1;
        }
    }
    let elapsed = begun.elapsed().as_nanos() as u64;
    for (nth, (leaf, first)) in leaves.into_iter().zip(first).enumerate() {
        let number = |names: [&str; 2]| 1_000 * env.number(names[nth], 1);
        let [budget, period] = [number(["budget0", "budget1"]), number(["period0", "period1"])];
        let (had, periods) = (had(leaf) - first, elapsed / period + 2);
        assert!(had <= periods * budget, "{had} ns in {periods} periods of {budget} ns each");
    }
    let steady = reservation::usage(env.cap("steady")).expect("it is there").jobs;
    assert!(steady.ended > 0 && steady.missed == 0, "another task is late: {steady:?}");
    let after = used(machine);
    for (resource, (before, after)) in Resource::ALL.iter().zip(before.iter().zip(after)) {
        assert!(*before == after, "{}: {before} before, {after} after", resource.name());
    }
    let [one, other] = counts;
    println!(console, "restarted {one} and {other} times; what is in use is as before");
    let _ = system::shutdown(machine, 0);
}
