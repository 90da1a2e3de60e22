//! The longest section and the worst wake-up of a run, by its trace.

use crate::experiment::longest_section;
use anyhow::{Context, Result, ensure};
use serde::Serialize;
use trace::{Names, Trace, Traces, wakeups};

/// A stretch of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stretch {
    /// What it is.
    pub what: What,
    /// Whose it is: the operation of a section, or the domain that is woken.
    pub of: String,
    /// The CPU.
    pub cpu: u8,
    /// When it begins, in ns since boot.
    pub at_ns: u64,
    /// How long it is, in steps of the counter.
    pub steps: u64,
    /// The same as the experiment of its name has it: a section without the writing of the trace.
    pub measured: u64,
    /// The place of the record that ends it, in its CPU's trace.
    #[serde(skip)]
    pub last: usize,
}

/// What a stretch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// The longest time for which interrupts are off, from the kernel's entry or a preemption point
    /// to the next one or the exit.
    LongestSection,
    /// The longest time from the instant of a timer or a timeout to the thread that it wakes.
    WorstWakeUp,
}

impl What {
    /// It as a title.
    pub fn title(self) -> &'static str {
        match self {
            What::LongestSection => "longest section",
            What::WorstWakeUp => "worst wake-up",
        }
    }
}

/// The stretches of a run: the longest section, and the worst wake-up if there was one.
///
/// # Errors
/// The trace has no whole section.
pub fn worst(traces: &Traces, names: &Names) -> Result<Vec<Stretch>> {
    let section = traces.each.iter().filter_map(section).max_by_key(|stretch| stretch.measured);
    let section = section.context("the trace has no whole section of the kernel")?;
    Ok([section].into_iter().chain(wake_up(traces, names)).collect())
}

fn section(trace: &Trace) -> Option<Stretch> {
    let (of, part) = longest_section(trace)?;
    let [first, last] = [part.first, part.last].map(|index| &trace.moments[index]);
    Some(Stretch {
        what: What::LongestSection,
        of,
        cpu: trace.cpu,
        at_ns: first.ns,
        steps: last.steps - first.steps,
        measured: part.steps,
        last: part.last,
    })
}

fn wake_up(traces: &Traces, names: &Names) -> Option<Stretch> {
    let worst = wakeups(traces).into_iter().max_by_key(|wake_up| wake_up.latency())?;
    let trace = traces.each.iter().find(|trace| trace.cpu == worst.cpu)?;
    let ran = |moment: &trace::Moment| {
        moment.event == abi::trace::Event::Exit
            && (moment.ns, moment.thread) == (worst.sample.ran, worst.sample.thread)
    };
    let last = trace.moments.iter().position(ran)?;
    let steps = |ns: u64| u128::from(ns) * u128::from(trace.hz) / 1_000_000_000;
    Some(Stretch {
        what: What::WorstWakeUp,
        of: names.domain(worst.domain),
        cpu: worst.cpu,
        at_ns: worst.sample.programmed,
        steps: u64::try_from(steps(worst.latency())).ok()?,
        measured: worst.latency(),
        last,
    })
}

/// Checks that what a CPU executed before the last record of a stretch agrees with the records: at
/// the step of each, the counter was read. `reads` says whether each of the last executions did.
///
/// # Errors
/// The run was another one than that of the trace.
pub fn check(stretch: &Stretch, trace: &Trace, reads: &[bool]) -> Result<()> {
    let end = trace.moments[stretch.last].steps;
    let inside = |moment: &&trace::Moment| end - moment.steps <= reads.len() as u64;
    let before = trace.moments[..stretch.last].iter().rev();
    for moment in before.take_while(inside) {
        let at = reads.len() - (end - moment.steps) as usize;
        ensure!(
            at == reads.len() || reads[at],
            "the run did not repeat: {} steps before the end of the {}, the trace has a record, \
             and the counter was not read",
            end - moment.steps,
            stretch.what.title()
        );
    }
    Ok(())
}
