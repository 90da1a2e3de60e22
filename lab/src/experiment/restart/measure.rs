use super::{CASES, RESTART, WORST};
use crate::experiment::measured::{recording, spans};
use crate::experiment::{Boots, Measured};
use anyhow::{Context, Result, ensure};

/// The number of the metric in the recording.
const METRIC: u16 = 1;

pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let outcome = setup.boot("restart", kernel)?;
    let spans = spans(&recording(&outcome, "recording", kernel)?, METRIC)?;
    ensure!(spans.cases.len() == CASES.len(), "the programs recorded too few cases");
    for (number, case) in (0..).zip(CASES) {
        let worst = spans.cases.get(&number).and_then(|values| values.iter().max());
        let worst = *worst.context("a case without a restart")?;
        measured.samples.push(kernel, WORST, case, vec![worst]);
    }
    measured.push(kernel, RESTART, &CASES, spans)?;
    Ok(measured)
}
