//! Wake-ups by the clock: from the instant of a timer or a timeout to the thread that it wakes.

use crate::{Blame, Introduction, Names, Sample, Traces, blame};
use abi::trace::{Event, NO_THREAD};
use std::collections::BTreeMap;

/// A thread that ran after the instant for which it had waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WakeUp {
    /// The instant, the thread, and when it ran.
    pub sample: Sample,
    /// The CPU on which it ran.
    pub cpu: u8,
    /// The number of its domain: those of the manifest from 1.
    pub domain: u32,
}

impl WakeUp {
    /// From the instant until it ran, in ns.
    pub fn latency(&self) -> u64 {
        self.sample.ran - self.sample.programmed
    }
}

/// The wake-ups by the clock in the order in which the threads ran. Threads that did not wait yet
/// when their timer expired are not among them, nor are those that the trace does not see run.
pub fn wakeups(traces: &Traces) -> Vec<WakeUp> {
    let mut found = Vec::new();
    // By CPU, the thread that signals have just reached: a timer's come before its `Expire`. By
    // thread, the instant that woke it.
    let mut signalled: BTreeMap<u8, u16> = BTreeMap::new();
    let mut woken: BTreeMap<u16, u64> = BTreeMap::new();
    let mut domains: BTreeMap<u16, u32> = BTreeMap::new();
    for moment in &traces.all.moments {
        let (thread, cpu, ran) = (moment.thread, moment.cpu, moment.ns);
        let programmed = moment.ns.saturating_sub(moment.argument.into());
        match moment.event {
            Event::Expire if thread == NO_THREAD => {
                woken.extend(signalled.remove(&cpu).map(|thread| (thread, programmed)));
            }
            Event::Expire => {
                woken.insert(thread, programmed);
            }
            Event::Signal if thread != NO_THREAD => {
                signalled.insert(cpu, thread);
            }
            Event::Exit => {
                signalled.remove(&cpu);
                let programmed = woken.remove(&thread);
                let sample = programmed.map(|programmed| Sample { programmed, ran, thread });
                let domain = domains.get(&thread).copied().unwrap_or_default();
                found.extend(sample.map(|sample| WakeUp { sample, cpu, domain }));
            }
            // It was stopped, or another thread has its place.
            Event::Block | Event::Thread => {
                woken.remove(&thread);
                if moment.event == Event::Thread {
                    domains.insert(thread, moment.argument);
                }
            }
            _ => {}
        }
    }
    found
}

/// Why the first wake-up was late that was later than `threshold` ns; `None`: none was.
pub fn first_late(traces: &Traces, names: &Names, threshold: u64) -> Option<Blame> {
    let late = |wake_up: &WakeUp| wake_up.latency() > threshold;
    explained(traces, names, wakeups(traces).iter().find(|wake_up| late(wake_up))?)
}

/// Why a wake-up took what it took.
pub fn explained(traces: &Traces, names: &Names, wake_up: &WakeUp) -> Option<Blame> {
    let WakeUp { sample, cpu, .. } = *wake_up;
    let trace = traces.of(cpu)?;
    // A CPU's own trace introduces only the threads that were made there.
    let made = traces.all.moments.iter().filter(|moment| moment.event == Event::Thread);
    let introduction = |moment: &crate::Moment| Introduction {
        thread: moment.thread,
        domain: moment.argument,
        priority: moment.extra,
    };
    let threads = if traces.each.len() > 1 { made.map(introduction).collect() } else { Vec::new() };
    Some(blame(trace, &Names { threads, ..names.clone() }, &sample))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Maker;
    use abi::trace::{Keep, entry};

    fn traces(m: &Maker) -> Traces {
        Traces::decode(&m.bytes(Keep::First, 64)).unwrap()
    }

    /// Thread 2 waits for its timer while thread 1 runs.
    fn waiting() -> Maker {
        let mut m = Maker::new();
        m.thread(1, 1, 100).thread(2, 2, 200).note(Event::Switch, 2, 0, 200).exit(2).pass(50);
        m.enter(2, 0).note(Event::Block, 2, 0, 4).switch(1, 2, 100).exit(1).pass(100);
        m
    }

    fn expires(m: &mut Maker, thread: u16, late: u32) {
        m.enter(1, entry::TIMER).pass(40).note(Event::Expire, thread, late, 0);
    }

    #[test]
    fn a_wake_up_is_from_the_instant_to_the_thread() {
        let mut timeout = waiting();
        expires(&mut timeout, 2, 30);
        timeout.note(Event::Wake, 2, 0, 0).switch(2, 1, 200).exit(2).pass(90);
        let mut timer = waiting();
        timer.enter(1, entry::TIMER).pass(40).note(Event::Signal, 2, 0, 0);
        timer.note(Event::Expire, NO_THREAD, 30, 0).switch(2, 1, 200).exit(2).pass(90);
        for maker in [timeout, timer] {
            let traces = traces(&maker);
            let [wake_up] = wakeups(&traces)[..] else { panic!("one wake-up") };
            let expire = traces.all.moments.iter().find(|m| m.event == Event::Expire).unwrap();
            assert_eq!(wake_up.sample.programmed, expire.ns - 30);
            assert_eq!(traces.all.moments.last().unwrap().ns, wake_up.sample.ran);
            let late = wake_up.sample.ran - wake_up.sample.programmed;
            assert!(first_late(&traces, &Names::default(), late).is_none());
            let blame = first_late(&traces, &Names::default(), late - 1).unwrap();
            assert_eq!((blame.latency(), blame.headline()), (late, None));
        }
    }

    #[test]
    fn a_thread_that_did_not_wait_or_does_not_run_has_no_wake_up() {
        let mut early = waiting();
        early.enter(1, entry::TIMER).note(Event::Signal, NO_THREAD, 0, 0);
        early.note(Event::Expire, NO_THREAD, 5, 0).exit(1).pass(10).enter(1, 4);
        early.note(Event::Signal, 2, 0, 0).switch(2, 1, 200).exit(2);
        let mut stopped = waiting();
        expires(&mut stopped, 2, 5);
        stopped.exit(1).pass(10).enter(1, 4).note(Event::Block, 2, 0, 0).exit(1).pass(10);
        stopped.enter(1, 4).switch(2, 1, 200).exit(2);
        for maker in [early, stopped] {
            assert_eq!(wakeups(&traces(&maker)), []);
        }
    }
}
