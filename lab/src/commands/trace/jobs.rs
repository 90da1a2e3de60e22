//! `trace --csv` and `--gantt`: jobs as a table, and when their threads ran as a chart.

use anyhow::Result;
use manifest::{Load, System};
use results::{Curves, Gantt, Track};
use std::cmp::Reverse;
use std::ops::Range;
use trace::{Activity, Job, Timing, Trace};

/// At most so many threads are drawn, the busiest.
const TRACKS: usize = 24;
/// Columns of the table: times in nanoseconds, instants since boot. A deadline, and by how much it
/// was missed, are empty where the manifest says none, and what comes with the end of a job where
/// the trace ends before.
const COLUMNS: [&str; 10] = [
    "task",
    "job",
    "release_ns",
    "start_ns",
    "end_ns",
    "deadline_ns",
    "response_ns",
    "late_ns",
    "cpu_ns",
    "preemptions",
];

/// What the manifest says of jobs: of tasks, of domains, and of domains' reservations.
pub fn timings(system: &System) -> Vec<Timing> {
    let mut all = Vec::new();
    for (place, domain) in system.domains.iter().enumerate() {
        let mut add = |name: &str, thread: Option<&str>, [period, deadline]: [u64; 2]| {
            let (name, thread) = (name.to_string(), thread.map(str::to_string));
            all.push(Timing { name, domain: place, thread, period, deadline });
        };
        for task in &domain.tasks {
            let Load { period, deadline, .. } = task.load;
            let thread = Some(task.name.as_str()).filter(|_| domain.threads > 1);
            add(&task.name, thread, [period, deadline]);
        }
        let leaf = domain.reservation.and_then(|leaf| system.reservations[leaf].timing);
        let of_leaf = leaf.map(|timing| [timing.period, timing.deadline]);
        let own = domain.load.map(|load| [load.period, load.deadline]).or(of_leaf);
        if let Some(times) = own.filter(|_| domain.tasks.is_empty()) {
            add(&domain.name, None, times);
        }
    }
    all
}

/// From when to when, in nanoseconds since boot.
#[derive(Clone, Copy)]
pub struct Window {
    from: u64,
    to: u64,
    /// The end of the trace.
    end: u64,
}

impl Window {
    /// The whole trace, or the part of it that is asked for.
    pub fn of(trace: &Trace, [from, to]: [Option<u64>; 2]) -> Window {
        let (first, end) = trace.span().unwrap_or_default();
        let begun = trace.begun().unwrap_or(first);
        Window { from: from.unwrap_or(begun), to: to.unwrap_or(end), end }
    }

    fn has(self, job: &Job) -> bool {
        job.release <= self.to && job.end.unwrap_or(self.end) >= self.from
    }

    /// A time in milliseconds since the window's beginning.
    fn ms(self, at: u64) -> f64 {
        at.saturating_sub(self.from) as f64 / 1e6
    }

    fn clip(self, span: &Range<u64>) -> Option<Range<u64>> {
        let (from, to) = (span.start.max(self.from), span.end.min(self.to));
        (from < to).then_some(from..to)
    }
}

/// The jobs of all threads as CSV, thread by thread, and each one's in their order.
pub fn csv(activities: &[Activity], window: Window) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(COLUMNS)?;
    for activity in activities {
        for (number, job) in activity.jobs.iter().enumerate().filter(|(_, job)| window.has(job)) {
            let times = [
                Some(number as u64 + 1),
                Some(job.release),
                job.start,
                job.end,
                activity.deadline.map(|deadline| job.release + deadline),
                job.end.map(|end| end.saturating_sub(job.release)),
                activity.late(job, window.end),
                Some(job.ran),
                Some(job.preemptions),
            ];
            let spell = |time: Option<u64>| time.map_or_else(String::new, |time| time.to_string());
            let name = std::iter::once(activity.name.clone());
            table.write_record(name.chain(times.into_iter().map(spell)))?;
        }
    }
    Ok(table.into_inner()?)
}

