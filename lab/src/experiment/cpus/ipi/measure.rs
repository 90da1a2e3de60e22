use super::super::cross;
use super::super::shootdown::traced_part;
use super::{BEFORE, CASES, IPI, REMOTE, SENT};
use crate::experiment::measured::spans;
use crate::experiment::{Emulated, Measured};
use abi::trace::{Event, entry};
use anyhow::{Context, Result, ensure};
use trace::{Entry, Moment, Traces};

/// Rounds that are traced.
const ROUNDS: [(&str, u64); 2] = [("warmup", 8), ("rounds", 50)];
/// The numbers of both in recordings.
const WAKE_UPS: u16 = 3;
const REMOTE_WAKE_UPS: u16 = 8;

pub fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let recorded = cross(setup, kernel, "ipi")?;
    let mut delays = results::delays(&recorded, WAKE_UPS)?;
    for (number, case) in (0..).zip(CASES) {
        let delays = delays.remove(&number).context("the program lacks a case")?;
        measured.samples.push(kernel, results::WAKE_UP, case, delays);
    }
    measured.push(kernel, REMOTE, &BEFORE, spans(&recorded, REMOTE_WAKE_UPS)?)?;
    let traces = traced_part(setup, kernel, "ipi", ROUNDS)?;
    let sent = sent_to_entered(&traces);
    ensure!(!sent.is_empty(), "no timer of the first CPU has woken a thread on another");
    measured.samples.push(kernel, IPI, SENT, sent);
    Ok(measured)
}

/// Of each timer interrupt on the first CPU that interrupts another one: counter steps from there
/// until that has entered the kernel, without those that records took.
fn sent_to_entered(traces: &Traces) -> Vec<u64> {
    let first = &traces.each[0];
    let timers = trace::Sections::of(first).whole.into_iter();
    let timers = timers.filter(|section| section.entry == Entry::Timer);
    let sent = timers.flat_map(|section| section.moments(first).iter());
    let sent = sent.filter(|moment| moment.event == Event::Ipi);
    sent.filter_map(|ipi| {
        let other = traces.each.iter().find(|trace| u32::from(trace.cpu) == ipi.argument)?;
        let entered = |m: &&Moment| {
            (m.event, m.argument) == (Event::Enter, entry::IPI) && m.steps >= ipi.steps
        };
        let entered = other.moments.iter().find(entered)?;
        let between = ipi.steps..entered.steps;
        let records = traces.all.moments.iter().filter(|m| between.contains(&m.steps));
        let costs = records.map(|moment| moment.cost);
        Some(costs.fold(entered.steps - ipi.steps, u64::saturating_sub))
    })
    .collect()
}
