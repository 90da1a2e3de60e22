use super::{CASES, RESTART, SYSTEMS, WORST};
use crate::experiment::measured::{recording, spans};
use crate::experiment::{Boots, Measured};
use anyhow::{Context, Result, ensure};

/// The number of the metric in the recording.
const METRIC: u16 = 1;

pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    for (system, cases) in SYSTEMS.into_iter().zip(CASES.chunks_exact(CASES.len() / 2)) {
        let outcome = setup.boot(system, kernel)?;
        let spans = spans(&recording(&outcome, "recording", kernel)?, METRIC)?;
        ensure!(spans.cases.len() == cases.len(), "the programs recorded too few cases");
        for (number, case) in (0..).zip(cases) {
            let worst = spans.cases.get(&number).and_then(|values| values.iter().max());
            let worst = *worst.context("a case without a restart")?;
            measured.samples.push(kernel, WORST, case, vec![worst]);
        }
        measured.push(kernel, RESTART, cases, spans)?;
    }
    Ok(measured)
}
