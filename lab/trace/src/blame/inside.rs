//! What takes long inside a kernel section.

use crate::{Moment, Section, Trace};
use abi::trace::{Event, point};

/// Work inside a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// A lazy dequeue of so many threads.
    LazyDequeue(u32),
    /// A chain of so many transfers.
    Chain(u32),
}

/// The lazy dequeues and chains of a section with their first and last moments, in order of time.
pub(super) fn works(trace: &Trace, section: &Section) -> Vec<(Work, usize, usize)> {
    let moments = section.moments(trace);
    let mut works = Vec::new();
    let mut index = 0;
    while index < moments.len() {
        let found = match moments[index].event {
            Event::LazyDequeue => lazy_dequeue(moments, index),
            Event::Chain => Some(chain(moments, index)),
            _ => None,
        };
        if let Some((work, end)) = found {
            works.push((work, section.first + index, section.first + end));
            index = end;
        } else {
            index += 1;
        }
    }
    works
}

/// A lazy dequeue ends with its look-up, which says how many threads it dropped.
fn lazy_dequeue(moments: &[Moment], from: usize) -> Option<(Work, usize)> {
    let look_up = |moment: &Moment| moment.event == Event::LookUp;
    let end = from + moments[from..].iter().position(look_up)?;
    Some((Work::LazyDequeue(moments[end].argument), end))
}

/// A chain ends with the decision that follows its last transfer.
fn chain(moments: &[Moment], from: usize) -> (Work, usize) {
    let chain = |moment: &Moment| moment.event == Event::Chain;
    let last = moments.iter().rposition(chain).unwrap_or(from);
    let decides = |moment: &Moment| {
        matches!(moment.event, Event::LookUp | Event::LazyDequeue | Event::Switch | Event::Exit)
    };
    let rest = moments[last..].iter().position(decides);
    let end = rest.map_or(moments.len() - 1, |rest| last + rest);
    let transfers = moments[from..=last].iter().filter(|moment| chain(moment)).count();
    (Work::Chain(u32::try_from(transfers).unwrap_or(u32::MAX)), end)
}

/// Whether a section has preemption points of long work.
pub(super) fn is_long(trace: &Trace, section: &Section) -> bool {
    let long = |moment: &Moment| {
        moment.event == Event::Preempt && matches!(moment.argument, point::CALL | point::RECEIVE)
    };
    section.entry.is_call() && section.moments(trace).iter().any(long)
}
