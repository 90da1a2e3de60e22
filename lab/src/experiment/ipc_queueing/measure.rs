//! The program writes BEFORE it wakes the first thread and AFTER it has answered the last.

use super::{METRIC, THREADS, case};
use crate::experiment::measured::{recording, spans};
use crate::experiment::{Boots, Hardware, Measured, native_series};
use anyhow::Result;

const SERIES: u16 = 1;

pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let series = recording(&setup.boot("queueing", kernel)?, "recording", kernel)?;
    let cases = THREADS.map(|threads| (threads, case(threads)));
    measured.push_shares(kernel, METRIC, &cases, spans(&series, SERIES)?)?;
    Ok(measured)
}

pub fn on_host(setup: &Hardware, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let sizes = THREADS.map(|threads| (threads, case(threads)));
    let options = ["queue", "--threads", "1000"];
    native_series::measure(&mut measured, setup, (kernel, METRIC), &options, &sizes)?;
    Ok(measured)
}
