//! `cross-cpu-ipc`: messages, signals and moves between CPUs, beside the same on one CPU.

use super::super::run::{push_spans, recording};
use super::super::{Cpus, Emulated, Experiment, Measure, Measured};
use super::{CHOICE, NOTE, boot, cross};
use crate::image::Extra;
use crate::machine::Outcome;
use abi::results::Tag;
use anyhow::{Context, Result};
use manifest::System;
use results::Fact;
use std::collections::BTreeMap;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "cross-cpu-ipc",
    about: "What a call with its reply, a signal and a move take between two CPUs and on one",
    ledger: &["S1-03", "S1-05", "S1-E01"],
    machines: &[Measure::Emulated(measure)],
    cpus: Cpus::OneOf(&CHOICE),
    kernels: &manifest::KERNELS,
    metrics: &[CALL_REPLY, NOTIFY, MIGRATE],
    cases: &[],
    parameters: &[
        ("CPUs", "4, of which the other ones idle; 1 with and without the lock"),
        ("words", "0, 4, 64"),
        ("samples", "1000 of call-reply, 100 of the others"),
    ],
    notes: &[
        NOTE,
        "call-reply: a call and its reply, both CPUs' paths whole, without what the server does in \
         between. `1 CPU, no lock` is the usual image, `unguarded` the one for several less its \
         lock, `fine` and `elided` those with these locks, all other cases the one with one lock. \
         The emulator has no transactions: there the elided lock is taken.",
        "notify: from before the signal until the woken thread, which is higher, has the counter. \
         Where that is on another CPU the signalling thread's whole call is part of it.",
        "migrate: `caller` is until it runs on the other CPU, `waiting` a thread that waits.",
    ],
    golden: true,
    modelled: false,
    claims: |_| Vec::new(),
};

const CALL_REPLY: &str = "call-reply";
const NOTIFY: &str = "notify";
const MIGRATE: &str = "migrate";
/// The metrics of the program `cross` with their numbers and cases.
const OF_CROSS: [(u16, &str, [&str; 2]); 2] =
    [(1, NOTIFY, ["same CPU", "two CPUs"]), (2, MIGRATE, ["caller", "waiting"])];
/// The system whose domains call each other.
const SYSTEM: &str = "ping-across";
/// The number under which its programs record rounds, and the cases that are used.
const ROUNDS: u16 = 1;
const WORDS: [(u16, &str); 3] = [(0, "words=0"), (1, "words=4"), (5, "words=64")];

fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let on = |cpu: u32| {
        move |system: &mut System| {
            let server = system.domains.iter_mut().filter(|domain| domain.name == "server");
            server.for_each(|domain| domain.cpu = cpu);
        }
    };
    let one = |extra| setup.boot_with(extra, SYSTEM, kernel, &mut |_| {});
    let free = call_reply(&mut measured, "1 CPU, no lock", kernel, &one(None)?)?;
    let big = call_reply(&mut measured, "1 CPU, big lock", kernel, &one(Some(Extra::Big))?)?;
    for (cpu, place) in [(0, "same CPU"), (1, "two CPUs")] {
        let outcome = boot(setup, SYSTEM, kernel, &mut on(cpu))?;
        call_reply(&mut measured, place, kernel, &outcome)?;
    }
    let fine = call_reply(&mut measured, "1 CPU, fine locks", kernel, &one(Some(Extra::Fine))?)?;
    let elided = one(Some(Extra::Elided))?;
    let elided = call_reply(&mut measured, "1 CPU, elided lock", kernel, &elided)?;
    let bare = &one(Some(Extra::Unguarded))?;
    let bare = call_reply(&mut measured, "1 CPU, unguarded", kernel, bare)?;
    let fact = |what: &str, value: u64, note: &str| Fact {
        name: format!("{kernel} added one way by {what}"),
        value: value.div_ceil(2),
        unit: "instructions".to_string(),
        note: format!("half of a call and its reply without words, on 1 CPU{note}"),
    };
    measured.facts.extend([
        fact("the big lock", big.saturating_sub(bare), ""),
        fact("locks of objects", fine.saturating_sub(bare), ", and cells that CPUs share"),
        fact("the elided lock", elided.saturating_sub(bare), ", where it is taken as usual"),
        fact("several CPUs", bare.saturating_sub(free), ": everything but the lock"),
    ]);
    let recorded = cross(setup, kernel, "ipc")?;
    for (number, metric, cases) in OF_CROSS {
        let spans = results::spans(&recorded, Tag::BEFORE, &recorded, Tag::AFTER, number)?;
        push_spans(&mut measured, kernel, metric, &cases, spans)?;
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
    let mut trips = round_trips(outcome, kernel)?;
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
fn round_trips(outcome: &Outcome, kernel: &str) -> Result<BTreeMap<u16, Vec<u64>>> {
    let client = recording(outcome, "client-recording", kernel)?;
    let server = recording(outcome, "server-recording", kernel)?;
    let calls = results::spans(&client, Tag::BEFORE, &server, Tag::AFTER, ROUNDS)?.cases;
    let mut replies = results::spans(&server, Tag::BEFORE, &client, Tag::AFTER, ROUNDS)?.cases;
    for (case, values) in &mut replies {
        let calls = calls.get(case).context("replies without calls")?;
        values.iter_mut().zip(calls).for_each(|(reply, call)| *reply += call);
    }
    Ok(replies)
}
