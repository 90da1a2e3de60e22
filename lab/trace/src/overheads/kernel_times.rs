//! How long the kernel keeps interrupts off, by what it was entered for.

use super::{Statistics, figures, table};
use crate::{Entry, Section, Sections, Trace};
use abi::trace::Event;
use serde::Serialize;
use std::collections::BTreeMap;

/// The sections of one kind of entry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelTime {
    /// The kind of entry.
    pub entry: Entry,
    /// Steps from `Enter` to `Exit` without the writing of records.
    pub statistics: Statistics,
    /// When the longest was entered, in ns since boot.
    #[serde(rename = "longest_at_ns")]
    pub longest_at: u64,
}

/// The kernel's times by kind of entry, the longest first.
pub fn kernel_times(trace: &Trace) -> Vec<KernelTime> {
    let mut times: BTreeMap<Entry, Vec<(u64, u64)>> = BTreeMap::new();
    for section in Sections::of(trace).whole {
        let net = trace.net(section.first, section.last);
        times.entry(section.entry).or_default().push((net, trace.moments[section.first].ns));
    }
    let each = times.into_iter().filter_map(|(entry, times)| {
        let samples: Vec<u64> = times.iter().map(|&(net, _)| net).collect();
        let statistics = Statistics::of(&samples)?;
        let (_, longest_at) = *times.iter().find(|&&(net, _)| net == statistics.max)?;
        Some(KernelTime { entry, statistics, longest_at })
    });
    let mut all: Vec<KernelTime> = each.collect();
    all.sort_by_key(|time| std::cmp::Reverse(time.statistics.max));
    all
}

/// The whole sections, each with its longest run in which no interrupt has a chance: from `Enter`
/// or a preemption point to the next one or to `Exit`, in steps without the records.
pub fn unpolled(trace: &Trace) -> Vec<(Section, u64)> {
    let run = |section: Section| (section, longest_run(trace, &section));
    Sections::of(trace).whole.into_iter().map(run).collect()
}

fn longest_run(trace: &Trace, section: &Section) -> u64 {
    let inside = section.first + 1..section.last;
    let polls = inside.filter(|&at| trace.moments[at].event == Event::Preempt);
    let (mut from, mut longest) = (section.first, 0);
    for to in polls.chain([section.last]) {
        longest = longest.max(trace.net(from, to));
        from = to;
    }
    longest
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
