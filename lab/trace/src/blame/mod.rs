//! Why a thread ran later than its timer asked for.
//!
//! The time from the programmed instant to the instant at which the thread ran is cut into pieces,
//! by what the CPU did. Some of it is the path that no kernel can avoid: the interrupt arrives, the
//! kernel serves the timer and goes over to the thread. What remains has causes, and the cause with
//! most of the time is the headline.

mod cause;
mod inside;
mod walk;

pub use cause::{Cause, Named};

use crate::{Lives, Names, Sections, Trace, Waits};
use std::fmt;

/// No line of the text is longer.
const COLUMNS: usize = 80;
/// Where causes stand in the lines of pieces.
const CAUSE_INDENT: &str = "                                 ";
/// At most so many pieces are shown as text.
const MOST_LINES: usize = 24;

/// One wake-up of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The instant for which the timer was programmed, in ns since boot.
    pub programmed: u64,
    /// The instant at which the thread ran.
    pub ran: u64,
    /// The thread's index.
    pub thread: u16,
}

/// A piece of the time and its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// When it begins, in ns since boot.
    pub from: u64,
    /// When it ends.
    pub to: u64,
    /// What the CPU did.
    pub cause: Cause,
}

/// Where the time between timer and thread went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame {
    /// What was looked into.
    pub sample: Sample,
    /// The thread.
    pub thread: Named,
    /// The reservation that it runs on, with its classes and what decides among its siblings:
    /// `critical/vision (EDF)`.
    pub on: Option<String>,
    /// The pieces in order of time. Together they are the sample's time, without gaps.
    pub pieces: Vec<Piece>,
}

/// Looks into one sample.
pub fn blame(trace: &Trace, names: &Names, sample: &Sample) -> Blame {
    let (lives, sections) = (Lives::of(trace, names), Sections::of(trace));
    let waits = Waits::of(trace, &lives);
    let mut walk = walk::Walk::new(trace, names, (&lives, &waits), *sample);
    walk.run(&sections);
    let thread = walk.named(sample.thread, trace.moments.len());
    let on = walk.times().place(sample.thread, trace.moments.len());
    Blame { sample: *sample, thread, on, pieces: walk.pieces }
}

impl Blame {
    /// The whole latency in ns.
    pub fn latency(&self) -> u64 {
        self.sample.ran.saturating_sub(self.sample.programmed)
    }

    /// The causes with the ns of all their pieces, the largest first; of equals the earlier.
    pub fn causes(&self) -> Vec<(&Cause, u64)> {
        let mut causes: Vec<(&Cause, u64)> = Vec::new();
        for piece in &self.pieces {
            let length = piece.to - piece.from;
            match causes.iter_mut().find(|(cause, _)| *cause == &piece.cause) {
                Some((_, sum)) => *sum += length,
                None => causes.push((&piece.cause, length)),
            }
        }
        causes.sort_by_key(|&(_, length)| std::cmp::Reverse(length));
        causes
    }

    /// The avoidable cause with most of the time, and its ns; `None`: the thread was not late
    /// but for the path that cannot be avoided, or nothing else is in the trace.
    pub fn headline(&self) -> Option<(&Cause, u64)> {
        self.causes().into_iter().find(|(cause, length)| cause.is_avoidable() && *length > 0)
    }
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let latency = self.latency();
        let on = self.on.as_ref().map_or(String::new(), |on| format!(", on {on},"));
        writeln!(f, "{}{on} ran {latency} ns after the instant of its timer:", self.thread)?;
        match self.headline() {
            Some((cause, length)) => writeln!(f, "{cause} ({length} ns)")?,
            None if self.pieces.iter().any(|piece| piece.cause == Cause::Unseen) => {
                writeln!(f, "the trace does not hold all of that time")?;
            }
            None => writeln!(f, "the unavoidable path alone")?,
        }
        let options = textwrap::Options::new(COLUMNS).subsequent_indent(CAUSE_INDENT);
        for Piece { from, to, cause } in self.pieces.iter().take(MOST_LINES) {
            let [begin, end] = [from, to].map(|at| at - self.sample.programmed);
            let share = (to - from) as f64 * 100.0 / latency.max(1) as f64;
            let line = format!("{:>9} to {end:>7} ns {share:>5.1} %  {cause}", format!("+{begin}"));
            writeln!(f, "{}", textwrap::fill(&line, &options))?;
        }
        match self.pieces.len().saturating_sub(MOST_LINES) {
            0 => Ok(()),
            others => writeln!(f, "{:>9} and {others} more pieces", "..."),
        }
    }
}

#[cfg(test)]
mod tests;
