//! Overheads: pairs of events made into samples, as Feather-Trace does it (S2C-10).
//!
//! A sample is the distance of two events in counter steps, without what writing records took in
//! between. A pair is dropped, and counted, when something else is in it: an interrupt between a
//! program's look at the counter and its entry, or records that are missing. Inside a kernel
//! section interrupts are off, so that there only missing records can do harm.

mod kernel_times;
mod pairs;
mod statistics;
mod user;

pub use kernel_times::{
    KernelTime, Unpolled, kernel_times, kernel_times_table, unpolled, unpolled_parts,
};
pub use statistics::Statistics;

use crate::{Sections, Trace};
use std::fmt;

/// A kind of overhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A decision by the ready queue: from the last event before the section's first
    /// `LazyDequeue` or `LookUp` (other than of the ready queue itself) to the section's `Switch`,
    /// or to its last `LookUp` when the same thread goes on. Where a tree decides, to the `Switch`
    /// from the last event before it that is not of a queue: with charges and budgets that come
    /// back.
    Scheduling,
    /// `Switch` to `Exit`.
    ContextSwitch,
    /// `Enter` of the timer's or a device's interrupt to the first `Wake`.
    Release,
    /// `Tick` to `Exit`; where a tree decides, a timer's interrupt that releases no thread.
    Tick,
    /// The counter read by a program to the `Enter` that follows.
    CallIn,
    /// The `Exit` from a system call to the counter read by the program.
    CallOut,
    /// From sending an interrupt to another CPU to its receipt.
    CrossCpu,
}

impl Kind {
    /// All kinds, in the order of tables.
    pub const ALL: [Kind; 7] = [
        Kind::Scheduling,
        Kind::ContextSwitch,
        Kind::Release,
        Kind::Tick,
        Kind::CallIn,
        Kind::CallOut,
        Kind::CrossCpu,
    ];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Scheduling => "scheduling",
            Kind::ContextSwitch => "context switch",
            Kind::Release => "release",
            Kind::Tick => "tick",
            Kind::CallIn => "system call in",
            Kind::CallOut => "system call out",
            Kind::CrossCpu => "cross-CPU interrupt",
        })
    }
}

/// The samples of one overhead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overhead {
    /// Which.
    pub kind: Kind,
    /// The samples in counter steps, in the order of their times.
    pub samples: Vec<u64>,
    /// Pairs that something else was in.
    pub dropped: u64,
}

impl Overhead {
    /// What the samples come down to; `None`: there are none.
    pub fn statistics(&self) -> Option<Statistics> {
        Statistics::of(&self.samples)
    }

    fn add(&mut self, sample: Option<u64>) {
        match sample {
            Some(sample) => self.samples.push(sample),
            None => self.dropped += 1,
        }
    }
}

/// All overheads of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overheads {
    /// The counter's frequency in Hz.
    pub hz: u64,
    /// Counter steps that were subtracted for each record.
    pub cost: u64,
    /// Counter steps that were subtracted beyond that for each record that filled a page.
    pub turn: u64,
    /// One for each kind.
    pub all: Vec<Overhead>,
}

/// The overheads of a trace.
pub fn overheads(trace: &Trace) -> Overheads {
    let sections = Sections::of(trace);
    let none = |kind| Overhead { kind, samples: Vec::new(), dropped: 0 };
    let mut all: Vec<Overhead> = Kind::ALL.into_iter().map(none).collect();
    pairs::collect(trace, &sections, &mut all);
    user::collect(trace, &sections, &mut all);
    Overheads { hz: trace.hz, cost: trace.cost, turn: trace.turn, all }
}

impl Overheads {
    /// One of them.
    pub fn of(&self, kind: Kind) -> Option<&Overhead> {
        self.all.iter().find(|overhead| overhead.kind == kind)
    }

    /// The overheads as a table for a terminal of this width.
    pub fn table(&self, width: usize) -> String {
        let header =
            ["overhead", "n", "dropped", "min", "q1", "median", "mean", "q3", "p99", "max"];
        let rows = self.all.iter().map(|overhead| {
            let mut row = vec![overhead.kind.to_string()];
            let dropped = overhead.dropped.to_string();
            match overhead.statistics() {
                Some(s) => row.extend([s.n.to_string(), dropped].into_iter().chain(figures(&s))),
                None => row.extend(["absent".to_string(), dropped]),
            }
            row
        });
        let title = format!(
            "counter steps at {} Hz, less {} for a record in between, {} more if it fills a page",
            self.hz, self.cost, self.turn,
        );
        textwrap::fill(&title, width) + "\n" + &table(&header, rows, width)
    }
}

fn figures(s: &Statistics) -> [String; 7] {
    let (min, p99, max) = (s.min.into(), s.p99.into(), s.max.into());
    let [min, q1, median, q3, p99, max] =
        [min, s.q1, s.median, s.q3, p99, max].map(results::Figure::grouped);
    [min, q1, median, format!("{:.1}", s.mean), q3, p99, max]
}

/// A table for a terminal of this width, with names on the left and figures on the right. Where
/// it would be wider, headers and texts are broken between words.
pub(crate) fn table(
    header: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
    width: usize,
) -> String {
    let mut table = results::plain_table(header, width);
    for mut row in rows {
        row.resize(header.len(), String::new());
        table.add_row(row);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding(if index == 0 { (0, 1) } else { (1, 0) });
        if index > 0 {
            column.set_cell_alignment(comfy_table::CellAlignment::Right);
        }
    }
    results::fitted(table, 1)
}

#[cfg(test)]
mod tests;
