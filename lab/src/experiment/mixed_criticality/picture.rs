//! CPU time by task over time, and the late jobs, from the trace.

use super::measure::CHART;
use super::{TASKS, TIMED};
use crate::experiment::traced::Traced;
use manifest::System;
use results::{Case, Curves, Points, Source};
use std::ops::Range;
use trace::{Life, Lives, State};

/// What is drawn, in nanoseconds since boot, and how finely.
const SHOWN: u64 = 1_000_000_000;
const STEP: u64 = 10_000_000;

/// When each task ran, and its late jobs.
#[derive(Default)]
pub struct Picture(Vec<Task>);

#[derive(Default)]
struct Task {
    name: &'static str,
    /// When it had the CPU.
    ran: Vec<Range<u64>>,
    /// Releases of late jobs.
    late: Vec<u64>,
}

/// The picture of a run.
pub fn of(traced: &Traced, system: &System) -> Picture {
    let lives = Lives::of(&traced.traces.all, &traced.names);
    let of = |name: &'static str| {
        let is_own =
            |life: &&Life| life.domain.is_some_and(|domain| traced.names.domain(domain) == name);
        let mut task = Task { name, ..Task::default() };
        for life in lives.all.iter().filter(is_own) {
            let running = life.stretches.iter().filter(|one| one.state == State::Running);
            task.ran.extend(running.map(|one| one.from..one.to));
            let node = system.reservations.iter().find(|node| node.name == name);
            let timing = node.and_then(|node| node.timing).filter(|_| TIMED.contains(&name));
            if let Some(timing) = timing {
                task.late.extend(late(life, timing.deadline, timing.period));
            }
        }
        task
    };
    Picture(TASKS.into_iter().map(of).collect())
}

/// The releases of late jobs: a job begins when the thread is woken and ends when it waits again,
/// and what is released in between is late with it. The first job is the program's start.
fn late(life: &Life, deadline: u64, period: u64) -> Vec<u64> {
    let (mut jobs, mut release) = (Vec::new(), None);
    for stretch in &life.stretches {
        match (stretch.state.is_blocked(), release) {
            (true, Some(begun)) => {
                jobs.push(begun..stretch.from);
                release = None;
            }
            (false, None) => release = Some(stretch.from),
            _ => {}
        }
    }
    let late = jobs.into_iter().skip(1).filter(|job| job.end - job.start > deadline);
    late.flat_map(|job| job.step_by(period.max(1) as usize)).collect()
}

impl Picture {
    /// The CPU time of a task within a span, in nanoseconds.
    pub fn between(&self, task: &str, span: Range<u64>) -> u64 {
        let own = self.0.iter().filter(|one| one.name == task).flat_map(|one| &one.ran);
        own.map(|ran| ran.end.min(span.end).saturating_sub(ran.start.max(span.start))).sum()
    }

    /// The panel of a way to divide the CPU.
    pub fn curves(&self, title: &str) -> Curves {
        let milliseconds = |ns: u64| ns as f64 / 1_000_000.0;
        let of = |task: &Task| {
            let point = |at: u64| (milliseconds(at), milliseconds(self.between(task.name, 0..at)));
            let shown = (0..=SHOWN).step_by(STEP as usize);
            let mut case = Case::of(task.name, Source::Traced, shown.map(point));
            let late = task.late.iter().copied().filter(|at| *at <= SHOWN);
            let late = Points::of(Source::Late, late.map(point));
            case.trails.extend((!late.points.is_empty()).then_some(late));
            case
        };
        Curves::of(
            CHART,
            format!("CPU time while a guest runs wild from 100 to 600 ms: {title}"),
            ["ms since boot", "ms of CPU time"],
            self.0.iter().map(of).collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Stretch;

    fn life(stretches: &[(u64, u64, State)]) -> Life {
        let stretch = |&(from, to, state): &(u64, u64, State)| Stretch {
            first: 0,
            from,
            to,
            state,
            priority: None,
        };
        let mut life = Life::default();
        life.stretches.extend(stretches.iter().map(stretch));
        life
    }

    #[test]
    fn a_job_that_goes_on_makes_the_releases_behind_it_late() {
        use State::{Ready, Receiving, Running};
        let start = [(0, 90, Running), (90, 100, Receiving)];
        let in_time = [(100, 101, Ready), (101, 105, Running), (105, 110, Receiving)];
        let too_long = [(110, 130, Ready), (130, 135, Running), (135, 140, Receiving)];
        let all = life(&[&start[..], &in_time, &too_long, &[(140, 150, Running)]].concat());
        assert_eq!(late(&all, 10, 10), [110, 120, 130]);
        assert!(late(&all, 25, 10).is_empty());
    }

    #[test]
    fn cpu_time_is_counted_within_a_span() {
        let task = Task { name: "log", ran: vec![0..10, 20..30], late: Vec::new() };
        let picture = Picture(vec![task]);
        assert_eq!(picture.between("log", 5..25), 10);
        assert_eq!(picture.between("guest", 5..25), 0);
    }
}
