use super::super::cross;
use super::{EXPERIMENT, ipis, name};
use crate::experiment::measured::spans;
use crate::experiment::{Emulated, Measured};
use anyhow::{Context, Result};

/// Numbers of metrics in recordings, in the order of their names.
const METRICS: [u16; 4] = [5, 4, 6, 7];
pub fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let facts = ipis::facts(setup, kernel)?;
    let mut measured = Measured { facts, ..Measured::default() };
    let recorded = cross(setup, kernel, "shootdown")?;
    for (metric, number) in EXPERIMENT.metrics.iter().zip(METRICS) {
        for (case, values) in spans(&recorded, number)?.cases {
            let name = name(metric, case).with_context(|| format!("{metric}: case {case}"))?;
            measured.samples.push(kernel, metric, &name, values);
        }
    }
    Ok(measured)
}
