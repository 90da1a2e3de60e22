//! The traces of all CPUs, each and in one.
//!
//! Stamps of different CPUs are of clocks that must agree. Two things show whether they do:
//! sections that are to be alone in the kernel never overlap, and no CPU takes more interrupts by
//! others than were sent.

use super::{Trace, truncated};
use crate::sections::pairs;
use crate::{Moment, Sections};
use abi::PAGE;
use abi::trace::{Event, Keep, PAGE_RECORDS, Way, entry};
use anyhow::{Context, Result, bail};

/// Begins what is said of clocks that run backwards from one CPU to another.
const DISORDER: &str = "the CPUs' records contradict each other, at counter step";

/// The traces of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traces {
    /// CPU by CPU.
    pub each: Vec<Trace>,
    /// All moments in the order of time: for what threads do, which move.
    pub all: Trace,
}

impl Traces {
    /// Decodes the traces of all CPUs, and checks that their clocks agree.
    pub fn decode(bytes: &[u8]) -> Result<Traces> {
        let first = Trace::decode(bytes)?;
        let share = (first.capacity.div_ceil(PAGE_RECORDS as u64) + 1) * PAGE;
        let mut each = vec![first];
        for cpu in 1..each[0].cpus {
            let from = usize::try_from(share * u64::from(cpu)).unwrap_or(usize::MAX);
            let expected = share * u64::from(each[0].cpus);
            let rest = bytes.get(from..).with_context(|| truncated(expected, bytes))?;
            each.push(belongs(Trace::decode(rest)?, cpu, &each[0])?);
        }
        in_order(&each)?;
        Ok(Traces { all: merged(&each), each })
    }

    /// The trace of a CPU.
    pub fn of(&self, cpu: u8) -> Option<&Trace> {
        self.each.iter().find(|trace| trace.cpu == cpu)
    }

    /// Events whose records were not kept, of all CPUs.
    pub fn lost(&self) -> u64 {
        self.each.iter().map(Trace::lost).sum()
    }
}

/// The trace of this CPU, if it is of the same run as the first.
fn belongs(trace: Trace, cpu: u8, first: &Trace) -> Result<Trace> {
    let differing = [
        ("the CPU", trace.cpu == cpu),
        ("the number of CPUs", trace.cpus == first.cpus),
        ("the kernel", trace.kernel == first.kernel),
        ("the room", trace.capacity == first.capacity),
        ("the counter's frequency", trace.hz == first.hz),
        ("the counter at boot", trace.start == first.start),
    ];
    match differing.into_iter().find(|(_, same)| !same) {
        Some((what, _)) => {
            let cpus = first.cpus;
            bail!("the trace of CPU {cpu} is not one of {cpus} of the same run: {what} differs")
        }
        None => Ok(trace),
    }
}

fn merged(each: &[Trace]) -> Trace {
    let mut moments: Vec<Moment> = each.iter().flat_map(|trace| &trace.moments).copied().collect();
    // Those of a CPU stay in their order.
    moments.sort_by_key(|moment| moment.steps);
    Trace {
        whole: true,
        moments,
        events: each.iter().map(|trace| trace.events).sum(),
        capacity: each.iter().map(|trace| trace.capacity).sum(),
        ..each[0].clone()
    }
}

/// Refuses records of different CPUs that contradict each other.
fn in_order(each: &[Trace]) -> Result<()> {
    if each.len() > 1 {
        locks_follow(each)?;
        ipis_precede(each)?;
    }
    Ok(())
}

/// A section that has the lock alone is alone. Readers overlap, and so does what transactions say:
/// they happen when they commit.
fn locks_follow(each: &[Trace]) -> Result<()> {
    let mut held: Vec<(u64, u64, u8, bool)> = each.iter().flat_map(held).collect();
    held.sort_unstable();
    // The latest end so far, of any section and of one that was to be alone.
    let [mut any, mut alone] = [(0, 0); 2];
    for (at, until, cpu, is_alone) in held {
        let (last, before) = if is_alone { any } else { alone };
        if at < last {
            let early = last - at;
            bail!("{DISORDER} {at}: CPU {cpu} takes the lock {early} before CPU {before} lets go");
        }
        any = any.max((until, cpu));
        if is_alone {
            alone = alone.max((until, cpu));
        }
    }
    Ok(())
}

/// From when to when a CPU had the lock, and whether alone.
fn held(trace: &Trace) -> Vec<(u64, u64, u8, bool)> {
    let section = |(first, last): (usize, usize)| {
        let [since, until] = [first, last].map(|at| &trace.moments[at]);
        let (way, _) = Way::of(since.extra);
        let is_section = way != Way::Transaction;
        is_section.then(|| (since.steps, until.steps, trace.cpu, way != Way::Reader))
    };
    pairs(trace, Event::Lock, Event::Unlock).filter_map(section).collect()
}

/// An IPI is taken after it was sent. Where records are missing that is not
/// known.
fn ipis_precede(each: &[Trace]) -> Result<()> {
    let unknown = |trace: &Trace| {
        let stopped = Sections::of(trace).stopped > 0;
        stopped || (trace.lost() > 0 && trace.keep == Keep::Last)
    };
    let has = |event| each.iter().flat_map(|t| &t.moments).any(|moment| moment.event == event);
    // A manifest may leave out one kind of event.
    if each.iter().any(unknown) || !(has(Event::Ipi) && has(Event::Enter)) {
        return Ok(());
    }
    let full = each.iter().filter(|trace| trace.lost() > 0);
    let ends = full.filter_map(|trace| trace.moments.last()).map(|moment| moment.steps);
    let known = ends.min().unwrap_or(u64::MAX);
    let mut sent: Vec<(u64, u32)> = each
        .iter()
        .flat_map(|trace| &trace.moments)
        .filter(|moment| moment.event == Event::Ipi)
        .map(|moment| (moment.steps, moment.argument))
        .collect();
    sent.sort_unstable();
    for trace in each {
        let own = u32::from(trace.cpu);
        let mut sent = sent.iter().filter(|(_, to)| *to == own).map(|(steps, _)| *steps);
        let taken = trace.moments.iter().filter(|moment| {
            moment.event == Event::Enter && moment.argument == entry::IPI && moment.steps < known
        });
        for moment in taken {
            let at = moment.steps;
            if sent.next().is_none_or(|sent| sent > at) {
                bail!("{DISORDER} {at}: CPU {own} takes an IPI that no CPU has sent yet");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
