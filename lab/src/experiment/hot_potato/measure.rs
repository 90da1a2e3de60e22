//! The program writes BEFORE when all messages of a series are in the ring, and AFTER when the
//! last of them has made all its hops.

use super::{COLD, FEW_THREADS, MESSAGES, METRIC, PING_PONG, case, cold};
use crate::experiment::measured::{recording, spans};
use crate::experiment::{Boots, Hardware, Measured, native_series};
use crate::machine::native::Cost;
use anyhow::{Context, Result};

const SERIES: u16 = 1;
/// Hops in a series: 250 threads see 150 messages each.
const HOPS: u64 = 250 * 150;

pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let series = recording(&setup.boot("hot-potato", kernel)?, "recording", kernel)?;
    let cases = MESSAGES.map(|messages| (HOPS, case(messages)));
    measured.push_shares(kernel, METRIC, &cases, spans(&series, SERIES)?)?;
    Ok(measured)
}

pub fn on_host(setup: &Hardware, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let sweep = MESSAGES.map(|messages| (messages, case(messages)));
    let large = COLD.map(|messages| (messages, cold(messages)));
    let of = (kernel, METRIC);
    native_series::measure(&mut measured, setup, of, &["ring"], &sweep)?;
    native_series::measure(&mut measured, setup, of, &["ring", "--threads", "4000"], &large)?;
    let few = [(1, FEW_THREADS.to_string())];
    native_series::measure(&mut measured, setup, of, &["ring", "--threads", "8"], &few)?;
    let options = ["cost", "--kernel", kernel, "--lockings", "none", "--rounds", "100"];
    let mut messages = Vec::new();
    for _ in 0..native_series::STARTS {
        let host = setup.run::<Vec<Cost>>(&options)?;
        let cost = host.found.first().context("no message was measured")?;
        let mut batches = cost.batches.clone();
        batches.sort_unstable();
        // A batch is short enough that the host leaves most of them alone.
        let usual = batches.get(batches.len() / 2).context("no batch was measured")?;
        messages.push(usual * 100 / cost.messages_in_batch);
    }
    measured.samples.push(kernel, METRIC, PING_PONG, messages);
    Ok(measured)
}
