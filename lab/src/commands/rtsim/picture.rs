//! When tasks ran, and at which priority, by the trace; and how their response times are
//! distributed.

use super::Ran;
use results::{Case, Curves, Gantt, Source, Track};
use rtsim::{Run, Task, TaskSet, begin};
use std::collections::BTreeMap;
use std::ops::Range;
use trace::{Life, Lives, Names, State, Trace};

/// What each task did.
pub struct Picture(Vec<Activity>);

/// What a task did. Instants are in nanoseconds since the tasks' beginning.
#[derive(Default)]
struct Activity {
    /// When it had the CPU.
    ran: Vec<Stretch>,
    /// Its effective priority, all the time.
    had: Vec<Stretch>,
}

/// A stretch at one priority.
struct Stretch {
    span: Range<u64>,
    /// The priority of the file; it is one of the tasks' own.
    priority: u64,
}

/// The picture of a run.
pub fn of(set: &TaskSet, run: Run, trace: &Trace, names: &Names) -> Picture {
    let lives = Lives::of(trace, names);
    let (begin, length) = (begin(set), set.duration * run.unit);
    let within = |from: u64, to: u64| {
        let since = |instant: u64| instant.saturating_sub(begin).min(length);
        since(from)..since(to)
    };
    let activity = |index: usize| {
        let (domain, number) = rtsim::thread(set, index, run);
        let is_own = |life: &&Life| {
            life.number == number && life.domain.is_some_and(|one| names.domain(one) == domain)
        };
        let Some(life) = lives.all.iter().find(is_own) else { return Activity::default() };
        let had = priorities(set, index, life, trace, begin + length);
        let had: Vec<Stretch> = had
            .into_iter()
            .map(|(from, to, priority)| Stretch { span: within(from, to), priority })
            .filter(|one| !one.span.is_empty())
            .collect();
        let running = life.stretches.iter().filter(|one| one.state == State::Running);
        let ran = running.flat_map(|one| at_each(within(one.from, one.to), &had)).collect();
        Activity { ran, had }
    };
    Picture((0..set.tasks.len()).map(activity).collect())
}

/// From when to when a thread had which priority of the file, in nanoseconds since boot, to the
/// end of the run.
fn priorities(
    set: &TaskSet,
    task: usize,
    life: &Life,
    trace: &Trace,
    end: u64,
) -> Vec<(u64, u64, u64)> {
    let at = |moment: usize| trace.moments.get(moment).map_or(0, |moment| moment.ns);
    let known: Vec<(u64, u16)> =
        life.priorities().map(|(moment, priority)| (at(moment), priority)).collect();
    let until = known.iter().skip(1).map(|(from, _)| *from).chain([end]);
    let of_file = |(&(from, priority), to)| (from, to, of_file(set, task, priority));
    known.iter().zip(until).map(of_file).collect()
}

/// The priority of the file that a priority on the kernel is.
fn of_file(set: &TaskSet, task: usize, priority: u16) -> u64 {
    let own = &set.tasks[task];
    let same = |other: &&Task| rtsim::priority(set, other) == u64::from(priority);
    let same_as_own = Some(own).filter(same);
    same_as_own.or_else(|| set.tasks.iter().find(same)).unwrap_or(own).priority
}

/// The parts of a span at each priority.
fn at_each(span: Range<u64>, had: &[Stretch]) -> impl Iterator<Item = Stretch> {
    let first = had.partition_point(|one| one.span.end <= span.start);
    let inside = had[first..].iter().take_while(move |one| one.span.start < span.end);
    let cut = move |one: &Stretch| Stretch {
        span: one.span.start.max(span.start)..one.span.end.min(span.end),
        priority: one.priority,
    };
    inside.map(cut).collect::<Vec<_>>().into_iter()
}

/// How much time there is at each priority.
fn sums(stretches: &[Stretch]) -> BTreeMap<u64, u64> {
    let mut times = BTreeMap::new();
    for Stretch { span, priority } in stretches {
        *times.entry(*priority).or_default() += span.end - span.start;
    }
    times
}

impl Picture {
    /// How long a task ran at each priority of the file, in nanoseconds.
    pub fn ran_at(&self, task: usize) -> BTreeMap<u64, u64> {
        sums(&self.0[task].ran)
    }

    /// How long it had each effective priority of the file, running or not (S2G-C02).
    pub fn had(&self, task: usize) -> BTreeMap<u64, u64> {
        sums(&self.0[task].had)
    }

    /// When a task had a priority other than its own, in nanoseconds since the tasks' beginning,
    /// and which.
    pub fn inherited(&self, task: usize, own: u64) -> impl Iterator<Item = (Range<u64>, u64)> {
        let lent = self.0[task].had.iter().filter(move |one| one.priority != own);
        lent.map(|one| (one.span.clone(), one.priority))
    }

    /// A Gantt chart: a line for each task, high where it runs, higher with an inherited priority.
    pub fn gantt(&self, ran: &Ran) -> Curves {
        let unit = ran.run.unit as f64;
        let in_units = |span: &Range<u64>| span.start as f64 / unit..span.end as f64 / unit;
        let track = |(activity, task): (&Activity, &Task)| {
            let stretch = |one: &Stretch| (in_units(&one.span), one.priority != task.priority);
            let ran = activity.ran.iter().map(stretch).collect();
            Track { name: task.name.clone(), ran, late: Vec::new() }
        };
        let gantt = Gantt {
            title: format!("When the tasks of {} ran", ran.name),
            across: "units of time".to_string(),
            upwards: "a line for each task, high where it runs, higher where it inherits"
                .to_string(),
            tracks: self.0.iter().zip(&ran.set.tasks).map(track).collect(),
            end: ran.set.duration as f64,
        };
        gantt.curves()
    }
}

/// The share of jobs that took so long or less, for each task that has response times.
pub fn cdf(ran: &Ran) -> Curves {
    let unit = ran.run.unit as f64;
    let tasks = ran.set.tasks.iter().zip(&ran.jobs);
    let case = |(task, jobs): (&Task, &rtsim::Jobs)| {
        let points = distribution(jobs.responses());
        let points = points.into_iter().map(|(at, share)| (at as f64 / unit, share));
        Case::of(&task.name, Source::Traced, points)
    };
    let measured = tasks.filter(|(_, jobs)| !jobs.responses().is_empty());
    let title = format!("Response times of {}", ran.name);
    let axes = ["units of time from release to end", "share of the jobs"];
    Curves::of("responses", title, axes, measured.map(case).collect())
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
