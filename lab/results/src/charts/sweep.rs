//! A metric against what was swept, such as the words of the message: colours are kernels, named
//! at the ends of their curves, full lines the first place (such as `across`), dashed lines the
//! others, bands from lower to upper quartile. Other systems are points: nothing is known between
//! their figures.

use super::{is_usual, points_of};
use crate::Report;
use crate::chart::{Axis, Body, Chart, Colour, Look, Panel, Scale, Series, Stroke};
use crate::grid::{Grid, Line};
use crate::paper::PaperFigure;
use crate::report::distinct;

/// Sweeps that span more than this get a logarithmic axis.
const WIDE: f64 = 300.0;
/// Curves that keep above this share of the highest get an axis that does not begin at 0.
const HIGH: f64 = 0.5;

/// A sweep for each metric that was measured at several values, and where a paper draws it again
/// relative to one kernel.
pub(super) fn all(report: &Report, grid: &Grid, figures: &[PaperFigure]) -> Vec<Chart> {
    let metrics = distinct(grid.lines.iter().map(|line| line.metric));
    let sweep = |metric: &str| {
        let sweep = Sweep::of(report, grid, metric)?;
        let figure = figures.iter().find(|figure| figure.metric == metric && figure.is_curve());
        let relative = figure.and_then(|figure| sweep.relative_to(&figure.relative_to));
        let title = figure.map(|figure| figure.title.clone());
        Some([Some(sweep.chart(title)), relative].into_iter().flatten())
    };
    metrics.into_iter().filter(|metric| !is_usual(metric)).filter_map(sweep).flatten().collect()
}

/// The curves of one metric.
struct Sweep<'a> {
    metric: &'a str,
    parameter: &'a str,
    unit: &'a str,
    legend: Vec<(Look, String)>,
    /// Of the kernels in the first place.
    named: Vec<Series>,
    others: Vec<Series>,
    values: Vec<f64>,
}