/// When the busiest threads ran, and which of their jobs were late.
pub fn gantt(activities: &[Activity], window: Window) -> Curves {
    let spans = |one: &Activity| -> Vec<Range<u64>> {
        one.ran.iter().filter_map(|span| window.clip(span)).collect()
    };
    let mut drawn: Vec<(&Activity, Vec<Range<u64>>)> =
        activities.iter().map(|one| (one, spans(one))).filter(|(_, ran)| !ran.is_empty()).collect();
    let ran = |spans: &[Range<u64>]| spans.iter().map(|span| span.end - span.start).sum::<u64>();
    let mut busiest: Vec<u64> = drawn.iter().map(|(_, spans)| ran(spans)).collect();
    busiest.sort_by_key(|time| Reverse(*time));
    let least = busiest.get(TRACKS - 1).copied().unwrap_or(0);
    drawn.retain(|(_, spans)| ran(spans) >= least);
    drawn.truncate(TRACKS);
    let track = |(activity, spans): &(&Activity, Vec<Range<u64>>)| {
        let is_late = |job: &&Job| activity.late(job, window.end).is_some_and(|by| by > 0);
        let inside = |job: &&Job| (window.from..window.to).contains(&job.release);
        let late = activity.jobs.iter().filter(is_late).filter(inside);
        Track {
            name: activity.name.clone(),
            ran: spans
                .iter()
                .map(|one| (window.ms(one.start)..window.ms(one.end), false))
                .collect(),
            late: late.map(|job| window.ms(job.release)).collect(),
        }
    };
    let gantt = Gantt {
        title: "When threads ran".to_string(),
        across: format!("milliseconds, from {:.3} ms after boot on", window.from as f64 / 1e6),
        upwards: "a line for each thread, high where it runs".to_string(),
        tracks: drawn.iter().map(track).collect(),
        end: window.ms(window.to),
    };
    gantt.curves()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity() -> Activity {
        let job = |release, end, ran| Job {
            release,
            start: Some(release + 10),
            end,
            ran,
            preemptions: 1,
        };
        Activity {
            name: "control".into(),
            deadline: Some(500),
            ran: vec![1_010..1_300, 2_010..2_700, 3_010..3_100],
            jobs: vec![job(1_000, Some(1_300), 290), job(2_000, Some(2_700), 690), {
                Job { release: 3_000, start: None, end: None, ran: 0, preemptions: 0 }
            }],
        }
    }

    #[test]
    fn each_job_is_a_row() {
        let window = Window { from: 1_500, to: 3_400, end: 3_400 };
        let text = String::from_utf8(csv(&[activity()], window).unwrap()).unwrap();
        let rows: Vec<&str> = text.lines().skip(1).collect();
        let expected =
            ["control,2,2000,2010,2700,2500,700,200,690,1", "control,3,3000,,,3500,,,0,0"];
        assert_eq!(rows, expected);
        let no_deadline = Activity { deadline: None, ..activity() };
        let text = String::from_utf8(csv(&[no_deadline], window).unwrap()).unwrap();
        assert!(text.contains("control,2,2000,2010,2700,,700,,690,1"), "{text}");
    }

    #[test]
    fn a_late_job_is_seen_at_its_release() {
        let window = Window { from: 1_500, to: 3_400, end: 3_400 };
        let chart = gantt(&[activity()], window);
        let late = chart.cases[0].trails.iter().find(|one| one.source == results::Source::Late);
        assert_eq!(late.unwrap().points, [(0.000_5, 0.0)]);
        assert!(chart.svg("a test").unwrap().contains("a late job"));
    }

    #[test]
    fn tasks_have_the_times_of_the_manifest() {
        let system = crate::systems::load("shared-bus").unwrap();
        let all: Vec<_> = timings(&system).into_iter().map(|one| (one.name, one.period)).collect();
        assert!(all.contains(&("control".to_string(), 5_000_000)), "{all:?}");
    }
}
