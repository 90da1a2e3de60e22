//! Pairs of which a program contributes one half by reading the counter itself.
//!
//! The program hands over the low half of the counter, in a remark that it makes later. Which entry
//! or exit belongs to it follows from the times alone: the first after the reading, or the last
//! before it.

use super::{Kind, Overhead};
use crate::{Section, Sections, Trace};
use abi::trace::Event;

/// Adds the samples of all remarks.
pub(super) fn collect(trace: &Trace, sections: &Sections, all: &mut [Overhead]) {
    let left = left_by_call(sections);
    for (index, moment) in trace.moments.iter().enumerate() {
        let (kind, sample) = match moment.event {
            Event::UserBefore => (Kind::CallIn, call_in(trace, sections, index)),
            Event::UserAfter => (Kind::CallOut, call_out(trace, sections, &left, index)),
            _ => continue,
        };
        if let Some(overhead) = all.iter_mut().find(|overhead| overhead.kind == kind) {
            overhead.add(sample);
        }
    }
}

/// The step at which a program read the counter, given the moment of its remark; `None`: before
/// boot.
fn reading(trace: &Trace, index: usize) -> Option<u64> {
    let moment = &trace.moments[index];
    let ago = trace.low(moment.steps).wrapping_sub(moment.argument);
    moment.steps.checked_sub(u64::from(ago))
}

/// From a reading to the next entry, if that is a system call of the same thread.
fn call_in(trace: &Trace, sections: &Sections, index: usize) -> Option<u64> {
    let read = reading(trace, index)?;
    let enter = |section: &Section| trace.moments[section.first].steps;
    let next = sections.whole.partition_point(|section| enter(section) < read);
    let section = sections.whole.get(next)?;
    let own = section.entry.is_call() && section.thread == trace.moments[index].thread;
    let seen = next > 0 && adjacent(trace, &sections.whole[next - 1], section)
        || next == 0 && trace.moments.first().is_some_and(|first| first.steps <= read);
    (own && seen).then(|| enter(section) - read)
}

/// From the last exit to a reading, if that ended a system call of the same thread.
fn call_out(trace: &Trace, sections: &Sections, left: &[bool], index: usize) -> Option<u64> {
    let read = reading(trace, index)?;
    let exit = |section: &Section| trace.moments[section.last].steps;
    let later = sections.whole.partition_point(|section| exit(section) <= read);
    let section = sections.whole.get(later.checked_sub(1)?)?;
    let own = section.next == trace.moments[index].thread && left[later - 1];
    let seen = sections.whole.get(later).is_some_and(|next| adjacent(trace, section, next));
    // The record of the exit itself is written before the kernel is left.
    (own && seen).then(|| (read - exit(section)).saturating_sub(trace.moments[section.last].cost))
}

/// Whether no section is missing between two.
fn adjacent(trace: &Trace, one: &Section, next: &Section) -> bool {
    let between = &trace.moments[one.last + 1..next.first];
    one.next == next.thread
        && !between.iter().any(|moment| matches!(moment.event, Event::Enter | Event::Exit))
}

/// For each section, whether the thread that it ends in had left user mode by a system call.
fn left_by_call(sections: &Sections) -> Vec<bool> {
    let mut by_call = std::collections::HashMap::new();
    let each = sections.whole.iter().map(|section| {
        by_call.insert(section.thread, section.entry.is_call());
        by_call.get(&section.next).copied().unwrap_or(false)
    });
    each.collect()
}
