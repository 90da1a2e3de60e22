//! What the analysis cannot answer.

use crate::Time;
use thiserror::Error;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AnalysisError {
    /// A parameter that means nothing.
    #[error("`{name}`: the {field} must be {must}, not {value}")]
    Parameter {
        /// The task, server or class.
        name: String,
        /// Which of its parameters.
        field: &'static str,
        /// What is wanted.
        must: &'static str,
        /// What was given.
        value: u64,
    },
    /// The test needs more steps than it may take.
    #[error("too long: no answer within {0} terms; periods without a short common multiple?")]
    TooLong(u64),
    /// The busy period does not end within 2^64 ns.
    #[error("too long: the busy period does not end within 2^64 ns")]
    Horizon,
    /// Sufficient tests fail, and there is no exact one.
    #[error("no test for global EDF shows it, though it may hold")]
    NotShown,
    /// No test here covers the combination.
    #[error("`{name}`: no test covers {what}")]
    Unsupported {
        /// The task, server or class.
        name: String,
        /// What is not covered.
        what: &'static str,
    },
}

/// Refuses a parameter unless it is `good`.
pub(crate) fn require(
    good: bool,
    name: &str,
    field: &'static str,
    must: &'static str,
    value: Time,
) -> Result<(), AnalysisError> {
    let error = || AnalysisError::Parameter { name: name.to_string(), field, must, value };
    good.then_some(()).ok_or_else(error)
}
