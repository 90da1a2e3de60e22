//! Jobs: what a thread does from one wait for its next job to the next one.
//!
//! A job ends where its thread waits for a message, a signal or an instant, or is stopped. Waits
//! for a mutex, a condition or an answer are part of it.

use crate::lives::{Life, Lives, State, Stretch};
use crate::{Entry, Names, Trace, Traces, wakeups};
use abi::call::Call;
use abi::trace::Event;
use std::collections::BTreeMap;
use std::ops::Range;

/// What the manifest says of a thread's jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// What the task is called.
    pub name: String,
    /// The place of its domain in the manifest.
    pub domain: usize,
    /// The name that the program gives its thread; none: it is the domain's first thread.
    pub thread: Option<String>,
    /// The least time between two releases, in ns.
    pub period: u64,
    /// From a release to the deadline, in ns.
    pub deadline: u64,
}

/// A job. Instants are in nanoseconds since boot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// The instant of the timer or timeout that released it; else when its thread became ready.
    pub release: u64,
    /// When it had the CPU first, if it did.
    pub start: Option<u64>,
    /// When it ended; none where the trace ends before.
    pub end: Option<u64>,
    /// How long it had the CPU, with what the kernel did on its behalf.
    pub ran: u64,
    /// How often it lost the CPU while it could go on.
    pub preemptions: u64,
}

/// What a thread did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// The task's name in the manifest, or else the thread's.
    pub name: String,
    /// From a release to the deadline, in ns, if the manifest says.
    pub deadline: Option<u64>,
    /// When it had the CPU, in ns since boot.
    pub ran: Vec<Range<u64>>,
    /// Its jobs in their order.
    pub jobs: Vec<Job>,
}

impl Activity {
    /// By how much a job is later than its deadline, in ns; 0: it is in time. None: it has no
    /// deadline, or the trace ends before both.
    pub fn late(&self, job: &Job, end_of_trace: u64) -> Option<u64> {
        let deadline = job.release + self.deadline?;
        match job.end {
            Some(end) => Some(end.saturating_sub(deadline)),
            None => (end_of_trace > deadline).then(|| end_of_trace - deadline),
        }
    }
}

/// What each thread did, but idle ones and those that never ran, in the order of their beginnings.
pub fn activities(traces: &Traces, names: &Names) -> Vec<Activity> {
    let trace = &traces.all;
    let lives = Lives::of(trace, names);
    let mut released: BTreeMap<u16, Vec<(u64, u64)>> = BTreeMap::new();
    for wakeup in wakeups(traces) {
        let sample = wakeup.sample;
        released.entry(sample.thread).or_default().push((sample.ran, sample.programmed));
    }
    let at_once = waits_that_return_at_once(trace);
    let activity = |(index, life): (usize, &Life)| {
        let running = life.stretches.iter().filter(|one| one.state == State::Running);
        let ran: Vec<Range<u64>> = running.map(|one| one.from..one.to).collect();
        if lives.idles(life.thread).is_some() || ran.is_empty() {
            return None;
        }
        let timing = names.timing(life);
        let name = timing.map_or_else(|| names.life(&lives, index), |timing| timing.name.clone());
        let mut reader = Reader {
            released: released.get(&life.thread).map_or(&[], Vec::as_slice),
            at_once: at_once.get(&life.thread).map_or(&[], Vec::as_slice),
            period: timing.map(|timing| timing.period),
            has_waited: false,
            jobs: Vec::new(),
        };
        reader.read(&life.stretches);
        let deadline = timing.map(|timing| timing.deadline);
        Some(Activity { name, deadline, ran, jobs: reader.jobs })
    };
    lives.all.iter().enumerate().filter_map(activity).collect()
}

