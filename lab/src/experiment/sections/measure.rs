use super::made::{FaultPath, Made};
use super::{LENDING, LONGEST, MEDIAN};
use crate::experiment::parameter::SAMPLES;
use crate::experiment::user_system::{ROOM, traced};
use crate::experiment::{Emulated, Measured, Setup};
use crate::systems::set;
use anyhow::{Context, Result};
use manifest::{System, TREE};
use std::collections::BTreeMap;
use trace::{Entry, Section, Trace, Unpolled, unpolled};

/// The console is told: it has no bound but the serial port's.
const UNHANDLED: &str = "fault-unhandled";

/// Bytes of a trace: more than any of the runs fills.
const TRACE: u64 = 32 << 20;

/// Sets what a run is to do.
type Change = fn(&mut System, samples: u64);

/// What is run.
const RUNS: [(&str, Change); 6] = [
    ("worst", |_, _| {}),
    ("latency", |system, samples| set(system, "samples", &samples.to_string())),
    ("selftest", |_, _| {}),
    ("hostile", |_, _| {}),
    ("queueing", |system, _| set(system, "most", "100")),
    ("ipc-chain", |system, _| {
        system.preempt_chains = true;
        set(system, "sweep", "100");
        set(system, "samples", "20");
    }),
];

/// What is run as well where there is none.
const RUNS_OF_PRIORITIES: [(&str, Change); 1] = [("worst-train", |_, _| {})];

/// What is run as well where there is a scheduling tree.
const RUNS_OF_TREE: [(&str, Change); 4] = [
    ("worst-tree", |_, _| {}),
    ("budgets", |_, _| {}),
    ("mixed-criticality", |_, _| {}),
    ("mixed-curves", |_, _| {}),
];

pub fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    if kernel != TREE {
        let runs = [&RUNS[..], &RUNS_OF_PRIORITIES].concat();
        let (measured, made) = of_runs(setup, kernel, TRACE, &runs)?;
        made.check()?;
        return Ok(measured);
    }
    let runs = [&RUNS[..], &RUNS_OF_TREE].concat();
    let (mut measured, _) = of_runs(setup, TREE, TRACE, &runs)?;
    let (lending, _) = runs_by_operation(setup, TREE, TRACE, &[("worst-lent", |_, _| {})])?;
    measured.samples.push(TREE, LENDING, "any", vec![worst_of_all(&lending)?]);
    for (operation, runs) in lending.iter().filter(|(operation, _)| *operation != UNHANDLED) {
        let worst = runs.last().context("an operation without a section")?;
        measured.samples.push(TREE, LENDING, operation, vec![*worst]);
    }
    Ok(measured)
}

/// The same of a user's system.
pub fn of_user_system(setup: &Emulated, kernel: &str) -> Result<Measured> {
    Ok(of_runs(setup, kernel, ROOM, &[(setup.user_system()?, |_, _| {})])?.0)
}

/// The longest sections of all runs, each with a trace of so many bytes, and what these made.
fn of_runs(
    setup: &Setup,
    kernel: &str,
    room: u64,
    runs: &[(&str, Change)],
) -> Result<(Measured, Made)> {
    let (all, made) = runs_by_operation(setup, kernel, room, runs)?;
    let mut measured = Measured::default();
    measured.samples.push(kernel, LONGEST, "any", vec![worst_of_all(&all)?]);
    for (operation, runs) in all {
        let worst = *runs.last().context("an operation without a section")?;
        measured.samples.push(kernel, LONGEST, &operation, vec![worst]);
        measured.samples.push(kernel, MEDIAN, &operation, vec![runs[runs.len() / 2]]);
    }
    Ok((measured, made))
}

/// What each operation's sections take, the shortest first, in runs with a trace of so many bytes.
fn runs_by_operation(
    setup: &Setup,
    kernel: &str,
    room: u64,
    runs: &[(&str, Change)],
) -> Result<(BTreeMap<String, Vec<u64>>, Made)> {
    let samples = setup.asked.number(SAMPLES, 30);
    let mut all: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut made = Made::default();
    for (system, change) in runs {
        let change = &mut |system: &mut System| change(system, samples);
        let trace = traced(setup, system, kernel, room, change)?.0.all;
        made.count(&trace);
        for (operation, run) in longest(&trace) {
            all.entry(operation).or_default().push(run);
        }
    }
    all.values_mut().for_each(|runs| runs.sort_unstable());
    Ok((all, made))
}

/// The worst of all operations that have a bound.
fn worst_of_all(all: &BTreeMap<String, Vec<u64>>) -> Result<u64> {
    let usual = all.iter().filter(|(operation, _)| *operation != UNHANDLED);
    usual.flat_map(|(_, runs)| runs).copied().max().context("an empty trace")
}

/// The longest run of a trace with interrupts off, of an operation that has a bound.
pub fn longest_section(trace: &Trace) -> Option<(String, Unpolled)> {
    let parts = unpolled(trace).into_iter();
    let named = parts.map(|(section, part)| (operation(trace, &section), part));
    let bounded = named.filter(|(operation, _)| operation != UNHANDLED);
    bounded.max_by_key(|(_, part)| part.steps)
}

/// The operations of a trace, each with its longest run with interrupts off.
fn longest(trace: &Trace) -> Vec<(String, u64)> {
    let name = |(section, part): (Section, Unpolled)| (operation(trace, &section), part.steps);
    unpolled(trace).into_iter().map(name).collect()
}

/// What a section did: calls with a number that means nothing are one operation, and faults that
/// no handler takes, of which the console is told, one of their own.
fn operation(trace: &Trace, section: &Section) -> String {
    let path = FaultPath::of(section.moments(trace));
    match section.entry {
        Entry::Fault if path.is_some_and(FaultPath::tells_console) => UNHANDLED.to_string(),
        Entry::Irq(_) => "IRQ".to_string(),
        entry => entry.kind().to_string(),
    }
}
