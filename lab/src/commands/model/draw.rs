//! Points, curves, simulations and asymptotes, to be drawn together.

use super::curves::{Case, Curves};
use super::units::Units;
use crate::workspace;
use model::{Curve, Distribution, Point, Simulated};
use results::{Mark, Points, Source, rounded};

/// The plot of all cases as SVG.
pub fn svg(curves: &Curves, units: &Units) -> std::io::Result<String> {
    let drawn = results::Curves {
        name: "repairman".to_string(),
        title: "Passes through one lock, by CPUs".to_string(),
        across: "CPUs".to_string(),
        upwards: format!("passes through the lock, {}", units.rate()),
        cases: curves.cases.iter().map(|case| drawn(case, curves.symbol, units)).collect(),
        marks: curves.cases.iter().filter_map(|case| knee(case, units)).collect(),
    };
    let (commit, unit) = (workspace::commit(), units.name());
    drawn.svg(&format!("machine-repairman model, times in {unit}, commit {commit}"))
}

fn drawn(case: &Case, symbol: &str, units: &Units) -> results::Case {
    let mut trails: Vec<Points> = asymptotes(case, units).into_iter().collect();
    for curve in &case.curves {
        let points = curve.line().into_iter();
        let points = points.map(|(cpus, x)| (cpus as f64, units.scaled(x)));
        let (predicted, run) = match curve.distribution {
            Distribution::Exponential => (Source::Exponential, Source::Simulated),
            Distribution::Deterministic => (Source::Deterministic, Source::SimulatedDeterministic),
        };
        trails.push(Points::of(predicted, points));
        trails.push(simulated(run, &curve.simulated, units));
    }
    trails.push(simulated(Source::HandOffs, &case.hand_offs, units));
    let point = |point: &Point| (point.cpus as f64, units.scaled(point.throughput));
    trails.push(Points::of(Source::Measured, case.measured.iter().map(point)));
    trails.retain(|trail| !trail.points.is_empty());
    // What fits beside a curve's end.
    let fitted = || case.curves.first().map(|curve| curve.model.think());
    let value = case.delay.or_else(fitted).unwrap_or(0.0);
    results::Case { name: format!("{symbol} = {}", rounded(value, 3)), trails }
}

fn simulated(source: Source, of: &[Simulated], units: &Units) -> Points {
    let each = || of.iter().map(|own| (own.cpus as f64, own.throughput));
    let scaled = |value: f64| units.scaled(value);
    Points {
        source,
        points: each().map(|(cpus, x)| (cpus, scaled(x.value))).collect(),
        band: each().map(|(cpus, x)| (cpus, scaled(x.low), scaled(x.high))).collect(),
    }
}

/// The greatest number of CPUs on the plot.
fn last(curve: &Curve) -> f64 {
    curve.solutions.last().map_or(1.0, |solution| solution.cpus as f64)
}

/// Both asymptotes of a case as one bent line.
fn asymptotes(case: &Case, units: &Units) -> Option<Points> {
    let curve = case.curves.first()?;
    let bound = |cpus: f64| {
        let unhindered = cpus / (curve.model.think() + curve.model.service());
        (cpus, units.scaled(unhindered.min(curve.saturation)))
    };
    let across = [0.0, curve.knee, last(curve)].into_iter().filter(|cpus| *cpus <= last(curve));
    Some(Points::of(Source::Bound, across.map(bound)))
}

/// Where they meet, if the plot reaches so far.
fn knee(case: &Case, units: &Units) -> Option<Mark> {
    let curve = case.curves.first()?;
    let at = (curve.knee, units.scaled(curve.saturation));
    (curve.knee <= last(curve)).then(|| Mark { at, name: format!("N* {:.1}", curve.knee) })
}
