//! `sections`: the longest time for which the kernel keeps interrupts off, by operation.

use super::{Cpus, Emulated, Experiment, Measure, Measured, Setup};
use crate::image::Extra;
use crate::systems::set;
use abi::call::ThreadState;
use abi::trace::{Event, Keep};
use anyhow::{Context, Result, ensure};
use manifest::System;
use std::collections::BTreeMap;
use trace::{Entry, Moment, Section, Trace, unpolled};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "sections",
    about: "The longest time for which the kernel keeps interrupts off, by operation",
    ledger: &["S0-35", "X-12", "X-13"],
    machines: &[Measure::Emulated(measure)],
    cpus: Cpus::One,
    kernels: &manifest::KERNELS,
    metrics: &[LONGEST, MEDIAN],
    cases: &[],
    parameters: &[
        ("storm", "that of `latency`, all kinds, 30 samples a case"),
        ("worst", "512 pages, 124 words, 80 deadlines at once, 100 callers queued, large domains"),
        ("suites", "the self-test, and 20,000 random calls of a hostile program"),
        ("senders in a queue", "100, with random priorities"),
        ("chain of transfers", "100 threads, with preemption points"),
    ],
    notes: &[
        "From the entry of the kernel or a preemption point to the next preemption point or the \
         exit, less what writing the trace took. `longest` is the worst of all runs, `median` that \
         of the longest stretches of each section, `any` the worst of all operations but \
         fault-unhandled, which writes to the serial port.",
        "The entry and exit code itself is outside: it takes about as much again as a null call.",
    ],
    golden: false,
    modelled: false,
    claims: |_| Vec::new(),
};

const LONGEST: &str = "longest";
const MEDIAN: &str = "median";
/// The console is told: it has no bound but the serial port's.
const UNHANDLED: &str = "fault-unhandled";

/// Bytes of a trace: more than any of the runs fills.
const TRACE: u64 = 24 << 20;

/// Sets what a run is to do.
type Change = fn(&mut System);

/// What is run.
const RUNS: [(&str, Change); 6] = [
    ("worst", |_| {}),
    ("latency", |system| set(system, "samples", "30")),
    ("selftest", |_| {}),
    ("hostile", |_| {}),
    ("queueing", |system| set(system, "most", "100")),
    ("ipc-chain", |system| {
        system.preempt_chains = true;
        set(system, "sweep", "100");
        set(system, "samples", "20");
    }),
];

fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut all: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for (system, change) in RUNS {
        for (operation, run) in traced(setup, system, kernel, change)? {
            all.entry(operation).or_default().push(run);
        }
    }
    let mut measured = Measured::default();
    let usual = all.iter().filter(|(operation, _)| *operation != UNHANDLED);
    let any = usual.flat_map(|(_, runs)| runs).copied().max().context("an empty trace")?;
    measured.samples.push(kernel, LONGEST, "any", vec![any]);
    for (operation, mut runs) in all {
        runs.sort_unstable();
        let worst = *runs.last().context("an operation without a section")?;
        measured.samples.push(kernel, LONGEST, &operation, vec![worst]);
        measured.samples.push(kernel, MEDIAN, &operation, vec![runs[runs.len() / 2]]);
    }
    Ok(measured)
}

/// The operations of a system that was changed, each with its longest run with interrupts off.
fn traced(setup: &Setup, system: &str, kernel: &str, change: Change) -> Result<Vec<(String, u64)>> {
    let mut name = String::new();
    let outcome = setup.boot_with(Some(Extra::Trace), system, kernel, &mut |system| {
        change(system);
        name = system.add_trace(TRACE, Keep::First);
    })?;
    let bytes = outcome.memories.get(&name).context("the run left no trace")?;
    let trace = Trace::decode(bytes)?;
    ensure!(trace.lost() == 0, "{system}: {} events did not fit into the trace", trace.lost());
    let name = |(section, run): (Section, u64)| (operation(&trace, &section), run);
    Ok(unpolled(&trace).into_iter().map(name).collect())
}

/// What a section did: calls with a number that means nothing are one operation, and faults that
/// nobody handles, of which the console is told, one of their own.
fn operation(trace: &Trace, section: &Section) -> String {
    let stops = |moment: &Moment| {
        moment.event == Event::Block && moment.extra == ThreadState::Suspended as u16
    };
    match section.entry {
        Entry::Fault if section.moments(trace).iter().any(stops) => UNHANDLED.to_string(),
        Entry::Line(_) => "line".to_string(),
        entry => entry.kind().to_string(),
    }
}
