//! The longest section and the worst wake-up of a run, by its trace.

use super::Unrepeated;
use crate::experiment::longest_section;
use anyhow::{Context, Result, ensure};
use serde::Serialize;
use trace::{Names, Trace, Traces, wakeups};

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
    pub measured: u64,
    /// The place of the record that ends it, in its CPU's trace.
    #[serde(skip)]
    pub last: usize,
}

/// What a stretch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// The longest time for which interrupts are off, from the kernel's entry or a preemption point
    /// to the next one or the exit.
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

/// The stretches of a run: the longest section, and the worst wake-up if there was one.
///
/// # Errors
/// The trace has no whole section.
pub fn worst(traces: &Traces, names: &Names) -> Result<Vec<Stretch>> {
    let section = traces.each.iter().filter_map(section).max_by_key(|stretch| stretch.measured);
    let section = section.context("the trace has no whole section of the kernel")?;
    Ok([section].into_iter().chain(wake_up(traces, names)).collect())
}

fn section(trace: &Trace) -> Option<Stretch> {
    let (of, part) = longest_section(trace)?;
    let [first, last] = [part.first, part.last].map(|index| &trace.moments[index]);
    Some(Stretch {
        what: What::LongestSection,
        of,
        cpu: trace.cpu,
        at_ns: first.ns,
        steps: last.steps - first.steps,
        measured: part.steps,
        last: part.last,
    })
}

fn wake_up(traces: &Traces, names: &Names) -> Option<Stretch> {
    let worst = wakeups(traces).into_iter().max_by_key(|wake_up| wake_up.latency())?;
    let trace = traces.each.iter().find(|trace| trace.cpu == worst.cpu)?;
    let ran = |moment: &trace::Moment| {
        moment.event == abi::trace::Event::Exit
            && (moment.ns, moment.thread) == (worst.sample.ran, worst.sample.thread)
    };
    let last = trace.moments.iter().position(ran)?;
    let steps = |ns: u64| u128::from(ns) * u128::from(trace.hz) / 1_000_000_000;
    Some(Stretch {
        what: What::WorstWakeUp,
        of: names.domain(worst.domain),
        cpu: worst.cpu,
        at_ns: worst.sample.programmed,
        steps: u64::try_from(steps(worst.latency())).ok()?,
        measured: worst.latency(),
        last,
    })
}

/// Checks that what a CPU executed before the last record of a stretch agrees with the records: at
/// the step of each, the counter was read. `reads` says whether each of the last executions did.
///
/// # Errors
/// The run was another one than that of the trace.
pub fn check(stretch: &Stretch, trace: &Trace, reads: &[bool]) -> Result<()> {
    let end = trace.moments[stretch.last].steps;
    let inside = |moment: &&trace::Moment| end - moment.steps <= reads.len() as u64;
    let before = trace.moments[..stretch.last].iter().rev();
    for moment in before.take_while(inside) {
        let at = reads.len() - (end - moment.steps) as usize;
        let (steps, title) = (end - moment.steps, stretch.what.title());
        let why = || {
            Unrepeated(format!(
                "{steps} steps before the end of the {title}, the trace has a record, and the \
                 counter was not read"
            ))
        };
        ensure!(at == reads.len() || reads[at], why());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use abi::trace::{Event, Keep};
    use trace::Moment;

    /// A call from step 100 to 130, a longer one from 200 to 260 with a preemption point at 210,
    /// and a timer interrupt at 300 that is 25 late and wakes thread 2, which runs at 340.
    fn traces() -> Traces {
        let moment = |steps, event, thread, argument| Moment {
            steps,
            ns: steps,
            event,
            thread,
            argument,
            extra: 0,
            cpu: 0,
            cost: 3,
        };
        let call = abi::call::Call::Yield as u32;
        let trace = Trace {
            kernel: "fastpath".to_string(),
            cpu: 0,
            cpus: 1,
            whole: true,
            hz: 1_000_000_000,
            start: 0,
            keep: Keep::First,
            capacity: 100,
            events: 9,
            cost: 3,
            turn: 0,
            moments: vec![
                moment(90, Event::Thread, 2, 1),
                moment(100, Event::Enter, 1, call),
                moment(130, Event::Exit, 1, 0),
                moment(200, Event::Enter, 1, call),
                moment(210, Event::Preempt, 1, 0),
                moment(260, Event::Exit, 1, 0),
                moment(300, Event::Enter, 1, abi::trace::entry::TIMER),
                moment(310, Event::Expire, 2, 25),
                moment(340, Event::Exit, 2, 0),
            ],
        };
        Traces { each: vec![trace.clone()], all: trace }
    }

    #[test]
    fn the_longest_section_and_the_worst_wake_up_are_found() {
        let names = Names::of(["first"]);
        let [section, wake_up] = &worst(&traces(), &names).unwrap()[..] else { panic!("two") };
        assert_eq!((section.what, section.steps, section.measured), (What::LongestSection, 50, 47));
        assert_eq!((section.at_ns, section.last), (210, 5));
        assert_eq!((wake_up.what, wake_up.of.as_str()), (What::WorstWakeUp, "first"));
        assert_eq!((wake_up.at_ns, wake_up.steps, wake_up.last), (285, 55, 8));
    }

    #[test]
    fn a_run_that_did_not_repeat_is_refused() {
        let traces = traces();
        let wake_up = worst(&traces, &Names::default()).unwrap().remove(1);
        let reads = |steps: [usize; 2]| {
            let mut reads = vec![false; 55];
            steps.into_iter().for_each(|step| reads[step - 285] = true);
            check(&wake_up, &traces.each[0], &reads).map_err(|error| error.to_string())
        };
        assert_eq!(reads([300, 310]), Ok(()));
        let error = reads([300, 311]).unwrap_err();
        assert!(error.contains("30 steps before the end of the worst wake-up"), "{error}");
    }
}
