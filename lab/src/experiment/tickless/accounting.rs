//! To whom CPU time is charged: by the kernel, where the CPU changes hands, and by ticks, each of
//! which charges all since the one before to the thread that it finds running.

use crate::accounts::{Accounts, Bounds};
use crate::experiment::Boots;
use crate::experiment::traced::{ROOM, traced_to_any_end};
use abi::trace::Keep;
use anyhow::{Context, Result, ensure};
use manifest::System;
use std::ops::Range;
use trace::{Lives, State};

/// Tasks with jobs shorter than a tick beside two that never wait.
pub const SYSTEM: &str = "mixed-criticality";
/// From one tick to the next, in nanoseconds.
const TICK: u64 = 1_000_000;

/// How much CPU time either way charges to another than the one that had it, in millionths.
#[derive(Debug, PartialEq, Eq)]
pub struct Misattributed {
    /// Where the CPU changes hands.
    pub at_switches: u64,
    /// By ticks.
    pub by_ticks: u64,
}

/// Runs the system and compares both with the switches in its trace.
pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Misattributed> {
    let (mut memory, mut loaded) = (None, None);
    let traced = traced_to_any_end(setup, SYSTEM, kernel, (ROOM, Keep::First), &mut |system| {
        memory = system.add_accounts();
        loaded = Some(system.clone());
    })?;
    let system: System = loaded.context("the system was not loaded")?;
    let accounts = Accounts::told(&traced.outcome, &system, memory.as_ref(), &Bounds::default());
    let lives = Lives::of(&traced.traces.all, &traced.names);
    let mut charged = Vec::new();
    for domain in &system.domains {
        let node = domain.reservation.map(|node| system.reservations[node].name.as_str());
        let Some(account) = node.and_then(|node| accounts.of(node)) else { continue };
        let is_own = |life: &&trace::Life| {
            life.domain.is_some_and(|it| traced.names.domain(it) == domain.name)
        };
        let stretches = lives.all.iter().filter(is_own).flat_map(|life| &life.stretches);
        let ran = stretches.filter(|one| one.state == State::Running).map(|one| one.from..one.to);
        charged.push((account.service_ns, ran.collect()));
    }
    ensure!(charged.len() > 1, "{SYSTEM} has left no accounts");
    Ok(compare(&charged))
}

/// Compares what threads were charged with when they ran.
fn compare(charged: &[(u64, Vec<Range<u64>>)]) -> Misattributed {
    let (mut all, mut at_switches, mut by_ticks) = (0, 0, 0);
    for (service, ran) in charged {
        let had: u64 = ran.iter().map(|one| one.end - one.start).sum();
        let ticks = |one: &Range<u64>| one.end.div_ceil(TICK) - one.start.div_ceil(TICK);
        let sampled = TICK * ran.iter().map(ticks).sum::<u64>();
        all += had;
        at_switches += service.abs_diff(had);
        by_ticks += sampled.abs_diff(had);
    }
    let millionths = |part: u64| (u128::from(part) * 1_000_000 / u128::from(all.max(1))) as u64;
    Misattributed { at_switches: millionths(at_switches), by_ticks: millionths(by_ticks) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_runs_between_two_ticks_is_not_seen_by_them() {
        // One runs from just after each tick for 400 us, the other the rest of the time.
        let short: Vec<_> = (0..100).map(|at| at * TICK + 1..at * TICK + 400_001).collect();
        let long: Vec<_> = (0..100).map(|at| at * TICK + 400_001..(at + 1) * TICK + 1).collect();
        let exact = [(40_000_000, short), (60_000_000, long)];
        assert_eq!(compare(&exact), Misattributed { at_switches: 0, by_ticks: 800_000 });
        let [(_, short), (_, long)] = exact;
        let off = [(39_000_000, short), (61_000_000, long)];
        assert_eq!(compare(&off).at_switches, 20_000);
    }

    #[test]
    fn who_runs_for_whole_ticks_is_charged_alike() {
        let once = |from: u64, to: u64| -> Vec<Range<u64>> {
            std::iter::once(TICK * from..TICK * to).collect()
        };
        let of = |from, to| (TICK * (to - from), once(from, to));
        let whole = [of(0, 10), of(10, 15)];
        assert_eq!(compare(&whole), Misattributed { at_switches: 0, by_ticks: 0 });
    }
}
