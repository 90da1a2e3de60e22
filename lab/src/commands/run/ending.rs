//! How a run ended, in words for people: first what threads wait for, and in the last line why.

use super::Told;
use crate::commands::counted;
use crate::machine::{Exit, Outcome, STUCK};
use abi::message::PANIC_STATUS;
use std::fmt;

/// Threads that people are told of at the end of a run that did not come to one of its own.
const WAITS: usize = 100;

/// What the kernel's last words begin with.
const PANIC: &str = "KERNEL PANIC: ";

/// What a line of addresses begins with, which the backtrace spells out.
const ADDRESSES: &str = "backtrace:";

/// The end of a run, whose console has been seen.
pub struct Ending<'a> {
    pub outcome: &'a Outcome,
    pub seed: Option<u64>,
    pub told: &'a Told<'a>,
}

impl fmt::Display for Ending<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Told { waits, faults, .. } = self.told;
        waits.iter().take(WAITS).try_for_each(|wait| write!(f, "{wait}"))?;
        if let Some(more) = waits.len().checked_sub(WAITS).filter(|more| *more > 0) {
            writeln!(f, "and {} more", counted(more, "thread"))?;
        }
        let is_due_to_faults = self.is_due_to_faults();
        if is_due_to_faults {
            self.end(f)?;
        }
        faults.iter().try_for_each(|fault| write!(f, "{fault}"))?;
        if is_due_to_faults { Ok(()) } else { self.end(f) }
    }
}

impl Ending<'_> {
    /// Whether the faults are the reason of the end, if there are any.
    fn is_due_to_faults(&self) -> bool {
        match self.outcome.exit {
            Exit::Done(status) => u64::from(status) == PANIC_STATUS,
            Exit::Hang | Exit::Stuck => self.told.faults.iter().any(|fault| !fault.expected),
            Exit::Panic | Exit::Interrupted | Exit::Emulator(_) => false,
        }
    }

    /// How the machine came to stand. What the twin's kernel says when it panics has not been seen.
    fn end(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.outcome.exit {
            Exit::Done(0) => {}
            Exit::Done(status) => writeln!(f, "the system shut itself down with status {status}")?,
            Exit::Panic => writeln!(f, "{}", panicked(self.outcome, self.seed))?,
            Exit::Hang => {
                writeln!(f, "the system was still running at the timeout and was ended")?;
            }
            Exit::Interrupted => writeln!(f, "\ninterrupted")?,
            Exit::Stuck => writeln!(f, "error: {STUCK}")?,
            Exit::Emulator(what) => writeln!(f, "error: {what}")?,
        }
        if !self.outcome.backtrace.is_empty() {
            writeln!(f, "backtrace:")?;
            self.outcome.backtrace.iter().try_for_each(|frame| writeln!(f, "  {frame}"))?;
        }
        Ok(())
    }
}

/// What the kernel said when it panicked, and how to see it again.
pub fn panicked(outcome: &Outcome, seed: Option<u64>) -> String {
    let said = outcome.console.rsplit_once(PANIC).map(|(_, said)| said);
    let said = said.into_iter().flat_map(str::lines).filter(|line| !line.starts_with(ADDRESSES));
    let said = said.map(|line| format!("\n  {}", line.trim())).collect::<String>();
    let again = seed.map_or(String::new(), |seed| {
        format!("\nseed {seed}: the same command with --seed {seed} repeats it exactly")
    });
    format!("the kernel panicked:{said}{again}")
}
