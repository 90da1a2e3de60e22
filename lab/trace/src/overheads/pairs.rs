//! Pairs of events inside a kernel section.

use super::{Kind, Overhead};
use crate::{Entry, Section, Sections, Trace};
use abi::trace::Event;

/// Adds the samples of all sections; pairs that a gap has torn are dropped.
pub(super) fn collect(trace: &Trace, sections: &Sections, all: &mut [Overhead]) {
    let by_priority = |event| matches!(event, Event::LookUp | Event::Tick);
    let looks_up = trace.moments.iter().any(|moment| by_priority(moment.event));
    for overhead in all {
        for section in &sections.whole {
            let pair = match looks_up {
                true => pair(trace, section, overhead.kind),
                false => pair_in_tree(trace, section, overhead.kind),
            };
            if let Some((from, to)) = pair {
                overhead.add(Some(trace.net(from, to)));
            }
        }
        overhead.dropped += torn(trace, sections, overhead.kind);
    }
}

/// The moments of a section that make a pair.
fn pair(trace: &Trace, section: &Section, kind: Kind) -> Option<(usize, usize)> {
    let moments = section.moments(trace);
    let first = |event| moments.iter().position(|moment| moment.event == event);
    let (from, to) = match kind {
        Kind::Scheduling => {
            let last = moments.iter().rposition(|moment| moment.event == Event::LookUp)?;
            let decides = |event| matches!(event, Event::LazyDequeue | Event::LookUp);
            let begun = moments.iter().position(|moment| decides(moment.event))?;
            let queueing = |event| matches!(event, Event::Insert | Event::Remove);
            let before = moments[..begun].iter().rposition(|moment| !queueing(moment.event))?;
            (before, first(Event::Switch).filter(|&switch| switch > last).unwrap_or(last))
        }
        Kind::ContextSwitch => (first(Event::Switch)?, moments.len() - 1),
        Kind::Release if section.entry.is_interrupt() => (0, first(Event::Wake)?),
        Kind::Tick => (first(Event::Tick)?, moments.len() - 1),
        Kind::Release | Kind::CallIn | Kind::CallOut | Kind::CrossCpu => return None,
    };
    Some((section.first + from, section.first + to))
}

/// The same where no decision is a look-up: a scheduling tree decides. What leaves and joins it, is
/// charged and comes back is part of the decision, and it has timer interrupts of its own.
fn pair_in_tree(trace: &Trace, section: &Section, kind: Kind) -> Option<(usize, usize)> {
    let moments = section.moments(trace);
    let first = |event| moments.iter().position(|moment| moment.event == event);
    let (from, to) = match kind {
        Kind::Scheduling => {
            let switch = first(Event::Switch)?;
            let queueing = |event| matches!(event, Event::Insert | Event::Remove | Event::Preempt);
            (moments[..switch].iter().rposition(|moment| !queueing(moment.event))?, switch)
        }
        Kind::Tick if section.entry == Entry::Timer && first(Event::Wake).is_none() => {
            (0, moments.len() - 1)
        }
        Kind::Tick => return None,
        _ => return pair(trace, section, kind),
    };
    Some((section.first + from, section.first + to))
}

/// How many pairs of a kind have begun outside of whole sections.
fn torn(trace: &Trace, sections: &Sections, kind: Kind) -> u64 {
    let begins = |event| match kind {
        Kind::Scheduling => event == Event::LookUp,
        Kind::ContextSwitch => event == Event::Switch,
        Kind::Tick => event == Event::Tick,
        _ => false,
    };
    // Boot decides and switches outside of any section.
    let entered = |moment: &crate::Moment| moment.event == Event::Enter;
    let boot = match trace.lost() > 0 && trace.keep == abi::trace::Keep::Last {
        true => 0,
        false => trace.moments.iter().position(entered).unwrap_or(trace.moments.len()),
    };
    let mut whole = sections.whole.iter().peekable();
    let mut torn = 0;
    for (index, moment) in trace.moments.iter().enumerate().skip(boot) {
        while whole.next_if(|section| section.last < index).is_some() {}
        let inside = whole.peek().is_some_and(|section| section.first <= index);
        torn += u64::from(!inside && begins(moment.event));
    }
    torn
}
