use super::loads::{LENT, Load, OF_TREE, USUAL};
use super::made::{FaultPath, Made};
use super::{LENDING, LOAD, LONGEST, MEDIAN, PATH};
use crate::experiment::parameter::SAMPLES;
use crate::experiment::traced::{ROOM, traced};
use crate::experiment::{Emulated, Measured, Setup};
use anyhow::{Context, Result};
use manifest::{System, TREE};
use std::collections::BTreeMap;
use trace::{Entry, Section, Sections, Trace, Unpolled, unpolled, unpolled_parts};

/// The console is told, which a system has to allow (`may_fault`): with a limit of its own.
const UNHANDLED: &str = "fault-unhandled";

/// Bytes of a trace: more than any of the runs fills.
const TRACE: u64 = 32 << 20;

pub fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    if kernel != TREE {
        let (measured, made) = of_runs(setup, kernel, TRACE, &USUAL)?;
        made.check(false)?;
        return Ok(measured);
    }
    let loads = [&USUAL[..], &OF_TREE].concat();
    let (mut measured, mut made) = of_runs(setup, TREE, TRACE, &loads)?;
    let lending = Runs::of(setup, TREE, TRACE, &LENT)?;
    made.add_all(&lending.made);
    made.check(true)?;
    measured.samples.push(TREE, LENDING, "any", vec![lending.worst_of_all()?]);
    for (operation, runs) in lending.all.iter().filter(|(operation, _)| *operation != UNHANDLED) {
        let worst = runs.last().context("an operation without a section")?;
        measured.samples.push(TREE, LENDING, operation, vec![*worst]);
    }
    lending.push_groups(TREE, &mut measured);
    Ok(measured)
}

/// The same of a user's system.
pub fn of_user_system(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let load = Load { system: setup.user_system()?, change: |_, _| {}, group: None };
    Ok(of_runs(setup, kernel, ROOM, &[load])?.0)
}

/// The longest sections of all runs, each with a trace of so many bytes, and what these made.
fn of_runs(setup: &Setup, kernel: &str, room: u64, loads: &[Load]) -> Result<(Measured, Made)> {
    let runs = Runs::of(setup, kernel, room, loads)?;
    let mut measured = Measured::default();
    measured.samples.push(kernel, LONGEST, "any", vec![runs.worst_of_all()?]);
    for (operation, runs) in &runs.all {
        let worst = *runs.last().context("an operation without a section")?;
        measured.samples.push(kernel, LONGEST, operation, vec![worst]);
        measured.samples.push(kernel, MEDIAN, operation, vec![runs[runs.len() / 2]]);
    }
    runs.push_groups(kernel, &mut measured);
    Ok((measured, runs.made))
}

/// What runs have shown.
#[derive(Default)]
struct Runs {
    /// What each operation's sections take, the shortest first.
    all: BTreeMap<String, Vec<u64>>,
    /// The longest section of each group of loads, of an operation that has a bound.
    groups: BTreeMap<&'static str, u64>,
    /// The longest way to a thread that is woken above all others, by groups.
    paths: BTreeMap<&'static str, u64>,
    made: Made,
}

impl Runs {
    /// Runs with a trace of so many bytes.
    fn of(setup: &Setup, kernel: &str, room: u64, loads: &[Load]) -> Result<Runs> {
        let samples = setup.asked.number(SAMPLES, 30);
        let mut runs = Runs::default();
        for Load { system, change, group } in loads {
            let mut ran = None;
            let change = &mut |system: &mut System| {
                change(system, samples);
                ran = Some(system.clone());
            };
            let traces = traced(setup, system, kernel, room, change)?.traces;
            let ran = ran.context("a run of no system")?;
            runs.made.count(&traces.all);
            let mut longest_here = 0;
            for (operation, run) in longest(&traces.all) {
                if operation != UNHANDLED {
                    longest_here = longest_here.max(run);
                }
                runs.all.entry(operation).or_default().push(run);
            }
            let woken = trace::highest(&traces, &|domain, priority| ran.urgency(domain, priority));
            let path = woken.iter().filter_map(|woken| woken.path).max().unwrap_or(0);
            if let Some(group) = *group {
                raise(&mut runs.groups, group, longest_here);
                raise(&mut runs.paths, group, path);
            }
            raise(&mut runs.paths, "any", path);
        }
        runs.all.values_mut().for_each(|runs| runs.sort_unstable());
        Ok(runs)
    }

    /// The worst of all operations that have a bound.
    fn worst_of_all(&self) -> Result<u64> {
        let usual = self.all.iter().filter(|(operation, _)| *operation != UNHANDLED);
        usual.flat_map(|(_, runs)| runs).copied().max().context("an empty trace")
    }

    /// Adds what is told by groups.
    fn push_groups(&self, kernel: &str, measured: &mut Measured) {
        for (metric, groups) in [(LOAD, &self.groups), (PATH, &self.paths)] {
            for (group, worst) in groups.iter().filter(|(_, worst)| **worst > 0) {
                measured.samples.push(kernel, metric, group, vec![*worst]);
            }
        }
    }
}

fn raise(worst: &mut BTreeMap<&'static str, u64>, group: &'static str, value: u64) {
    let worst = worst.entry(group).or_default();
    *worst = (*worst).max(value);
}

/// The longest run of a trace with interrupts off, of an operation that has a bound.
pub fn longest_section(trace: &Trace) -> Option<(String, Unpolled)> {
    bounded_parts(trace).max_by_key(|(_, part)| part.steps)
}

/// The runs of a trace with interrupts off, of operations that have a bound.
pub fn bounded_parts(trace: &Trace) -> impl Iterator<Item = (String, Unpolled)> {
    let named = Sections::of(trace).whole.into_iter().flat_map(|section| {
        let operation = operation(trace, &section);
        unpolled_parts(trace, &section).into_iter().map(move |part| (operation.clone(), part))
    });
    named.filter(|(operation, _)| operation != UNHANDLED)
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
