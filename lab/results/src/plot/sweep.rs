//! A metric against the words of the message: colours are kernels, full lines the first place
//! (such as `across`), dashed lines the others. Other systems are points: nothing is known between
//! their figures.

use super::{Area, Drawn, RULE, colour_of, colour_of_system, legend, text};
use crate::grid::Grid;
use crate::report::distinct;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use std::collections::BTreeSet;

/// Pixels down.
pub(super) const HEIGHT: u32 = 340;

type Point = (u64, f64);

#[derive(Clone, Copy)]
enum Stroke {
    Full,
    Dashed,
    Points,
}

/// The curves of one metric.
pub(super) struct Sweep<'a> {
    pub metric: &'a str,
    legend: Vec<(&'a str, RGBColor)>,
    places: Vec<&'a str>,
    curves: Vec<Curve>,
}

struct Curve {
    colour: RGBColor,
    stroke: Stroke,
    points: Vec<Point>,
}

impl<'a> Sweep<'a> {
    /// A sweep for each metric that was measured at several message lengths.
    pub fn all(grid: &Grid<'a>) -> Vec<Sweep<'a>> {
        let metrics = distinct(grid.lines.iter().map(|line| line.metric));
        let sweeps = metrics.into_iter().map(|metric| Sweep::of(grid, metric));
        sweeps.filter(|sweep| sweep.is_one()).collect()
    }

    fn of(grid: &Grid<'a>, metric: &'a str) -> Sweep<'a> {
        let lines = || {
            let lines = grid.lines.iter().filter(move |line| line.metric == metric);
            lines.filter_map(|line| Some((line, line.case.words?)))
        };
        let places = distinct(lines().map(|(line, _)| line.case.place));
        let mut curves = Vec::new();
        for (index, place) in places.iter().enumerate() {
            let here = || lines().filter(|(line, _)| line.case.place == *place);
            let ours = if index == 0 { Stroke::Full } else { Stroke::Dashed };
            for kernel in 0..grid.kernels.len() {
                let points = here().filter_map(|(line, words)| {
                    Some((words, line.ours[kernel].as_ref()?.figure.as_f64()))
                });
                let points = points.collect();
                curves.push(Curve { colour: colour_of(kernel), stroke: ours, points });
            }
            // The most comparable system last, so that it is on top.
            for system in (0..grid.systems.len()).rev() {
                let points =
                    here().filter_map(|(line, words)| Some((words, line.theirs[system]?.as_f64())));
                let (colour, stroke) = (colour_of_system(system), Stroke::Points);
                curves.push(Curve { colour, stroke, points: points.collect() });
            }
        }
        Sweep { metric, legend: legend::entries(grid), places, curves }
    }

    /// Whether one of our own curves has several points.
    fn is_one(&self) -> bool {
        let ours = self.curves.iter().filter(|curve| !matches!(curve.stroke, Stroke::Points));
        ours.map(|curve| curve.points.len()).any(|points| points > 1)
    }

    pub fn draw(&self, area: &Area) -> Drawn {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let words: BTreeSet<u64> = points().map(|(words, _)| *words).collect();
        let widest = words.last().copied().unwrap_or(1).max(1);
        let most = points().map(|(_, value)| *value).fold(1.0, f64::max);
        let (head, body) = area.split_vertically(28);
        legend::draw(&head, (60, 14), &self.legend)?;
        let across = (0..widest).with_key_points(words.into_iter().collect());
        let mut chart = ChartBuilder::on(&body)
            .margin_right(20)
            .margin_top(8)
            .x_label_area_size(44)
            .y_label_area_size(60)
            .build_cartesian_2d(across, 0.0..most * 1.05)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RULE)
            .axis_style(RULE)
            .label_style(text(12, HPos::Center))
            .y_label_formatter(&|value| crate::figure::grouped(*value as u64))
            .x_desc(self.caption())
            .draw()?;
        for curve in &self.curves {
            let style = curve.colour.stroke_width(2);
            let points = curve.points.iter().copied();
            match curve.stroke {
                Stroke::Full => {
                    chart.draw_series(LineSeries::new(points.clone(), style))?;
                }
                Stroke::Dashed => {
                    chart.draw_series(DashedLineSeries::new(points.clone(), 5, 4, style))?;
                }
                Stroke::Points => {}
            }
            let radius = if matches!(curve.stroke, Stroke::Points) { 5 } else { 3 };
            let dot = |point| Circle::new(point, radius, curve.colour.filled());
            chart.draw_series(points.map(dot))?;
        }
        Ok(())
    }

    /// The axis, and what full and dashed lines are.
    fn caption(&self) -> String {
        match self.places.as_slice() {
            [first, others @ ..] if !others.is_empty() => {
                format!("words of message (full line: {first}, dashed: {})", others.join(", "))
            }
            _ => "words of message".into(),
        }
    }
}
