//! What is said of a task.

use crate::text::time;
use crate::{AnalysisError, Time};
use std::fmt;

/// An instant at which more is demanded than supplied: why something does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excess {
    /// From the beginning of the worst busy period, in ns.
    pub instant: Time,
    /// The work that has to be done by then, in ns.
    pub demand: u128,
    /// The CPU time that is guaranteed by then, in ns.
    pub supply: Time,
    /// Whether there is no earlier instant of this kind.
    pub first: bool,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Excess { instant, demand, supply, .. } = self;
        let [instant, supply] = [*instant, *supply].map(time);
        write!(f, "demand {} by {instant}, supply {supply}", time(*demand))
    }
}

/// A response-time bound: no job takes longer from its arrival to its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The bound, in ns.
    pub response: Time,
    /// If it exceeds the deadline: by when too much is demanded.
    pub excess: Option<Excess>,
}

/// Whether a task meets its deadlines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Fits {
        /// No job takes longer from its arrival to its completion, in ns.
        bound: Time,
        /// The deadline less the bound, in ns.
        slack: Time,
    },
    /// A job can be late.
    Late {
        /// No job takes longer from its arrival to its completion, in ns.
        bound: Time,
        /// By when too much is demanded.
        excess: Excess,
    },
    /// Jobs fall behind without end: more is demanded than supplied in the long run.
    Unbounded,
    /// More is demanded than supplied at an instant, and no test says how late a job can be.
    Exceeded(Excess),
    /// What comes before it can take all the time.
    Unlimited {
        /// What that is.
        by: String,
    },
    /// It can wait without end for what it shares.
    Unprotected {
        /// Why, in plain words.
        why: String,
    },
    /// A job needs more than its budget, and waits for the rest.
    Short {
        /// What it has, in ns.
        budget: Time,
        /// The least budget that suffices, in ns.
        needs: Time,
    },
    /// Nothing is guaranteed to it: it runs when others leave time.
    NoGuarantee,
    /// It has no deadline.
    NotAsked,
    /// A server or class above it does not get what it promises.
    NoSupply {
        /// The path of that server or class.
        of: String,
    },
    /// No test gave an answer.
    Unknown(AnalysisError),
}

impl Verdict {
    /// Whether deadlines, if there are any, are met for sure.
    pub fn fits(&self) -> bool {
        matches!(self, Verdict::Fits { .. } | Verdict::NotAsked)
    }

    /// The verdict on a deadline of what a test has found: `None` is no bound.
    pub(crate) fn of(found: Result<Option<Bound>, AnalysisError>, deadline: Time) -> Verdict {
        match found {
            Err(error) => Verdict::Unknown(error),
            Ok(None) => Verdict::Unbounded,
            Ok(Some(Bound { response: bound, excess: Some(excess) })) => {
                Verdict::Late { bound, excess }
            }
            Ok(Some(Bound { response: bound, excess: None })) => {
                Verdict::Fits { bound, slack: deadline - bound }
            }
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Fits { bound, slack } => {
                let [bound, slack] = [*bound, *slack].map(time);
                write!(f, "fits: response at most {bound}, slack {slack}")
            }
            Verdict::Late { bound, excess } => {
                write!(f, "late: response up to {}; {excess}", time(*bound))
            }
            Verdict::Unbounded => {
                f.write_str("late: in the long run more is demanded than supplied")
            }
            Verdict::Exceeded(excess) => write!(f, "late: {excess}"),
            Verdict::Unlimited { by } => {
                write!(f, "without a bound: `{by}` is as urgent and can take all the time")
            }
            Verdict::Unprotected { why } => write!(f, "without a bound: {why}"),
            Verdict::Short { budget, needs } => {
                let [budget, needs] = [*budget, *needs].map(time);
                write!(f, "without a bound: a job needs a budget of {needs}, and has {budget}")
            }
            Verdict::NoGuarantee => f.write_str("without a guarantee"),
            Verdict::NotAsked => f.write_str("without a deadline"),
            Verdict::NoSupply { of } => write!(f, "without a bound: `{of}` does not get its share"),
            Verdict::Unknown(error) => write!(f, "unknown: {error}"),
        }
    }
}
