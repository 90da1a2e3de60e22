//! What the model cannot answer.

use std::ops::RangeInclusive;
use thiserror::Error;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ModelError {
    /// A time is not one.
    #[error("the {what} time must be a number above zero, and below 1e100, not {value:e}")]
    Time {
        /// Which time.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// Times that are too far apart.
    #[error("the load s/a must be from 1e-9 to 1e9, not {0:e}")]
    Load(f64),
    /// No CPUs, or more than can be reckoned with.
    #[error("the number of CPUs must be from 1 to {most}, not {cpus}")]
    Cpus {
        /// What was given.
        cpus: usize,
        /// The greatest that is possible here.
        most: usize,
    },
    /// A simulation that would measure nothing.
    #[error("a simulation needs at least 2 batches of at least 1 pass through the lock")]
    Batches,
    /// Fewer points than a fit needs.
    #[error("a fit of 2 parameters needs at least 3 points, not {0}")]
    TooFew(usize),
    /// A point that cannot have been measured.
    #[error("point {index}: the {what} must be {must}, not {value}")]
    Point {
        /// Which point, from 1.
        index: usize,
        /// What of it.
        what: &'static str,
        /// What is wanted.
        must: &'static str,
        /// What was given.
        value: f64,
    },
    /// Some points name their think time and others do not.
    #[error("either every point names its think time or none does")]
    Mixed,
    /// Many pairs of parameters fit equally well.
    #[error(
        "these points do not tell s from a: measure on both sides of the knee, from 1 CPU to more \
         than 1 + a/s"
    )]
    Undetermined,
}

/// Times and throughputs: within, nothing overflows.
const RANGE: RangeInclusive<f64> = 1e-100..=1e100;

/// Refuses what is no time.
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, ModelError> {
    let good = RANGE.contains(&value);
    good.then_some(value).ok_or(ModelError::Time { what, value })
}
