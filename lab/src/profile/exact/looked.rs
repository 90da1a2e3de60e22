//! Who did what in a stretch, by what its CPU executed.

use super::Event;
use super::evidence::{Code, Executed};
use super::others::Others;
use super::stacks::{Step, stacks};
use super::tally::{Functions, Tally};
use super::waiting::Waiting;
use super::worst::{Stretch, check};
use crate::machine::{Does, Emulator, Flow};
use anyhow::Result;
use std::path::Path;
use trace::Traces;

/// A stretch of a run, with who did what in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The stretch.
    pub stretch: Stretch,
    /// Steps at its beginning that are not looked at: before the CPU last idled, or more
    /// instructions than are recorded.
    pub before: u64,
    /// Whether the CPU idled.
    pub idled: bool,
    /// What others did, where there are several CPUs.
    pub others: Option<Others>,
    /// Who did what on the CPU.
    pub tally: Tally,
}

/// What makes parts of executions.
pub struct Looked<'a> {
    codes: &'a [Code],
    does: Vec<Does>,
    event: Event,
    functions: Functions<'a>,
}

impl<'a> Looked<'a> {
    /// By what was executed in a run of this kernel.
    ///
    /// # Errors
    /// It has no debug information.
    pub fn new(
        emulator: &'a dyn Emulator,
        codes: &'a [Code],
        event: Event,
        kernel: &Path,
    ) -> Result<Looked<'a>> {
        let does = codes.iter().map(|code| emulator.does(&code.bytes)).collect();
        Ok(Looked { codes, does, event, functions: Functions::load(emulator, kernel)? })
    }

    /// A stretch with what its CPU executed, as far as so many executions are recorded.
    ///
    /// # Errors
    /// It is of another run than the trace.
    pub fn part(
        &mut self,
        stretch: &Stretch,
        traces: &Traces,
        window: &[Executed],
        recorded: u64,
    ) -> Result<Part> {
        let Looked { codes, does, event, functions } = self;
        let is_whole = (window.len() as u64) < recorded;
        // What lies before is of a CPU that waits.
        let idled = window.iter().rposition(|one| does[one.code].flow == Flow::Halts);
        let window = &window[idled.map_or(0, |at| at + 1)..];
        let first = window.first().map_or(0, |one| one.back);
        let seen = if idled.is_none() && is_whole { stretch.awake } else { first };
        let reads = window.iter().filter(|one| does[one.code].reads_counter);
        check(stretch, traces, first, &reads.map(|one| one.back).collect())?;
        let mut waiting = Waiting::default();
        let step = |one: &Executed| {
            let (at, flow) = (codes[one.code].address, does[one.code].flow);
            let waits = waiting.executes(functions.at(at));
            (Step { at, flow, kernel: functions.is_kernel(at), waits }, event.of(&does[one.code]))
        };
        let steps: Vec<_> = window.iter().map(step).collect();
        let executed = window.iter().zip(&steps).map(|(one, (step, _))| (one.back, step.waits));
        let others = (traces.all.cpus > 1).then(|| Others::of(seen, executed));
        let mut stretch = stretch.clone();
        if others.is_some() {
            stretch.measured = (window.len() as u64).saturating_sub(stretch.less);
        }
        let tally = Tally::of(stacks(steps), |at| functions.at(at).to_vec());
        let before = stretch.steps - seen;
        Ok(Part { stretch, before, idled: idled.is_some(), others, tally })
    }
}
