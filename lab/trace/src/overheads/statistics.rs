//! Statistics of samples of one overhead.

use results::{Summary, p99};
use serde::Serialize;
use std::ops::Deref;

/// What samples come down to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// All but the 99th percentile.
    #[serde(flatten)]
    pub summary: Summary,
    /// See [`p99`].
    pub p99: u64,
}

impl Deref for Statistics {
    type Target = Summary;
    fn deref(&self) -> &Summary {
        &self.summary
    }
}

impl Statistics {
    /// The statistics of at least one sample, in any order.
    pub fn of(samples: &[u64]) -> Option<Statistics> {
        Some(Statistics { summary: Summary::of(samples)?, p99: p99(samples)? })
    }
}
