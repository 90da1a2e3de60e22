//! Gantt charts: when each of several tasks ran.

use crate::{Case, Curves, Points, Source};
use std::ops::Range;

/// The most stretches of each task that are drawn.
const DRAWN: usize = 400;
/// How high a line rises where its task runs, and where it is raised; lines are 1 apart.
const HEIGHT: f64 = 0.5;
const RAISED: f64 = 0.8;

/// When tasks ran, in one unit of time for all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gantt {
    /// What it shows.
    pub title: String,
    /// What the time is, with its unit.
    pub across: String,
    /// What a high line means.
    pub upwards: String,
    /// The tasks, from top to bottom.
    pub tracks: Vec<Track>,
    /// Where it ends; it begins at 0.
    pub end: f64,
}

/// What a task did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// The task's name.
    pub name: String,
    /// When it ran, in ascending order, and whether its line is raised meanwhile.
    pub ran: Vec<(Range<f64>, bool)>,
    /// When jobs were released that ended behind their deadlines.
    pub late: Vec<f64>,
}

impl Gantt {
    /// Where the drawing ends: before its end, if a task has run more often than can be drawn.
    pub fn drawn(&self) -> f64 {
        let ends = self.tracks.iter().filter_map(|track| track.ran.get(DRAWN));
        ends.map(|(span, _)| span.start).fold(self.end, f64::min)
    }

    /// A line for each task, high where it runs, as curves.
    pub fn curves(&self) -> Curves {
        let (end, count) = (self.drawn(), self.tracks.len());
        let case = |(index, track): (usize, &Track)| {
            let low = (count - 1 - index) as f64;
            let mut points = vec![(0.0, low)];
            for (span, is_raised) in track.ran.iter().filter(|(span, _)| span.start < end) {
                let high = low + if *is_raised { RAISED } else { HEIGHT };
                let to = span.end.min(end);
                points.extend([(span.start, low), (span.start, high), (to, high), (to, low)]);
            }
            points.push((end, low));
            let late = track.late.iter().filter(|at| **at < end).map(|at| (*at, low)).collect();
            let trails = [(Source::Traced, points), (Source::Late, late)];
            let trails = trails.into_iter().filter(|(_, points)| !points.is_empty());
            let trails = trails.map(|(source, points)| Points::of(source, points));
            Case { name: track.name.clone(), trails: trails.collect() }
        };
        let cases = self.tracks.iter().enumerate().map(case).collect();
        Curves::of("gantt", &self.title, [&self.across, &self.upwards], cases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_high_where_its_task_runs_and_higher_where_it_is_raised() {
        let ran = vec![(1.0..2.0, false), (4.0..9.0, true)];
        let above = Track { name: "a".into(), ran, late: vec![4.0, 8.0] };
        let gantt = Gantt { tracks: vec![above, Track::default()], end: 5.0, ..Gantt::default() };
        let curves = gantt.curves();
        let [line, late] = &curves.cases[0].trails[..] else { panic!("{curves:?}") };
        let up = |at, high| [(at, 1.0), (at, 1.0 + high)];
        let down = |at, high| [(at, 1.0 + high), (at, 1.0)];
        let corners = [up(1.0, 0.5), down(2.0, 0.5), up(4.0, 0.8), down(5.0, 0.8)].concat();
        assert_eq!(line.points, [&[(0.0, 1.0)], &corners[..], &[(5.0, 1.0)]].concat());
        assert_eq!(late.points, [(4.0, 1.0)]);
        assert_eq!(curves.cases[1].trails[0].points, [(0.0, 0.0), (5.0, 0.0)]);
    }

    #[test]
    fn it_ends_where_there_would_be_too_much_to_draw() {
        let ran = (0..500).map(|n| (f64::from(n)..f64::from(n) + 0.5, false)).collect();
        let track = Track { ran, ..Track::default() };
        let gantt = Gantt { tracks: vec![track], end: 500.0, ..Gantt::default() };
        assert_eq!(gantt.drawn(), 400.0);
        assert_eq!(gantt.curves().cases[0].trails[0].points.last(), Some(&(400.0, 0.0)));
    }
}
