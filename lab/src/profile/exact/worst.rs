//! What may be the longest section and the worst wake-up of each CPU, by the trace of a run.
//!
//! All CPUs share one counter, so with several of them a trace does not tell what the steps of a
//! stretch are of. What each CPU executed decides, which is seen in another run.

use super::Unrepeated;
use crate::experiment::bounded_parts;
use abi::trace::{Event, entry};
use anyhow::{Context, Result, ensure};
use serde::Serialize;
use std::collections::BTreeSet;
use trace::{Moment, Names, Trace, Traces, wakeups};

/// A stretch of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stretch {
    /// What it is.
    pub what: What,
    /// Whose it is: the operation of a section, or the domain that is woken.
    pub of: String,
    /// The CPU.
    pub cpu: u8,
    /// When it begins, in ns since boot.
    pub at_ns: u64,
    /// How long it is, in steps of the counter.
    pub steps: u64,
    /// The same as the experiment of its name has it: a section without the writing of the trace.
    /// With several CPUs it is the instructions that its own has executed of that.
    pub measured: u64,
    /// Steps of a section that writing the trace takes.
    #[serde(skip)]
    pub less: u64,
    /// Steps at its end since its CPU last idled, where there are several: while one idles, others
    /// use the counter up.
    #[serde(skip)]
    pub awake: u64,
    /// The place of the record that ends it, in its CPU's trace.
    #[serde(skip)]
    pub last: usize,
}

/// What a stretch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// The longest time for which interrupts are off, from the kernel's entry or a preemption point
    /// to the next one or the exit. With a lock the entry is where it is asked for.
    LongestSection,
    /// The longest time from the instant of a timer or a timeout to the thread that it wakes.
    WorstWakeUp,
}

impl What {
    /// It as a title.
    pub fn title(self) -> &'static str {
        match self {
            What::LongestSection => "longest section",
            What::WorstWakeUp => "worst wake-up",
        }
    }
}

impl Stretch {
    /// Of the stretches of which this is said alike, one is the worst.
    pub fn group(&self) -> (u8, What) {
        (self.cpu, self.what)
    }
}

/// All sections and wake-ups of a run. One CPU has executed all that its trace has steps of: there
/// it is the worst of each alone.
///
/// # Errors
/// The trace has no whole section.
pub fn candidates(traces: &Traces, names: &Names) -> Result<Vec<Stretch>> {
    let mut sections: Vec<Stretch> = traces.each.iter().flat_map(sections).collect();
    ensure!(!sections.is_empty(), "the trace has no whole section of the kernel");
    let mut wake_ups: Vec<Stretch> = wake_ups(traces, names).collect();
    if traces.all.cpus == 1 {
        let worst = |all: Vec<Stretch>| all.into_iter().max_by_key(|stretch| stretch.measured);
        return Ok(worst(sections).into_iter().chain(worst(wake_ups)).collect());
    }
    sections.append(&mut wake_ups);
    Ok(sections)
}

fn sections(trace: &Trace) -> impl Iterator<Item = Stretch> {
    bounded_parts(trace).map(|(of, part)| {
        let (first, since) = begin(trace, part.first);
        let waited = trace.moments[first].steps - since;
        let steps = trace.moments[part.last].steps - since;
        let measured = waited + trace.net(first, part.last);
        Stretch {
            what: What::LongestSection,
            of,
            cpu: trace.cpu,
            at_ns: trace.ns(since),
            steps,
            measured,
            less: steps - measured,
            awake: steps,
            last: part.last,
        }
    })
}

/// The first record of a section, and the step at which it begins: interrupts are off already
/// while its CPU asks for the lock, which a fast path may have done in vain.
fn begin(trace: &Trace, first: usize) -> (usize, u64) {
    let moment = |at: usize| &trace.moments[at];
    let of_lock = |at: &usize| matches!(moment(*at).event, Event::Lock | Event::Unlock);
    let before = if moment(first).event == Event::Enter { first } else { 0 };
    let locks = (0..before).rev().take_while(of_lock).filter(|at| moment(*at).event == Event::Lock);
    let first = locks.last().unwrap_or(first);
    let Moment { event, steps, argument, .. } = *moment(first);
    (first, steps - if event == Event::Lock { u64::from(argument) } else { 0 })
}