/// By thread, when it asked to wait and did not need to: for an instant that had passed, a message
/// that was there, or not at all.
fn waits_that_return_at_once(trace: &Trace) -> BTreeMap<u16, Vec<u64>> {
    let mut found: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
    let mut entered: BTreeMap<u8, (u16, u64)> = BTreeMap::new();
    for moment in &trace.moments {
        match moment.event {
            Event::Enter => {
                entered.remove(&moment.cpu);
                if Entry::from_code(moment.argument) == Entry::Call(Call::Ipc as u8) {
                    entered.insert(moment.cpu, (moment.thread, moment.ns));
                }
            }
            Event::Block | Event::Message | Event::Switch => {
                entered.remove(&moment.cpu);
            }
            Event::Exit => {
                let same = entered.remove(&moment.cpu).filter(|(who, _)| *who == moment.thread);
                if let Some((thread, ns)) = same {
                    found.entry(thread).or_default().push(ns);
                }
            }
            _ => {}
        }
    }
    found
}

/// Reads the jobs of a life.
struct Reader<'t> {
    /// When its thread ran behind a wait that the clock ended, and the instant of that.
    released: &'t [(u64, u64)],
    /// When it waited for nothing.
    at_once: &'t [u64],
    period: Option<u64>,
    /// Whether it has waited for a job yet; what it does before is its beginning.
    has_waited: bool,
    /// The last one is open as long as it has no end.
    jobs: Vec<Job>,
}

