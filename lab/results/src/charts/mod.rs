//! What a report draws: its own curves, or latencies, sweeps and medians by its rows.

mod histogram;
mod medians;
mod sweep;

use crate::chart::{Chart, Stroke};
use crate::grid::Grid;
use crate::report::{WAKE_UP, WAKE_UP_P99};
use crate::{Curves, Origin, Report, Samples};

/// All charts that a report's rows support, and its samples if they are there.
pub(crate) fn charts(report: &Report, samples: Option<&Samples>) -> Vec<Chart> {
    let origin = report.stands_for();
    if !report.curves.is_empty() {
        return Curves::charts(&report.curves, &origin);
    }
    let grid = Grid::of(report);
    let figures = crate::paper::figures(&report.experiment);
    let mut charts = Vec::new();
    charts.extend(samples.into_iter().flat_map(|samples| histogram::all(report, samples)));
    charts.extend(figures.iter().filter_map(|figure| medians::paper(report, figure)));
    charts.extend(sweep::all(report, &grid, &figures));
    if !grid.lines.iter().any(|line| is_usual(line.metric)) {
        charts.extend(medians::all(report, &grid));
    }
    charts.into_iter().map(|chart| Chart { origin: origin.clone(), ..chart }).collect()
}

/// Whether a metric's median is what is usual, where only what is late is worth a look.
fn is_usual(metric: &str) -> bool {
    [WAKE_UP, WAKE_UP_P99].contains(&metric)
}

/// How points of a report are drawn, and what they are.
fn points_of(origin: Origin) -> (Stroke, &'static str) {
    match origin {
        Origin::SIMULATED => (Stroke::Rings, "simulated"),
        Origin::EMULATED => (Stroke::Dots, "counted under emulation"),
        _ => (Stroke::Dots, "measured"),
    }
}

#[cfg(test)]
mod tests;
