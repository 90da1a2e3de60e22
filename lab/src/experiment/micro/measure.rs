use super::{METRICS, Of};
use crate::experiment::measured::recording;
use crate::experiment::{Emulated, Measured};
use anyhow::Result;

pub fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let outcome = setup.boot("micro", kernel)?;
    let micro = recording(&outcome, "micro-recording", kernel)?;
    let peer = recording(&outcome, "peer-recording", kernel)?;
    for (number, (name, start, end)) in (1..).zip(METRICS) {
        let of = |of: Of| match of {
            Of::Micro => &micro,
            Of::Peer => &peer,
        };
        let spans = results::spans(of(start.0), start.1, of(end.0), end.1, number)?;
        measured.push(kernel, name, &[""], spans)?;
    }
    Ok(measured)
}
