//! The non-preemptible sections of the kernel, by what it was entered for.

use super::{Statistics, figures, table};
use crate::{Entry, Section, Sections, Trace};
use abi::trace::Event;
use serde::Serialize;
use std::collections::BTreeMap;

/// The non-preemptible sections of one kind of entry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelTime {
    /// The kind of entry.
    pub entry: Entry,
    /// Of each kernel section its longest [`Unpolled`], in steps without the writing of records.
    pub statistics: Statistics,
    /// When the longest of all began, in ns since boot.
    #[serde(rename = "longest_at_ns")]
    pub longest_at: u64,
}

/// A part of a kernel section in which no interrupt has a chance: from `Enter` or a preemption
/// point to the next one or to `Exit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unpolled {
    /// The moment with which it begins.
    pub first: usize,
    /// The moment with which it ends.
    pub last: usize,
    /// How long it is, in steps without the writing of records.
    pub steps: u64,
}

/// The kernel's times by kind of entry, the longest first.
pub fn kernel_times(trace: &Trace) -> Vec<KernelTime> {
    let mut times: BTreeMap<Entry, Vec<Unpolled>> = BTreeMap::new();
    for (section, part) in unpolled(trace) {
        times.entry(section.entry.kind()).or_default().push(part);
    }
    let each = times.into_iter().filter_map(|(entry, parts)| {
        let samples: Vec<u64> = parts.iter().map(|part| part.steps).collect();
        let statistics = Statistics::of(&samples)?;
        let longest = parts.iter().find(|part| part.steps == statistics.max)?;
        Some(KernelTime { entry, statistics, longest_at: trace.moments[longest.first].ns })
    });
    let mut all: Vec<KernelTime> = each.collect();
    all.sort_by_key(|time| std::cmp::Reverse(time.statistics.max));
    all
}

/// The whole sections, each with its longest part that has no preemption point in it.
pub fn unpolled(trace: &Trace) -> Vec<(Section, Unpolled)> {
    let part = |section: Section| (section, longest(trace, &section));
    Sections::of(trace).whole.into_iter().map(part).collect()
}

fn longest(trace: &Trace, section: &Section) -> Unpolled {
    let parts = unpolled_parts(trace, section).into_iter().rev();
    parts.max_by_key(|part| part.steps).expect("a section has a part")
}

/// The parts of a section, between which are its preemption points.
pub fn unpolled_parts(trace: &Trace, section: &Section) -> Vec<Unpolled> {
    let inside = section.first + 1..section.last;
    let polls = inside.filter(|&at| trace.moments[at].event == Event::Preempt);
    let mut first = section.first;
    let part = |last| {
        let part = Unpolled { first, last, steps: trace.net(first, last) };
        first = last;
        part
    };
    polls.chain([section.last]).map(part).collect()
}

/// The kernel's times as a table for a terminal of this width.
pub fn kernel_times_table(times: &[KernelTime], width: usize) -> String {
    let header = ["entry", "n", "min", "q1", "median", "mean", "q3", "p99", "max", "max at (ns)"];
    let rows = times.iter().map(|time| {
        let mut row = vec![time.entry.to_string(), time.statistics.n.to_string()];
        row.extend(figures(&time.statistics));
        row.push(time.longest_at.to_string());
        row
    });
    table(&header, rows, width)
}
