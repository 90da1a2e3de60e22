//! The parts of a call and its return, by the kernel's trace between the programs' readings of the
//! counter.

use super::{COMPONENTS, EXPERIMENT, FORMS, TIMED, case};
use crate::experiment::measured::recording;
use crate::experiment::traced::traced;
use crate::experiment::{Measured, Setup};
use abi::call::Call;
use abi::results::Tag;
use anyhow::{Context, Result, ensure};
use results::Recording;
use std::collections::BTreeMap;
use trace::{Entry, Section, Sections, Trace};

/// Bytes of the trace: more than the run fills.
const ROOM: u64 = 16 << 20;
/// How the kernel is entered on the way there and on the way back, by form.
const ENTRIES: [[Call; 2]; TIMED] =
    [[Call::TrainCall, Call::TrainReturn], [Call::Call, Call::ReplyWait]];
/// Metrics of the recording: from the client to the server, and back.
const HALVES: [u16; 2] = [2, 3];

/// Adds the components of the forms that are timed.
pub fn measure(setup: &Setup, kernel: &str, measured: &mut Measured) -> Result<()> {
    let traced = traced(setup, EXPERIMENT.name, kernel, ROOM, &mut |_| {})?;
    let recording = recording(&traced.outcome, "recording", kernel)?;
    let trace = traced.traces.each.first().context("the trace has no CPU")?;
    for (form, entries) in (0..).zip(ENTRIES) {
        let found = components(trace, &recording, form, entries)?;
        let name = case(FORMS[usize::from(form)]);
        for (metric, values) in COMPONENTS.into_iter().zip(found) {
            measured.samples.push(kernel, metric, &name, values);
        }
    }
    Ok(())
}

/// The components of each call of a form, in the order of rounds.
fn components(
    trace: &Trace,
    recording: &Recording,
    form: u16,
    entries: [Call; 2],
) -> Result<[Vec<u64>; 6]> {
    let sections = Sections::of(trace).whole;
    let mut sections = sections.iter();
    let [there, back] = HALVES.map(|half| ends(recording, half, form));
    ensure!(!there.is_empty() && there.len() == back.len(), "the calls of form {form} lack ends");
    let mut all: [Vec<u64>; 6] = Default::default();
    let (first, last) = all.split_at_mut(3);
    for round in there.keys() {
        let halves = [(&there, entries[0], &mut *first), (&back, entries[1], &mut *last)];
        for (ends, entry, into) in halves {
            let ends = ends.get(round).with_context(|| format!("round {round} has no end"))?;
            let parts = parts(trace, &mut sections, Entry::Call(entry as u8), *ends);
            let parts = parts.with_context(|| format!("round {round} of form {form}"))?;
            into.iter_mut().zip(parts).for_each(|(into, part)| into.push(part));
        }
    }
    Ok(all)
}

/// Both ends of a metric, by round.
fn ends(recording: &Recording, metric: u16, case: u16) -> BTreeMap<u16, [u64; 2]> {
    let mut ends: BTreeMap<u16, [u64; 2]> = BTreeMap::new();
    let own = |tag: &Tag| tag.metric == metric && tag.case == case;
    for record in recording.records.iter().filter(|record| own(&record.tag)) {
        let point = usize::from(record.tag.point != Tag::BEFORE);
        ends.entry(record.tag.round).or_default()[point] = record.time;
    }
    ends
}

/// From one reading of the counter to the kernel, through it, and to the other reading. An
/// interrupt is part of what it falls into.
fn parts<'a>(
    trace: &Trace,
    sections: &mut impl Iterator<Item = &'a Section>,
    entry: Entry,
    [from, to]: [u64; 2],
) -> Result<[u64; 3]> {
    let at = |moment: usize| trace.start + trace.moments[moment].steps;
    let section = sections.find(|section| section.entry == entry && at(section.first) >= from);
    let Section { first, last, .. } = *section.context("the trace ends before the call")?;
    ensure!(at(last) <= to, "the call is not in the trace");
    // The last record is written behind its stamp.
    let behind = (to - at(last)).saturating_sub(trace.moments[last].cost);
    Ok([at(first) - from, trace.net(first, last), behind])
}
