//! Medians as grouped bars, and a paper's figure beside ours.

use crate::Report;
use crate::chart::{Bar, Body, Chart, Colour, Group, Look, Stroke};
use crate::grid::{Grid, Line};
use crate::paper::PaperFigure;
use crate::report::distinct;

/// A chart for each unit: one group a metric and case, one bar a kernel or system.
pub(super) fn all(report: &Report, grid: &Grid) -> Vec<Chart> {
    let unit = |line: &&Line| report.unit_of(line.metric);
    let units = distinct(grid.shortest().map(|line| unit(&line)));
    let chart = |(index, name): (usize, &str)| {
        let lines: Vec<&Line> = grid.shortest().filter(|line| unit(line) == name).collect();
        // A curve shows a single operation that is swept.
        let is_worthwhile = lines.len() > 1 || lines.iter().any(|l| l.case.value.is_none());
        is_worthwhile.then(|| Chart {
            name: if index == 0 { "medians".into() } else { format!("medians-{index}") },
            title: format!("Median {name} by kernel"),
            legend: legend(grid),
            body: Body::Bars(lines.into_iter().map(group).collect()),
            ..Chart::default()
        })
    };
    units.into_iter().enumerate().filter_map(chart).collect()
}

/// A sample of a colour for bars.
fn fill(colour: Colour) -> Look {
    Look { colour, stroke: Stroke::Columns(1) }
}

fn legend(grid: &Grid) -> Vec<(Look, String)> {
    let kernels = grid.kernels.iter().enumerate().map(|(i, name)| (Colour::Case(i), name));
    let systems = grid.systems.iter().enumerate().map(|(i, name)| (Colour::System(i), name));
    kernels.chain(systems).map(|(colour, name)| (fill(colour), name.to_string())).collect()
}

/// The figures of a line, ours before theirs.
fn group(line: &Line) -> Group {
    let ours = line.ours.iter().enumerate();
    let ours = ours.filter_map(|(i, cell)| Some((cell.as_ref()?.figure, Colour::Case(i))));
    let theirs = line.theirs.iter().enumerate();
    let theirs = theirs.filter_map(|(i, figure)| Some(((*figure)?, Colour::System(i))));
    let bars = ours.chain(theirs).map(|(figure, colour)| Bar {
        value: figure.as_f64(),
        label: figure.grouped(),
        colour,
    });
    Group { title: line.title(), bars: bars.collect() }
}

/// A paper's figure beside a report's rows, both relative to one kernel, so that units do not
/// matter; `None` without that kernel.
pub(super) fn paper(report: &Report, figure: &PaperFigure) -> Option<Chart> {
    let median = |kernel: &str| {
        report.median(kernel, &figure.metric, &figure.case).map(|figure| figure.as_f64())
    };
    let base = median(&figure.relative_to).filter(|base| *base > 0.0)?;
    let their_base = *figure.values.get(&figure.relative_to)? as f64;
    let [ours, theirs] = [Colour::Case(7), Colour::System(1)];
    let bar = |value: f64, base: f64, colour| {
        let label = format!("{:.2} ({value})", value / base);
        Bar { value: value / base, label, colour }
    };
    let group = |kernel: &&str| {
        let (own, other) = (median(kernel)?, *figure.values.get(*kernel)? as f64);
        let bars = vec![bar(own, base, ours), bar(other, their_base, theirs)];
        Some(Group { title: kernel.to_string(), bars })
    };
    let groups: Vec<Group> = report.kernels().iter().filter_map(group).collect();
    let (unit, metric) = (report.unit_of(&figure.metric), &figure.metric);
    let relative = &figure.relative_to;
    (groups.len() > 1).then(|| Chart {
        name: format!("paper-{}", figure.id),
        title: figure.title.clone(),
        legend: vec![
            (fill(ours), format!("ours: {relative} = 1 (in brackets {unit} a {metric})")),
            (fill(theirs), format!("the paper: {relative} = 1 ({})", figure.unit)),
        ],
        body: Body::Bars(groups),
        ..Chart::default()
    })
}
