//! When tasks ran, by the trace, and how their response times are distributed.

use super::Ran;
use results::{Case, Curves, Points, Source};
use rtsim::{Run, Task, TaskSet, begin};
use std::collections::BTreeMap;
use std::ops::Range;
use trace::{Life, Lives, Names, State, Trace};

/// The most stretches of each task that are drawn.
const DRAWN: usize = 400;
/// How high a task's line rises where it runs; lines are 1 apart.
const HEIGHT: f64 = 0.6;

/// When each task had the CPU, in nanoseconds since the tasks' beginning.
pub struct Picture(Vec<Vec<Stretch>>);

/// A stretch of running.
struct Stretch {
    span: Range<u64>,
    /// The thread's priority on the kernel, if it is known.
    priority: Option<u16>,
}

/// The picture of a run.
pub fn of(set: &TaskSet, run: Run, trace: &Trace, names: &Names) -> Picture {
    let lives = Lives::of(trace, names);
    let (begin, length) = (begin(set), set.duration * run.unit);
    let since = |instant: u64| instant.saturating_sub(begin).min(length);
    let stretches = |life: &Life| {
        let running = life.stretches.iter().filter(|one| one.state == State::Running);
        let own = running
            .map(|one| Stretch { span: since(one.from)..since(one.to), priority: one.priority });
        own.filter(|one| !one.span.is_empty()).collect::<Vec<_>>()
    };
    let task = |task: &Task| {
        let is_own = |life: &&Life| life.domain.is_some_and(|one| names.domain(one) == task.name);
        lives.all.iter().filter(is_own).flat_map(stretches).collect()
    };
    Picture(set.tasks.iter().map(task).collect())
}

impl Picture {
    /// How long a task ran at each priority of the file, in nanoseconds. A thread's priority on the
    /// kernel is one of the tasks' own.
    pub fn at_priorities(&self, set: &TaskSet, task: usize) -> BTreeMap<u64, u64> {
        let of_file = |priority: Option<u16>| {
            let same = |other: &&Task| {
                priority.is_none_or(|priority| rtsim::priority(set, other) == u64::from(priority))
            };
            let own = &set.tasks[task];
            let same_as_own = Some(own).filter(same);
            same_as_own.or_else(|| set.tasks.iter().find(same)).unwrap_or(own).priority
        };
        let mut times = BTreeMap::new();
        for Stretch { span, priority } in &self.0[task] {
            *times.entry(of_file(*priority)).or_default() += span.end - span.start;
        }
        times
    }

    /// A Gantt chart: a line for each task, high where it runs. It ends where a task has run more
    /// often than can be drawn.
    pub fn gantt(&self, ran: &Ran) -> Curves {
        let unit = ran.run.unit as f64;
        let ends = self.0.iter().filter_map(|own| own.get(DRAWN)).map(|one| one.span.start);
        let end = ends.min().unwrap_or(ran.set.duration * ran.run.unit);
        let count = ran.set.tasks.len();
        let case = |(index, task): (usize, &Task)| {
            let low = (count - 1 - index) as f64;
            let mut points = vec![(0.0, low)];
            for Range { start, end } in self.0[index].iter().map(|one| one.span.clone()) {
                let (from, to) = (start as f64 / unit, end as f64 / unit);
                points.extend([(from, low), (from, low + HEIGHT), (to, low + HEIGHT), (to, low)]);
            }
            points.retain(|(at, _)| *at <= end as f64 / unit);
            points.push((end as f64 / unit, low));
            let trails = vec![Points { source: Source::Traced, points, band: Vec::new() }];
            Case { name: task.name.clone(), trails }
        };
        Curves {
            name: "gantt".to_string(),
            title: format!("When the tasks of {} ran", ran.name),
            across: "units of time".to_string(),
            upwards: "a line for each task, high where it runs".to_string(),
            cases: ran.set.tasks.iter().enumerate().map(case).collect(),
            marks: Vec::new(),
        }
    }
}

/// The share of jobs that took so long or less, for each task that has response times.
pub fn cdf(ran: &Ran) -> Curves {
    let unit = ran.run.unit as f64;
    let tasks = ran.set.tasks.iter().zip(&ran.jobs);
    let case = |(task, jobs): (&Task, &rtsim::Jobs)| {
        let points = distribution(jobs.responses());
        let points = points.into_iter().map(|(at, share)| (at as f64 / unit, share)).collect();
        let trails = vec![Points { source: Source::Traced, points, band: Vec::new() }];
        Case { name: task.name.clone(), trails }
    };
    let measured = tasks.filter(|(_, jobs)| !jobs.responses().is_empty());
    Curves {
        name: "responses".to_string(),
        title: format!("Response times of {}", ran.name),
        across: "units of time from release to end".to_string(),
        upwards: "share of the jobs".to_string(),
        cases: measured.map(case).collect(),
        marks: Vec::new(),
    }
}

/// The corners of the distribution of values: a step up at each.
pub fn distribution(mut values: Vec<u64>) -> Vec<(u64, f64)> {
    values.sort_unstable();
    let count = values.len() as f64;
    let mut points = Vec::new();
    let mut below = 0.0;
    for same in values.chunk_by(|one, next| one == next) {
        points.push((same[0], below));
        below += same.len() as f64 / count;
        points.push((same[0], below));
    }
    points
}