fn wake_ups(traces: &Traces, names: &Names) -> impl Iterator<Item = Stretch> {
    wakeups(traces).into_iter().filter_map(|wake_up| {
        let trace = traces.of(wake_up.cpu)?;
        let (ran, thread) = (wake_up.sample.ran, wake_up.sample.thread);
        let from = trace.moments.partition_point(|moment| moment.ns < ran);
        let mut then = trace.moments[from..].iter().take_while(|moment| moment.ns == ran);
        let runs = |moment: &Moment| moment.event == Event::Exit && moment.thread == thread;
        let last = from + then.position(runs)?;
        let steps = u128::from(wake_up.latency()) * u128::from(trace.hz) / 1_000_000_000;
        let steps = u64::try_from(steps).ok()?;
        let idles = |moment: &&Moment| {
            let is_idle = moment.thread == u16::from(trace.cpu);
            trace.cpus > 1 && moment.event == Event::Exit && is_idle
        };
        let idle = trace.moments[..last].iter().rev().find(idles);
        let awake = idle.map_or(steps, |idle| steps.min(trace.moments[last].steps - idle.steps));
        Some(Stretch {
            what: What::WorstWakeUp,
            of: names.domain(wake_up.domain),
            cpu: wake_up.cpu,
            at_ns: wake_up.sample.programmed,
            steps,
            measured: wake_up.latency(),
            less: 0,
            awake,
            last,
        })
    })
}

