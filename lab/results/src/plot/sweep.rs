//! A metric against what was swept, such as the words of the message: colours are kernels, full
//! lines the first place (such as `across`), dashed lines the others. Other systems are points:
//! nothing is known between their figures.

use super::{Area, Drawn, RULE, colour_of, colour_of_system, legend, text};
use crate::grid::Grid;
use crate::report::distinct;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use std::collections::BTreeSet;

/// Pixels down.
pub(super) const HEIGHT: u32 = 340;

/// Sweeps that span more than this get a logarithmic axis.
const WIDE: u64 = 300;

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
    pub parameter: &'a str,
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
            lines.filter_map(|line| Some((line, line.case.value?)))
        };
        let places = distinct(lines().map(|(line, _)| line.case.place));
        let parameter = lines().map(|(line, _)| line.case.parameter).next().unwrap_or("");
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
        Sweep { metric, parameter, legend: legend::entries(grid), places, curves }
    }

    /// Whether one of our own curves has several points.
    fn is_one(&self) -> bool {
        let ours = self.curves.iter().filter(|curve| !matches!(curve.stroke, Stroke::Points));
        ours.map(|curve| curve.points.len()).any(|points| points > 1)
    }

    pub fn draw(&self, area: &Area) -> Drawn {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let values: BTreeSet<u64> = points().map(|(value, _)| *value).collect();
        let (first, last) = (values.first().copied(), values.last().copied());
        let (first, last) = (first.unwrap_or(0), last.unwrap_or(1).max(1));
        // Positions across are logarithms where the sweep is wide.
        let wide = first > 0 && last / first >= WIDE;
        let place = |value: u64| if wide { ((value as f64).ln() * 1e6) as u64 } else { value };
        let most = points().map(|(_, value)| *value).fold(1.0, f64::max);
        let (head, body) = area.split_vertically(legend::height(&self.legend));
        legend::draw(&head, (60, 14), &self.legend)?;
        let start = if wide { place(first) } else { 0 };
        let marks = marks(&values, wide);
        let keys: Vec<u64> = marks.iter().map(|value| place(*value)).collect();
        let across = (start..place(last)).with_key_points(keys);
        let label = |at: &u64| {
            let value = marks.iter().find(|value| place(**value) == *at);
            value.map(u64::to_string).unwrap_or_default()
        };
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
            .x_label_formatter(&label)
            .y_label_formatter(&|value| crate::figure::grouped(*value as u64))
            .x_desc(self.caption())
            .draw()?;
        for curve in &self.curves {
            let style = curve.colour.stroke_width(2);
            let points = curve.points.iter().map(|(value, figure)| (place(*value), *figure));
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
            let dot = |point: (u64, f64)| Circle::new(point, radius, curve.colour.filled());
            chart.draw_series(points.map(dot))?;
        }
        Ok(())
    }

    /// The axis, and what full and dashed lines are.
    fn caption(&self) -> String {
        match self.places.as_slice() {
            [first, others @ ..] if !others.is_empty() => {
                format!("{} (full line: {first}, dashed: {})", self.parameter, others.join(", "))
            }
            _ => self.parameter.into(),
        }
    }
}

/// The values that the axis names: all, or of crowded ones some.
fn marks(values: &BTreeSet<u64>, wide: bool) -> Vec<u64> {
    let mut marks: Vec<u64> = Vec::new();
    let span = values.last().copied().unwrap_or(1).max(1);
    for value in values {
        let far = |before: &u64| match wide {
            true => *value as f64 / *before as f64 >= 1.4,
            false => value - before >= span / 20,
        };
        if marks.last().is_none_or(far) {
            marks.push(*value);
        }
    }
    marks
}
