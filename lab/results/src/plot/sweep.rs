//! A metric against what was swept, such as the words of the message: colours are kernels, named
//! at the ends of their curves, full lines the first place (such as `across`), dashed lines the
//! others. Other systems are points: nothing is known between their figures.

use super::{Area, Drawn, RULE, WIDTH, colour_of, colour_of_system, labels, legend, text};
use crate::grid::Grid;
use crate::report::distinct;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use std::collections::BTreeSet;

/// Pixels down.
pub(super) const HEIGHT: u32 = 380;

/// Sweeps that span more than this get a logarithmic axis.
const WIDE: u64 = 300;

/// Curves that keep above this share of the highest get an axis that does not begin at 0.
const HIGH: f64 = 0.5;

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
    /// The kernel that figures are percent above; empty for plain figures.
    pub base: String,
    legend: Vec<(&'a str, RGBColor)>,
    places: Vec<&'a str>,
    curves: Vec<Curve>,
}

#[derive(Clone)]
struct Curve {
    /// At the right end; empty for none.
    name: String,
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
                let name = if index == 0 { grid.kernels[kernel] } else { "" };
                let (name, colour) = (name.to_string(), colour_of(kernel));
                curves.push(Curve { name, colour, stroke: ours, points });
            }
            // The most comparable system last, so that it is on top.
            for system in (0..grid.systems.len()).rev() {
                let points =
                    here().filter_map(|(line, words)| Some((words, line.theirs[system]?.as_f64())));
                let (colour, stroke) = (colour_of_system(system), Stroke::Points);
                let (name, points) = (String::new(), points.collect());
                curves.push(Curve { name, colour, stroke, points });
            }
        }
        let base = String::new();
        Sweep { metric, parameter, base, legend: legend::systems(grid), places, curves }
    }

    /// Whether one of our own curves has several points.
    fn is_one(&self) -> bool {
        let ours = self.curves.iter().filter(|curve| !matches!(curve.stroke, Stroke::Points));
        ours.map(|curve| curve.points.len()).any(|points| points > 1)
    }

    /// The kernels' curves of the first place in percent above one of them.
    pub fn relative_to(&self, base: &str) -> Option<Sweep<'a>> {
        let named = || self.curves.iter().filter(|curve| !curve.name.is_empty());
        let below = &named().find(|curve| curve.name == base)?.points;
        let relative = |curve: &Curve| {
            let points = curve.points.iter().filter_map(|(value, figure)| {
                let (_, base) = below.iter().find(|(other, _)| other == value)?;
                (*base > 0.0).then(|| (*value, (figure / base - 1.0) * 100.0))
            });
            Curve { points: points.collect(), ..curve.clone() }
        };
        Some(Sweep {
            base: base.to_string(),
            legend: Vec::new(),
            places: Vec::new(),
            curves: named().map(relative).collect(),
            ..*self
        })
    }

    pub fn draw(&self, area: &Area) -> Drawn {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let values: BTreeSet<u64> = points().map(|(value, _)| *value).collect();
        let (first, last) = (values.first().copied(), values.last().copied());
        let (first, last) = (first.unwrap_or(0), last.unwrap_or(1).max(1));
        // Positions across are logarithms where the sweep is wide.
        let wide = first > 0 && last / first >= WIDE;
        let place = |value: u64| if wide { ((value as f64).ln() * 1e6) as u64 } else { value };
        let (head, body) = area.split_vertically(legend::height(&self.legend));
        legend::draw(&head, (60, 14), &self.legend)?;
        let start = if wide { place(first) } else { 0 };
        let marks = marks(&values, wide);
        let keys: Vec<u64> = marks.iter().map(|value| place(*value)).collect();
        let across = (start..place(last)).with_key_points(keys);
        let label = |at: &u64| {
            let value = marks.iter().find(|value| place(**value) == *at);
            value.map(|value| crate::figure::grouped(*value)).unwrap_or_default()
        };
        let mut chart = ChartBuilder::on(&body)
            .margin_right(labels::ROOM)
            .margin_top(12)
            .x_label_area_size(44)
            .y_label_area_size(60)
            .build_cartesian_2d(across, self.down())?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RULE)
            .axis_style(RULE)
            .label_style(text(12, HPos::Center))
            .x_label_formatter(&label)
            .y_label_formatter(&|value| self.spell(*value))
            .x_desc(self.caption(wide))
            .draw()?;
        let mut ends = Vec::new();
        for curve in &self.curves {
            let style = curve.colour.stroke_width(2);
            let mut points = curve.points.iter().map(|(value, figure)| (place(*value), *figure));
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
            chart.draw_series(points.clone().map(dot))?;
            if let (false, Some(end)) = (curve.name.is_empty(), points.next_back()) {
                let (_, y) = chart.backend_coord(&end);
                ends.push((curve.name.as_str(), curve.colour, (WIDTH as i32 - labels::ROOM, y)));
            }
        }
        labels::draw(area, ends, 14..HEIGHT as i32 - 50)
    }

    /// The axis down: from 0 or, where all curves keep far above it, from a round value below them.
    fn down(&self) -> std::ops::Range<f64> {
        let figures =
            || self.curves.iter().flat_map(|curve| &curve.points).map(|(_, figure)| *figure);
        let most = figures().fold(1.0, f64::max);
        let least = figures().fold(most, f64::min);
        if !self.base.is_empty() {
            let room = (most - least).max(1.0) * 0.05;
            return least.min(0.0) - room..most + room;
        }
        if least < HIGH * most {
            return 0.0..most * 1.05;
        }
        let round = 10f64.powf((most - least).max(1.0).log10().floor()) / 4.0;
        (least / round - 0.5).floor() * round..most + (most - least) * 0.05 + 1.0
    }

    /// A figure on the axis down.
    fn spell(&self, value: f64) -> String {
        match self.base.is_empty() {
            true => crate::figure::grouped(value as u64),
            // Rounding errors of the axis must not show as a minus before 0.
            false if value.abs() < 1e-6 => "0".to_string(),
            false => format!("{value:+} %"),
        }
    }

    /// The axis, and what full and dashed lines are.
    fn caption(&self, wide: bool) -> String {
        let mut caption = self.parameter.to_string();
        let mut hints = Vec::new();
        if wide {
            hints.push("logarithmic".to_string());
        }
        if self.base.is_empty() && self.down().start > 0.0 {
            hints.push("the axis upwards does not begin at 0".to_string());
        }
        if let [first, others @ ..] = self.places.as_slice()
            && !others.is_empty()
        {
            hints.push(format!("full line: {first}, dashed: {}", others.join(", ")));
        }
        if !hints.is_empty() {
            caption += &format!(" ({})", hints.join("; "));
        }
        caption
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