/// Checks that what a CPU executed before the last record of a stretch agrees with its records: at
/// the step of each, this CPU has read the counter. `reads` says how many instructions of all CPUs
/// before the end it did so, `seen` how many of them are looked at.
///
/// An instruction that faults is seen twice, and is one step. So there may be more instructions
/// than steps: as many as faults have been recorded, and one on each other CPU that has not come to
/// record it.
///
/// # Errors
/// The run was another one than that of the trace.
pub fn check(stretch: &Stretch, traces: &Traces, seen: u64, reads: &BTreeSet<u64>) -> Result<()> {
    let Stretch { what, cpu, .. } = stretch;
    let trace = traces.of(*cpu).context("the trace of no CPU")?;
    let end = trace.moments[stretch.last].steps;
    let faults: Vec<u64> = traces
        .all
        .moments
        .iter()
        .filter_map(|moment| {
            let is_fault = moment.event == Event::Enter && moment.argument == entry::FAULT;
            (is_fault && moment.steps <= end).then(|| end - moment.steps)
        })
        .collect();
    let mut twice = 0;
    for moment in trace.moments[..stretch.last].iter().rev() {
        let steps = end - moment.steps;
        if steps + twice > seen {
            break;
        }
        let faults = faults.len() - faults.partition_point(|fault| *fault > steps);
        let most = faults as u64 + u64::from(trace.cpus - 1);
        let found = (twice..=most).find(|more| steps == 0 || reads.contains(&(steps + more)));
        let why = || {
            Unrepeated(format!(
                "{steps} steps before the end of the {} of CPU {cpu}, the trace has a record, and \
                 the CPU did not read the counter",
                what.title()
            ))
        };
        twice = found.ok_or_else(why)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use abi::trace::Keep;

    const CALL: u32 = abi::call::Call::Yield as u32;

    /// The trace of a CPU, by steps, events, threads and arguments of its records.
    fn trace(cpu: u8, cpus: u8, records: &[(u64, Event, u16, u32)]) -> Trace {
        let moment = |&(steps, event, thread, argument)| Moment {
            steps,
            ns: steps,
            event,
            thread,
            argument,
            extra: 0,
            cpu,
            cost: 3,
        };
        Trace {
            kernel: "fastpath".to_string(),
            cpu,
            cpus,
            whole: cpus == 1,
            hz: 1_000_000_000,
            start: 0,
            keep: Keep::First,
            capacity: 100,
            events: records.len() as u64,
            cost: 3,
            turn: 0,
            moments: records.iter().map(moment).collect(),
        }
    }

    /// A call from step 100 to 130, a longer one from 200 to 260 with a preemption point at 210,
    /// and a timer interrupt at 300 that is 25 late and wakes thread 2, which runs at 340.
    fn traces() -> Traces {
        let one = trace(
            0,
            1,
            &[
                (90, Event::Thread, 2, 1),
                (100, Event::Enter, 1, CALL),
                (130, Event::Exit, 1, 0),
                (200, Event::Enter, 1, CALL),
                (210, Event::Preempt, 1, 0),
                (260, Event::Exit, 1, 0),
                (300, Event::Enter, 1, entry::TIMER),
                (310, Event::Expire, 2, 25),
                (340, Event::Exit, 2, 0),
            ],
        );
        Traces { each: vec![one.clone()], all: one }
    }

    #[test]
    fn the_longest_section_and_the_worst_wake_up_are_found() {
        let all = candidates(&traces(), &Names::of(["first"])).unwrap();
        let [section, wake_up] = &all[..] else { panic!("{all:?}") };
        assert_eq!((section.what, section.steps, section.measured), (What::LongestSection, 50, 47));
        assert_eq!((section.at_ns, section.less, section.last), (210, 3, 5));
        assert_eq!((wake_up.what, wake_up.of.as_str()), (What::WorstWakeUp, "first"));
        assert_eq!((wake_up.at_ns, wake_up.steps, wake_up.last), (285, 55, 8));
        let none = Traces { each: Vec::new(), all: trace(0, 1, &[]) };
        assert!(candidates(&none, &Names::default()).is_err());
    }

    #[test]
    fn each_cpu_has_sections_of_its_own_which_begin_where_the_lock_is_asked_for() {
        let first = trace(
            0,
            2,
            &[(10, Event::Lock, 0, 0), (20, Event::Enter, 1, CALL), (50, Event::Exit, 1, 0)],
        );
        // A fast path waited for 30 steps, gave up, and the general path waited for 15.
        let second = trace(
            1,
            2,
            &[
                (5, Event::Exit, 1, 0),
                (60, Event::Lock, 0, 30),
                (65, Event::Unlock, 0, 0),
                (90, Event::Lock, 0, 15),
                (93, Event::Enter, 1, CALL),
                (120, Event::Unlock, 0, 0),
                (125, Event::Exit, 1, 0),
            ],
        );
        let traces = Traces { all: first.clone(), each: vec![first, second] };
        let found = candidates(&traces, &Names::default()).unwrap();
        let found: Vec<_> =
            found.iter().map(|one| (one.group(), one.at_ns, one.steps, one.less)).collect();
        let group = |cpu| (cpu, What::LongestSection);
        assert_eq!(found, [(group(0), 10, 40, 6), (group(1), 30, 95, 15)]);
    }

    #[test]
    fn a_run_that_did_not_repeat_is_refused() {
        let traces = traces();
        let wake_up = candidates(&traces, &Names::default()).unwrap().pop().unwrap();
        let reads = |steps: [u64; 2]| {
            let reads = steps.map(|step| 340 - step).into();
            check(&wake_up, &traces, 55, &reads).map_err(|error| error.to_string())
        };
        assert_eq!(reads([300, 310]), Ok(()));
        let error = reads([300, 311]).unwrap_err();
        let place = "30 steps before the end of the worst wake-up of CPU 0";
        assert!(error.contains(place), "{error}");
    }

    #[test]
    fn an_instruction_that_faults_is_seen_twice() {
        let mut traces = traces();
        let wake_up = candidates(&traces, &Names::default()).unwrap().pop().unwrap();
        let check = |traces: &Traces| check(&wake_up, traces, 56, &[41, 30].into());
        assert!(check(&traces).is_err());
        traces.all.moments[6].argument = entry::FAULT;
        check(&traces).unwrap();
        traces.all.moments[6].steps = 290;
        assert!(check(&traces).is_err(), "it was before the record");
    }
}
