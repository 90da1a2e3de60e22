//! The recorded figures that bounds are made of: `tests/golden.toml`, which `lab run` holds.

use crate::commands::lab::golden_path;
use anyhow::Result;
use results::Golden;

/// The experiment that has the price of a lock, and its cases: a call and the reply, with a long
/// message, where nothing waits. The lock is the same under each kernel.
const LOCKS: &str = "cross-cpu-ipc";
const LOCKED: &str = "strict-eager call-reply 1 CPU, big lock words=64";
const UNLOCKED: &str = "strict-eager call-reply 1 CPU, no lock words=64";

/// The figures of the repository.
pub struct Recorded(Golden);

/// A figure and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Instructions.
    pub instructions: u64,
    /// Experiment and key.
    pub name: String,
}

impl Recorded {
    /// Reads them.
    pub fn load() -> Result<Recorded> {
        Ok(Recorded(Golden::load(&golden_path())?))
    }

    /// Those of a file.
    #[cfg(test)]
    pub fn of(golden: Golden) -> Recorded {
        Recorded(golden)
    }

    /// A limit of an experiment by its key, if there is one.
    pub fn limit(&self, experiment: &str, key: &str) -> Option<Limit> {
        let figure = self.0.limit(experiment, key)?;
        let name = format!("{experiment}: {key}");
        Some(Limit { instructions: figure.as_f64().ceil() as u64, name })
    }

    /// What taking and giving back the lock of the kernel costs a section at most: as much as two.
    pub fn price_of_lock(&self) -> Option<Limit> {
        let [locked, not] = [LOCKED, UNLOCKED].map(|key| self.0.median(LOCKS, key));
        let price = locked?.as_f64() - not?.as_f64();
        Some(Limit { instructions: price.ceil() as u64, name: format!("{LOCKS}: {LOCKED}") })
    }
}