impl<'a> Sweep<'a> {
    /// `None` if no curve of ours has several points.
    fn of(report: &'a Report, grid: &Grid<'a>, metric: &'a str) -> Option<Sweep<'a>> {
        let lines: Vec<(&Line, f64)> = grid
            .lines
            .iter()
            .filter(|line| line.metric == metric)
            .filter_map(|line| Some((line, line.case.value? as f64)))
            .collect();
        let places = distinct(lines.iter().map(|(line, _)| line.case.place));
        let series = |name: &str, colour, stroke, points: Vec<(f64, f64)>| Series {
            name: name.to_string(),
            look: Look { colour, stroke },
            points,
            band: Vec::new(),
        };
        let (mut named, mut others) = (Vec::new(), Vec::new());
        for (index, place) in places.iter().enumerate() {
            let here = || lines.iter().filter(|(line, _)| line.case.place == *place);
            for (kernel, name) in grid.kernels.iter().enumerate() {
                let cells = here().filter_map(|(line, x)| Some((*x, line.ours[kernel]?)));
                let points = cells.clone().map(|(x, cell)| (x, cell.figure.as_f64())).collect();
                let band = cells.filter_map(|(x, cell)| {
                    let (low, high) = cell.quartiles?;
                    Some((x, low.as_f64(), high.as_f64()))
                });
                let colour = Colour::Case(kernel);
                if index == 0 {
                    let own = series(name, colour, Stroke::Full, points);
                    named.push(Series { band: band.collect(), ..own });
                } else {
                    others.push(series("", colour, Stroke::Dashed, points));
                }
            }
            // The most comparable system last, so that it is on top.
            for system in (0..grid.systems.len()).rev() {
                let points =
                    here().filter_map(|(line, x)| Some((*x, line.theirs[system]?.as_f64())));
                let colour = Colour::System(system);
                others.push(series("", colour, Stroke::Triangles, points.collect()));
            }
        }
        let ours = named.iter().chain(&others).filter(|s| s.look.stroke != Stroke::Triangles);
        if !ours.clone().any(|series| series.points.len() > 1) {
            return None;
        }
        let (symbol, what) = points_of(report.origin);
        let symbols: Vec<Series> =
            ours.map(|own| series("", own.look.colour, symbol, own.points.clone())).collect();
        others.splice(0..0, symbols);
        let look = |colour, stroke| Look { colour, stroke };
        let mut legend = vec![(look(Colour::Ink, symbol), what.to_string())];
        if let [first, others @ ..] = places.as_slice()
            && !others.is_empty()
        {
            legend.push((look(Colour::Ink, Stroke::Full), first.to_string()));
            legend.push((look(Colour::Ink, Stroke::Dashed), others.join(", ")));
        }
        let systems = grid.systems.iter().enumerate();
        let systems = systems.filter(|(i, _)| lines.iter().any(|(l, _)| l.theirs[*i].is_some()));
        legend.extend(
            systems.map(|(i, name)| (look(Colour::System(i), Stroke::Triangles), name.to_string())),
        );
        let mut values: Vec<f64> = lines.iter().map(|(_, value)| *value).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let parameter = lines.first().map_or("", |(line, _)| line.case.parameter);
        let unit = report.unit_of(metric);
        Some(Sweep { metric, parameter, unit, legend, named, others, values })
    }

    fn chart(&self, title: Option<String>) -> Chart {
        let all = || self.named.iter().chain(&self.others);
        let from = from(all().flat_map(|series| &series.points).map(|(_, figure)| *figure));
        let hint = if from > 0.0 { " (the axis does not begin at 0)" } else { "" };
        let label = format!("median {}{hint}", self.unit);
        let title =
            title.unwrap_or(format!("{}: {} by {}", self.metric, self.unit, self.parameter));
        let upwards = Axis { label, from: Some(from), ..Axis::default() };
        let series = all().cloned().collect();
        self.drawn(&format!("{}-{}", self.parameter, self.metric), title, upwards, series)
    }

    /// The kernels' curves of the first place in percent above one of them.
    fn relative_to(&self, base: &str) -> Option<Chart> {
        let below = &self.named.iter().find(|series| series.name == base)?.points;
        let relative = |series: &Series| {
            let points = series.points.iter().filter_map(|(value, figure)| {
                let (_, base) = below.iter().find(|(other, _)| other == value)?;
                (*base > 0.0).then(|| (*value, (figure / base - 1.0) * 100.0))
            });
            Series { points: points.collect(), band: Vec::new(), ..series.clone() }
        };
        let lines: Vec<Series> = self.named.iter().map(relative).collect();
        let symbol = self.legend.first()?.0.stroke;
        let points = lines.iter().map(|line| Series {
            name: String::new(),
            look: Look { stroke: symbol, ..line.look },
            ..line.clone()
        });
        let least = lines.iter().flat_map(|series| &series.points).map(|(_, percent)| *percent);
        let upwards = Axis {
            label: format!("percent above {base}"),
            from: Some(least.fold(0.0, f64::min) * 1.05),
            percent: true,
            ..Axis::default()
        };
        let name = format!("{}-{}-relative", self.parameter, self.metric);
        let title = format!("The same, in percent above {base}");
        let series = lines.iter().cloned().chain(points).collect();
        let chart = self.drawn(&name, title, upwards, series);
        Some(Chart { legend: self.legend[..1].to_vec(), ..chart })
    }

    fn drawn(&self, name: &str, title: String, upwards: Axis, series: Vec<Series>) -> Chart {
        let (first, last) = (self.values.first(), self.values.last());
        let span = first.zip(last).map_or(1.0, |(first, last)| last / first);
        let (scale, hint) = match span.is_finite() && span >= WIDE {
            true => (Scale::Logarithmic, " (logarithmic)"),
            false => (Scale::Linear, ""),
        };
        let label = format!("{}{hint}", self.parameter);
        let across = Axis { label, scale, ticks: ticks(&self.values, scale), ..Axis::default() };
        let panels = vec![Panel { series, ..Panel::default() }];
        Chart {
            name: name.to_string(),
            title,
            legend: self.legend.clone(),
            body: Body::Panels { across, upwards, panels },
            ..Chart::default()
        }
    }
}

/// Where the axis upwards begins: at 0 or, where all curves keep far above it, at a round value
/// below them.
fn from(figures: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = figures.clone().fold(1.0, f64::max);
    let least = figures.fold(most, f64::min);
    if least < HIGH * most {
        return 0.0;
    }
    let round = 10f64.powf((most - least).max(1.0).log10().floor()) / 4.0;
    (least / round - 0.5).floor() * round
}

/// The values that the axis names: all, or of crowded ones some.
fn ticks(values: &[f64], scale: Scale) -> Vec<f64> {
    let span = values.last().copied().unwrap_or(1.0);
    let mut ticks: Vec<f64> = Vec::new();
    for value in values {
        let far = |before: &f64| match scale {
            Scale::Logarithmic => value / before >= 1.4,
            Scale::Linear => value - before >= span / 20.0,
        };
        if ticks.last().is_none_or(far) {
            ticks.push(*value);
        }
    }
    ticks
}
