//! The work that an analysis may do: response times can take as long as the periods' common
//! multiple, so every loop counts.

use crate::AnalysisError;

/// How much one test, and how much all tests of a tree, may do. The unit is a term: the demand of
/// one task, or the supply of one window, at one instant. A term takes some nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Terms of one test of one task or class.
    pub test: u64,
    /// Terms of all tests of [`crate::analyse`]. When they are used up, the remaining verdicts are
    /// [`AnalysisError::TooLong`].
    pub total: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { test: 10_000_000, total: 300_000_000 }
    }
}

/// The terms that are left.
#[derive(Debug)]
pub struct Steps {
    limit: u64,
    left: u64,
    taken: u64,
}

impl Steps {
    /// A test that may take `limit` terms.
    pub fn new(limit: u64) -> Steps {
        Steps::within(limit, limit)
    }

    /// A test that may take `limit` terms, of which all tests together have `left` ones.
    pub(crate) fn within(limit: u64, left: u64) -> Steps {
        Steps { limit, left: left.min(limit), taken: 0 }
    }

    /// Counts an evaluation of so many terms; an evaluation of none counts as one.
    pub fn take(&mut self, terms: usize) -> Result<(), AnalysisError> {
        let terms = terms.max(1) as u64;
        let left = self.left.checked_sub(terms);
        self.left = left.ok_or(AnalysisError::TooLong(self.limit))?;
        self.taken += terms;
        Ok(())
    }

    /// The terms taken so far.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end() {
        let mut steps = Steps::new(3);
        assert_eq!(steps.take(2), Ok(()));
        assert_eq!(steps.take(2), Err(AnalysisError::TooLong(3)));
        assert_eq!(steps.taken(), 2);
        assert_eq!(steps.take(0), Ok(()));
        assert_eq!(steps.take(0), Err(AnalysisError::TooLong(3)));
    }
}