impl Reader<'_> {
    fn read(&mut self, stretches: &[Stretch]) {
        let (mut before, mut has_run) = (None, false);
        for stretch in stretches {
            let is_wait = match stretch.state {
                State::Receiving => true,
                State::Suspended => has_run,
                _ => false,
            };
            if is_wait {
                self.close(stretch.from);
                self.has_waited = true;
            } else if self.has_waited {
                self.go_on(stretch, before);
            }
            has_run |= stretch.state == State::Running;
            before = Some(stretch);
        }
    }

    fn open(&mut self) -> Option<&mut Job> {
        self.jobs.last_mut().filter(|job| job.end.is_none())
    }

    fn close(&mut self, at: u64) {
        self.open().into_iter().for_each(|job| job.end = Some(at));
    }

    /// The thread is in a stretch of a job; the stretch before it may have been a wait.
    fn go_on(&mut self, stretch: &Stretch, before: Option<&Stretch>) {
        if self.open().is_none() {
            let waited_from = before.map_or(0, |before| before.from);
            let release = self.release(waited_from, stretch.from);
            self.jobs.push(Job { release, ..Job::default() });
        }
        match stretch.state {
            State::Running => self.run(stretch.from, stretch.to),
            State::Ready if before.is_some_and(|before| before.state == State::Running) => {
                self.open().into_iter().for_each(|job| job.preemptions += 1);
            }
            _ => {}
        }
    }

    /// The instant that ended a wait, if the clock did.
    fn release(&self, waited_from: u64, ready: u64) -> u64 {
        let next = self.released.partition_point(|(ran, _)| *ran < ready);
        let instant = self.released.get(next).map(|(_, instant)| *instant);
        instant.filter(|instant| (waited_from..=ready).contains(instant)).unwrap_or(ready)
    }

    /// The open job has the CPU. Where its thread waits meanwhile for the instant of the next
    /// release, which has passed, the next job begins.
    fn run(&mut self, from: u64, to: u64) {
        let mut from = from;
        let first = self.at_once.partition_point(|at| *at < from);
        for &at in self.at_once[first..].iter().take_while(|at| **at < to) {
            let Some(period) = self.period else { break };
            let Some(job) = self.open() else { break };
            let release = job.release + period;
            if release <= at {
                job.start.get_or_insert(from);
                job.ran += at - from;
                job.end = Some(at);
                self.jobs.push(Job { release, ..Job::default() });
                from = at;
            }
        }
        if let Some(job) = self.open() {
            job.start.get_or_insert(from);
            job.ran += to - from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Maker;
    use abi::trace::Keep;

    const TASK: u16 = 2;

    /// What the task did in a trace, where it has this period, and half of it as its deadline.
    fn activity(m: &Maker, period: Option<u64>) -> Activity {
        let traces = Traces::decode(&m.bytes(Keep::First, 99)).unwrap();
        let (name, thread) = ("control".to_string(), None);
        let timing = |period| Timing { name, domain: 1, thread, period, deadline: period / 2 };
        let timings = period.map(timing).into_iter().collect();
        let names = Names { timings, ..Names::of(["rest", "robot"]) };
        activities(&traces, &names).remove(1)
    }

    /// The task waits for an instant and the rest runs; then the instant has come. When that was.
    fn released() -> (Maker, u64) {
        let mut m = Maker::new();
        m.thread(1, 1, 100).thread(TASK, 2, 200).note(Event::Switch, TASK, 0, 200).exit(TASK);
        m.pass(50);
        waits(&mut m, 1);
        m.enter(1, abi::trace::entry::TIMER).pass(100);
        let instant = m.now - 30;
        m.note(Event::Expire, TASK, 30, 0).pass(80).note(Event::Wake, TASK, 0, 0).pass(20);
        m.switch(TASK, 1, 200).exit(TASK);
        (m, instant)
    }

    /// The running task waits for the next instant; when it does.
    fn waits(m: &mut Maker, next: u16) -> u64 {
        m.enter(TASK, 0);
        let at = m.now;
        m.note(Event::Block, TASK, 0, 4).switch(next, TASK, 100).exit(next).pass(100);
        at
    }

    #[test]
    fn a_job_is_from_the_instant_of_its_timer_to_the_next_wait() {
        let (mut m, release) = released();
        // The switch takes 50 steps and its record 10, and then the task has the CPU.
        let start = m.now - 70;
        m.pass(500).enter(TASK, 4).pass(20);
        let lost = m.now;
        m.switch(1, TASK, 100).exit(1).pass(300).enter(1, 4);
        let back = m.now;
        m.switch(TASK, 1, 200).exit(TASK).pass(40);
        // What it waits for meanwhile is part of the job.
        m.enter(TASK, 64);
        let waiting = m.now;
        m.note(Event::Block, TASK, 0, 6).switch(1, TASK, 100).exit(1).pass(100).enter(1, 65);
        m.note(Event::Wake, TASK, 0, 0);
        let woken = m.now;
        m.switch(TASK, 1, 200).exit(TASK).pass(30);
        let end = waits(&mut m, 1);
        let found = activity(&m, Some(4_000));
        let ran = lost - start + (waiting - back) + (end - woken);
        let job = Job { release, start: Some(start), end: Some(end), ran, preemptions: 1 };
        assert_eq!((found.name.as_str(), &found.jobs[..]), ("control", &[job.clone()][..]));
        assert_eq!(found.late(&job, m.now), Some(0));
        let late = activity(&m, Some(1_000)).late(&job, m.now);
        assert_eq!(late, Some(end - release - 500));
        let unknown = activity(&m, None);
        assert_eq!((unknown.name.as_str(), unknown.late(&job, m.now)), ("robot/1", None));
    }

    #[test]
    fn a_job_that_is_longer_than_the_period_is_followed_by_the_next_one_at_once() {
        let (mut m, release) = released();
        // A poll is no wait for the next job, whose instant is still to come.
        m.pass(500).enter(TASK, 0).pass(20).exit(TASK).pass(800);
        let end = m.now;
        m.enter(TASK, 0).pass(20).exit(TASK).pass(100);
        let last = waits(&mut m, 1);
        let found = activity(&m, Some(1_000));
        let jobs: Vec<_> = found.jobs.iter().map(|job| (job.release, job.end)).collect();
        assert_eq!(jobs, [(release, Some(end)), (release + 1_000, Some(last))]);
        assert_eq!(found.jobs[1].start, Some(end));
        assert_eq!(activity(&m, None).jobs.len(), 1, "nothing says that there was a release");
    }

    #[test]
    fn the_last_job_may_have_no_end() {
        let (mut m, release) = released();
        m.pass(900).enter(TASK, 4);
        let found = activity(&m, Some(1_000));
        let [job] = &found.jobs[..] else { panic!("{found:?}") };
        assert_eq!((job.release, job.end), (release, None));
        assert_eq!(found.late(job, m.now), Some(m.now - release - 500));
        assert_eq!(found.late(job, release + 500), None);
    }
}
