//! The wake-ups of the highest threads: of each CPU those that none is more urgent than.

use crate::{Moment, Trace, Traces, WakeUp, wakeups};
use abi::trace::{Event, NO_THREAD};
use std::collections::BTreeMap;

/// The thread that runs where no other does.
const IDLE: u16 = 0;

/// A wake-up that no thread as urgent as the woken one had a part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undisturbed {
    /// The wake-up.
    pub wake_up: WakeUp,
    /// Counter steps from the instant until the thread ran, less what writing the trace took.
    pub steps: u64,
    /// Those from where the section that woke the thread came to its deadline, at its entry or at a
    /// preemption point, up to its exit; none if it served another deadline behind that.
    pub path: Option<u64>,
}

/// The wake-ups by the clock of the highest threads of each CPU, in the order of the CPUs, where no
/// other one of these ran meanwhile. `urgency` is that of a thread by the number of its domain and
/// its priority; the highest are those of the greatest urgency that ran on the CPU.
pub fn highest(traces: &Traces, urgency: &dyn Fn(u32, u16) -> u16) -> Vec<Undisturbed> {
    let made = traces.all.moments.iter().filter(|moment| moment.event == Event::Thread);
    let domains: BTreeMap<u16, u32> = made.map(|made| (made.thread, made.argument)).collect();
    let all = wakeups(traces);
    let of = |trace: &Trace| {
        let urgency = |thread: u16, priority: u16| match thread {
            IDLE => None,
            _ => Some(urgency(domains.get(&thread).copied().unwrap_or_default(), priority)),
        };
        let runs = runs(trace, &urgency);
        let here: Vec<WakeUp> =
            all.iter().filter(|wake_up| wake_up.cpu == trace.cpu).copied().collect();
        let found = here.into_iter().filter_map(|it| undisturbed(trace, &runs, it));
        found.collect::<Vec<_>>()
    };
    traces.each.iter().flat_map(of).collect()
}

/// A thread that the kernel switched to, when, and how urgent it was; the idle thread is not.
struct Run {
    ns: u64,
    thread: u16,
    urgency: Option<u16>,
}

/// What ran on a CPU, in order.
fn runs(trace: &Trace, urgency: &dyn Fn(u16, u16) -> Option<u16>) -> Vec<Run> {
    let switches = trace.moments.iter().filter(|moment| moment.event == Event::Switch);
    let run =
        |it: &Moment| Run { ns: it.ns, thread: it.thread, urgency: urgency(it.thread, it.extra) };
    switches.map(run).collect()
}

/// A wake-up of one of the highest threads, if no other one of them ran between its instant and
/// the thread.
fn undisturbed(trace: &Trace, runs: &[Run], wake_up: WakeUp) -> Option<Undisturbed> {
    let top = runs.iter().filter_map(|run| run.urgency).max()?;
    let sample = wake_up.sample;
    let behind = runs.partition_point(|run| run.ns <= sample.ran);
    let own = runs[..behind].last()?;
    if own.thread != sample.thread || own.urgency != Some(top) {
        return None;
    }
    let before = runs.partition_point(|run| run.ns <= sample.programmed).saturating_sub(1);
    let others = runs[before..behind].iter().filter(|run| run.thread != sample.thread);
    if others.clone().any(|run| run.urgency == Some(top)) {
        return None;
    }
    let moments = &trace.moments;
    let is_exit = |at: &usize| {
        let moment = &moments[*at];
        moment.event == Event::Exit && moment.thread == sample.thread && moment.ns == sample.ran
    };
    let first = moments.partition_point(|moment| moment.ns < sample.programmed);
    let exit =
        (first..moments.len()).take_while(|at| moments[*at].ns <= sample.ran).find(is_exit)?;
    let enter = moments[..exit].iter().rposition(|moment| moment.event == Event::Enter)?;
    // Of a record that was being written at the instant, what came after it.
    let under_way = first.checked_sub(1).map_or(0, |at| {
        let passed = sample.programmed.saturating_sub(moments[at].ns);
        moments[at].cost.saturating_sub(passed)
    });
    let records: u64 = moments[first..exit].iter().map(|moment| moment.cost).sum();
    let gross = wake_up.latency() * trace.hz / 1_000_000_000;
    let steps = gross.saturating_sub(records + under_way);
    let path = deadline(&moments[enter..exit], sample.thread).map(|at| {
        let section = &moments[enter..enter + at];
        let poll = section.iter().rposition(|moment| moment.event == Event::Preempt);
        trace.net(enter + poll.unwrap_or(0), exit)
    });
    Some(Undisturbed { wake_up, steps, path })
}

/// Where a section serves the thread's deadline, or a timer that wakes it, if that is the last.
fn deadline(section: &[Moment], thread: u16) -> Option<usize> {
    let at = section.iter().rposition(|moment| moment.event == Event::Expire)?;
    let signals = || section[..at].iter().rfind(|moment| moment.event == Event::Signal);
    let is_own = match section[at].thread {
        NO_THREAD => signals().is_some_and(|signal| signal.thread == thread),
        sleeper => sleeper == thread,
    };
    is_own.then_some(at)
}

#[cfg(test)]
mod tests;
