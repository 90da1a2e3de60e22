//! What one kernel's runs gave, and how recordings become that.

use crate::machine::Outcome;
use crate::machine::native::Host;
use abi::results::Tag;
use anyhow::{Context, Result, bail};
use results::{Curves, Fact, Limit, Recording, Samples, Spans, Summary};
use std::collections::BTreeMap;

/// What one kernel's runs gave.
#[derive(Default)]
pub struct Measured {
    /// Raw samples, under the names of rows.
    pub samples: Samples,
    /// Single counts.
    pub facts: Vec<Fact>,
    /// Sentences for the report.
    pub notes: Vec<String>,
    /// Bounds that figures have.
    pub limits: Vec<Limit>,
    /// What is drawn together.
    pub curves: Vec<Curves>,
    /// What the figures depend on besides.
    pub host: BTreeMap<String, String>,
    /// What the rows count, if not what the machine counts.
    pub unit: Option<String>,
    /// The units of metrics that count something else.
    pub units: BTreeMap<String, String>,
}

/// A fact.
pub fn fact(name: impl Into<String>, value: u64, unit: &str, note: impl Into<String>) -> Fact {
    Fact { name: name.into(), value, unit: unit.to_string(), note: note.into() }
}

/// The upper median; 0 of nothing.
pub fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Decodes a recording that a run left; the kernel that it names must be the one asked for.
pub fn recording(outcome: &Outcome, memory: &str, kernel: &str) -> Result<Recording> {
    let bytes = outcome.memories.get(memory).with_context(|| {
        format!("the manifest has no memory `{memory}` with `host = true`; add it")
    })?;
    let recording = Recording::decode(bytes).with_context(|| format!("memory `{memory}`"))?;
    if recording.kernel != kernel {
        let reported = &recording.kernel;
        bail!("kernel `{kernel}` was asked for, but `{memory}` was written under `{reported}`");
    }
    Ok(recording)
}

/// The metrics of a round trip: until a call is received, and until its reply is.
pub const CALL_REPLY: [&str; 2] = ["call", "reply-wait"];

/// Both halves of the round trips that the client and the server of ping-pong have recorded.
///
/// In each round the client writes BEFORE its call and AFTER the call has returned; the server
/// writes AFTER its receive has returned and BEFORE it replies. A call ends at the server, a
/// reply at the client, so each span has its ends in two recordings.
pub fn round_trips(outcome: &Outcome, kernel: &str) -> Result<[Spans; 2]> {
    const ROUND_TRIP: u16 = 1;
    let client = recording(outcome, "client-recording", kernel)?;
    let server = recording(outcome, "server-recording", kernel)?;
    let call = results::spans(&client, Tag::BEFORE, &server, Tag::AFTER, ROUND_TRIP)?;
    let reply = results::spans(&server, Tag::BEFORE, &client, Tag::AFTER, ROUND_TRIP)?;
    Ok([call, reply])
}

/// What a call and its reply take, with no words: the upper medians of both halves together.
pub fn pair(outcome: &Outcome, kernel: &str) -> Result<u64> {
    let mut pair = 0;
    for mut spans in round_trips(outcome, kernel)? {
        let values = spans.cases.get_mut(&0).context("the programs recorded no first case")?;
        values.sort_unstable();
        pair += values.get(values.len() / 2).context("the programs recorded no round")?;
    }
    Ok(pair)
}

/// Spans whose ends are in one recording.
pub fn spans(recording: &Recording, metric: u16) -> Result<Spans> {
    results::spans(recording, Tag::BEFORE, recording, Tag::AFTER, metric)
}

impl Measured {
    /// What the samples of a case come down to.
    pub fn summary(&self, kernel: &str, metric: &str, case: &str) -> Result<Summary> {
        let mut series = self.samples.series.iter();
        let own =
            series.find(|own| (&*own.kernel, &*own.metric, &*own.case) == (kernel, metric, case));
        let summary = own.and_then(|own| Summary::of(&own.values));
        summary.with_context(|| format!("no row `{metric}` for `{case}` under {kernel}"))
    }

    /// Their median.
    pub fn median(&self, kernel: &str, metric: &str, case: &str) -> Result<f64> {
        Ok(self.summary(kernel, metric, case)?.median.as_f64())
    }

    /// Adds the spans of a metric under the names of its cases.
    pub fn push(
        &mut self,
        kernel: &str,
        metric: &str,
        cases: &[impl AsRef<str>],
        spans: Spans,
    ) -> Result<()> {
        if let Some(warning) = spans.warning() {
            self.notes.push(format!("{metric}: {warning}"));
        }
        for (number, values) in spans.cases {
            let Some(case) = cases.get(usize::from(number)) else {
                bail!("metric `{metric}`: case {number} was recorded, which is not known here");
            };
            self.samples.push(kernel, metric, case.as_ref(), values);
        }
        Ok(())
    }

    /// Adds spans, each divided by the number of operations of its case.
    pub fn push_shares(
        &mut self,
        kernel: &str,
        metric: &str,
        cases: &[(u64, String)],
        mut spans: Spans,
    ) -> Result<()> {
        for (number, values) in &mut spans.cases {
            if let Some((operations, _)) = cases.get(usize::from(*number)) {
                values.iter_mut().for_each(|value| *value = (*value + operations / 2) / operations);
            }
        }
        let names: Vec<&str> = cases.iter().map(|(_, name)| name.as_str()).collect();
        self.push(kernel, metric, &names, spans)
    }

    /// Notes what figures of this host depend on.
    pub fn on_host<T>(&mut self, host: &Host<T>) {
        self.host.insert("processor".to_string(), host.processor.clone());
        self.host.insert("counter".to_string(), format!("{} Hz", host.hertz));
    }

    /// Adds what another part of the run gave.
    pub fn extend(&mut self, other: Measured) {
        self.samples.series.extend(other.samples.series);
        self.facts.extend(other.facts);
        self.notes.extend(other.notes);
        self.limits.extend(other.limits);
        self.curves.extend(other.curves);
        self.host.extend(other.host);
        self.unit = other.unit.or(self.unit.take());
        self.units.extend(other.units);
    }
}
