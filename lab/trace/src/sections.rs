//! Kernel sections: what lies between entering the kernel and leaving it.
//!
//! Interrupts are off all along, so a section is also a stretch with interrupts off. A section is
//! whole when its `Enter` and its `Exit` are both in the trace with nothing missing between them;
//! the others are only counted.

use crate::{Entry, Moment, Trace};
use abi::call::Call;
use abi::trace::Event;
use std::collections::BTreeMap;

/// One run through the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// How the kernel was entered.
    pub entry: Entry,
    /// The thread that ran before.
    pub thread: u16,
    /// The thread that runs after.
    pub next: u16,
    /// The moment of its `Enter`.
    pub first: usize,
    /// The moment of its `Exit`.
    pub last: usize,
}

impl Section {
    /// Its moments, from `Enter` to `Exit`, in a trace of one CPU.
    pub fn moments<'a>(&self, trace: &'a Trace) -> &'a [Moment] {
        &trace.moments[self.first..=self.last]
    }
}

/// The sections of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// The whole ones, in order of time.
    pub whole: Vec<Section>,
    /// How many span a stop of the trace by a program.
    pub stopped: u64,
    /// How many others lack their `Enter` or their `Exit`.
    pub broken: u64,
}

impl Sections {
    /// The sections of a trace.
    pub fn of(trace: &Trace) -> Sections {
        let mut sections = Sections::default();
        let mut cpus: BTreeMap<u8, Progress> = BTreeMap::new();
        for (index, moment) in trace.moments.iter().enumerate() {
            let Progress { open, left, last } = cpus.entry(moment.cpu).or_default();
            // Boot leaves for the first thread without ever having entered.
            let booting = !*left && starts_at_boot(trace);
            let before = last.replace(index);
            match moment.event {
                Event::Enter => {
                    *left = true;
                    match *open {
                        // A fast path that gave up leaves it to the general path.
                        Some(first) if before == Some(first) && again(trace, first, index) => {}
                        earlier => {
                            sections.broken += u64::from(earlier.is_some());
                            *open = Some(index);
                        }
                    }
                }
                Event::Exit => match open.take() {
                    Some(first) if !spans_a_gap(trace, first, index) => {
                        let enter = &trace.moments[first];
                        sections.whole.push(Section {
                            entry: Entry::from_code(enter.argument),
                            thread: enter.thread,
                            next: moment.thread,
                            first,
                            last: index,
                        });
                    }
                    Some(_) => sections.stopped += 1,
                    None => {
                        sections.broken += u64::from(!booting);
                        *left = true;
                    }
                },
                _ => {}
            }
        }
        sections.broken += cpus.values().filter(|cpu| cpu.open.is_some()).count() as u64;
        sections
    }
}

/// The moments of a trace of one CPU at which something begins and ends, such as having the lock.
/// What begins again before it has ended begins there.
pub(crate) fn pairs(
    trace: &Trace,
    begin: Event,
    end: Event,
) -> impl Iterator<Item = (usize, usize)> {
    let mut since = None;
    trace.moments.iter().enumerate().filter_map(move |(index, moment)| {
        if moment.event == begin {
            since = Some(index);
        }
        let ends = moment.event == end;
        ends.then(|| since.take()).flatten().map(|first| (first, index))
    })
}

/// How far the moments of a CPU have been followed.
#[derive(Default)]
struct Progress {
    /// The section that has begun.
    open: Option<usize>,
    /// Whether it has entered or left the kernel.
    left: bool,
    last: Option<usize>,
}

/// Whether nothing is missing at the beginning.
fn starts_at_boot(trace: &Trace) -> bool {
    trace.lost() == 0 || trace.keep == abi::trace::Keep::First
}

fn again(trace: &Trace, first: usize, second: usize) -> bool {
    let (first, second) = (&trace.moments[first], &trace.moments[second]);
    first.thread == second.thread && first.argument == second.argument
}

/// Whether the trace may have been stopped in this section and gone on in a later one: then the
/// section is that of a call to `observe` that leaves no remark.
fn spans_a_gap(trace: &Trace, first: usize, last: usize) -> bool {
    let remark = |moment: &Moment| {
        matches!(moment.event, Event::Mark | Event::UserBefore | Event::UserAfter)
    };
    trace.moments[first].argument == Call::Observe as u32
        && !trace.moments[first..last].iter().any(remark)
}
