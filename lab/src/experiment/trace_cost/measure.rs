use super::CASES;
use crate::experiment::measured::{CALL_REPLY, fact, round_trips};
use crate::experiment::{Emulated, Measured};
use crate::image::Watch;
use abi::call::Call;
use abi::trace::{Event, HEADER_WORDS, Keep, RECORD_WORDS, Record};
use anyhow::{Context, Result, ensure};

const SYSTEM: &str = "ping-across";
/// Bytes of the trace: more than the run fills before the round trip that is looked at.
const TRACE: u64 = 8 << 20;
/// The round trip whose records are counted: one of those with no words, past the warm-up.
const ROUND: usize = 500;

pub fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let mut name = String::new();
    let mut records = 0;
    for number in 0..CASES.len() {
        let outcome = match number {
            0 => setup.boot(SYSTEM, kernel)?,
            1 => setup.boot_with(Watch::Trace, SYSTEM, kernel, &mut |_| {})?,
            _ => setup.boot_with(Watch::Trace, SYSTEM, kernel, &mut |system| {
                name = system.add_trace(TRACE, Keep::First);
            })?,
        };
        for (metric, mut spans) in CALL_REPLY.into_iter().zip(round_trips(&outcome, kernel)?) {
            // No words, across domains: the programs' first case.
            let values = spans.cases.remove(&0).context("the programs recorded no first case")?;
            spans.cases = [(number as u16, values)].into();
            measured.push(kernel, metric, &CASES, spans)?;
        }
        if let Some(trace) = outcome.memories.get(&name) {
            records = round_trip(trace)?;
        }
    }
    let median = |metric: &str, case| measured.median(kernel, metric, case).map(|it| it as u64);
    let pair = |case| anyhow::Ok(median("call", case)? + median("reply-wait", case)?);
    let [without, off, on] = [pair(CASES[0])?, pair(CASES[1])?, pair(CASES[2])?];
    let of_trace = |name: &str, value, note: &str| {
        fact(format!("{kernel} {name}"), value, "instructions", note)
    };
    measured.facts.extend([
        of_trace("trace off", off.saturating_sub(without), "more for a pair than without a trace"),
        of_trace(
            "record",
            (on - off).div_ceil(records),
            "for each of a pair's records, rounded up",
        ),
    ]);
    Ok(measured)
}

/// How many records one round trip of the client makes.
fn round_trip(trace: &[u8]) -> Result<u64> {
    let mut words = trace.chunks_exact(8).skip(HEADER_WORDS);
    let mut word = || Some(u64::from_le_bytes(words.next()?.try_into().ok()?));
    let mut calls = 0;
    let mut records = 0;
    while let (Some(low), Some(high)) = (word(), word()) {
        let record: [u64; RECORD_WORDS] = [low, high];
        let Some(record) = Record::from_words(record) else { break };
        if record.event == Event::Enter && record.argument == Call::Call as u32 {
            calls += 1;
        }
        if calls > ROUND {
            break;
        }
        records += u64::from(calls == ROUND);
    }
    ensure!(calls > ROUND && records > 0, "the trace holds only {calls} calls");
    Ok(records)
}
