//! The work that an analysis may do: response times can take as long as the periods' common
//! multiple, so every loop counts.

use crate::AnalysisError;

/// How much one test, and how much all tests of a tree, may do. The unit is a term: the demand of
/// one task, or the supply of one window, at one instant. A term takes some nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Terms of one test of one task or class.
    pub test: u64,
    /// Terms of all tests of one analysis. When they are used up, the remaining verdicts are
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
}

impl Steps {
    /// A test that may take `limit` terms.
    pub fn new(limit: u64) -> Steps {
        Steps { limit, left: limit }
    }

    /// Counts an evaluation of so many terms; an evaluation of none counts as one.
    pub fn take(&mut self, terms: usize) -> Result<(), AnalysisError> {
        let left = self.left.checked_sub(terms.max(1) as u64);
        self.left = left.ok_or(AnalysisError::TooLong(self.limit))?;
        Ok(())
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
        assert_eq!(steps.take(0), Ok(()));
        assert_eq!(steps.take(0), Err(AnalysisError::TooLong(3)));
    }
}
