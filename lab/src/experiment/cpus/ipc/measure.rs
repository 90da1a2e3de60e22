use super::super::{boot, cross};
use super::{CALL_REPLY, MIGRATE, NOTIFY};
use crate::experiment::measured::{fact, round_trips, spans};
use crate::experiment::{Emulated, Measured};
use crate::image::Locking;
use crate::machine::Outcome;
use anyhow::{Context, Result};
use manifest::System;
use std::collections::BTreeMap;

/// The metrics of the program `cross` with their numbers and cases.
const OF_CROSS: [(u16, &str, [&str; 2]); 2] =
    [(1, NOTIFY, ["same CPU", "two CPUs"]), (2, MIGRATE, ["caller", "waiting"])];
/// The system whose domains call each other.
const SYSTEM: &str = "ping-across";
/// The cases of the programs that are used.
const WORDS: [(u16, &str); 3] = [(0, "words=0"), (1, "words=4"), (5, "words=64")];

pub fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let on = |cpu: u32| {
        move |system: &mut System| {
            let server = system.domains.iter_mut().filter(|domain| domain.name == "server");
            server.for_each(|domain| domain.cpu = cpu);
        }
    };
    let one = |locking: Locking| setup.boot_with(locking, SYSTEM, kernel, &mut |_| {});
    let free = call_reply(&mut measured, "1 CPU, no lock", kernel, &one(Locking::None)?)?;
    let big = call_reply(&mut measured, "1 CPU, big lock", kernel, &one(Locking::Big)?)?;
    for (cpu, place) in [(0, "same CPU"), (1, "two CPUs")] {
        let outcome = boot(setup, SYSTEM, kernel, &mut on(cpu))?;
        call_reply(&mut measured, place, kernel, &outcome)?;
    }
    let fine = call_reply(&mut measured, "1 CPU, fine locks", kernel, &one(Locking::Fine)?)?;
    let elided = one(Locking::Elided)?;
    let elided = call_reply(&mut measured, "1 CPU, elided lock", kernel, &elided)?;
    let bare = &one(Locking::Unguarded)?;
    let bare = call_reply(&mut measured, "1 CPU, unguarded", kernel, bare)?;
    let added = |what: &str, value: u64, note: &str| {
        let note = format!("half of a call and its reply without words, on 1 CPU{note}");
        fact(format!("{kernel} added one way by {what}"), value.div_ceil(2), "instructions", note)
    };
    measured.facts.extend([
        added("the big lock", big.saturating_sub(bare), ""),
        added("locks of objects", fine.saturating_sub(bare), ", and cells that CPUs share"),
        added("the elided lock", elided.saturating_sub(bare), ", where it is taken as usual"),
        added("several CPUs", bare.saturating_sub(free), ": everything but the lock"),
    ]);
    let recorded = cross(setup, kernel, "ipc")?;
    for (number, metric, cases) in OF_CROSS {
        measured.push(kernel, metric, &cases, spans(&recorded, number)?)?;
    }
    Ok(measured)
}

/// Adds the rows of a place; the median without words.
fn call_reply(
    measured: &mut Measured,
    place: &str,
    kernel: &str,
    outcome: &Outcome,
) -> Result<u64> {
    let mut trips = both_ways(outcome, kernel)?;
    let mut least = None;
    for (number, words) in WORDS {
        let mut values = trips.remove(&number).context("the programs lack a case")?;
        measured.samples.push(kernel, CALL_REPLY, &format!("{place} {words}"), values.clone());
        values.sort_unstable();
        least = least.or(values.get(values.len() / 2).copied());
    }
    least.context("no rounds were recorded")
}

/// Calls and replies of each case together, without what the server does in between.
fn both_ways(outcome: &Outcome, kernel: &str) -> Result<BTreeMap<u16, Vec<u64>>> {
    let [calls, replies] = round_trips(outcome, kernel)?;
    let mut both = replies.cases;
    for (case, values) in &mut both {
        let calls = calls.cases.get(case).context("replies without calls")?;
        values.iter_mut().zip(calls).for_each(|(reply, call)| *reply += call);
    }
    Ok(both)
}
