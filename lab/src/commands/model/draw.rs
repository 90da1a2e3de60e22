//! Points, curves, simulations and asymptotes on one plot.

use super::curves::{Case, Curve, Curves};
use super::units::Units;
use crate::workspace;
use model::{Distribution, Point, Simulated};
use results::{Chart, Mark, Stroke, Trail, rounded};

/// The plot of all cases.
pub fn chart(curves: &Curves, units: &Units) -> Chart {
    let mut trails = Vec::new();
    let mut marks: Vec<Mark> = Vec::new();
    for (index, case) in curves.cases.iter().enumerate() {
        trails.extend(asymptotes(case, index, units));
        marks.extend(knee(case, units));
    }
    for (index, case) in curves.cases.iter().enumerate() {
        for curve in &case.curves {
            let points = curve.line.iter().map(|(cpus, x)| (*cpus as f64, units.scaled(*x)));
            let stroke = line(curve.distribution);
            trails.push(Trail { case: index, stroke, points: points.collect() });
            trails.push(simulated(index, symbol(curve.distribution), &curve.simulated, units));
        }
        trails.push(simulated(index, Stroke::Triangles, &case.hand_offs, units));
        let point = |point: &Point| (point.cpus as f64, units.scaled(point.throughput));
        let points = case.measured.iter().map(point).collect();
        trails.push(Trail { case: index, stroke: Stroke::Dots, points });
    }
    trails.retain(|trail| !trail.points.is_empty());
    let known = [
        (Stroke::Dots, "measured"),
        (Stroke::Full, "exponential"),
        (Stroke::Dashed, "deterministic"),
        (Stroke::Rings, "simulated"),
        (Stroke::Crosses, "simulated"),
        (Stroke::Triangles, "hand-offs"),
        (Stroke::Thin, "asymptotes, knee"),
    ];
    let used = |stroke: &Stroke| trails.iter().any(|trail| trail.stroke == *stroke);
    let strokes = known.into_iter().filter(|(stroke, _)| used(stroke));
    Chart {
        cases: curves.cases.iter().map(|case| label(case, curves.symbol)).collect(),
        strokes: strokes.map(|(stroke, name)| (stroke, name.to_string())).collect(),
        trails,
        marks,
        across: "CPUs".to_string(),
        upwards: format!("passes through the lock, {}", units.rate()),
        origin: format!("machine-repairman model, times in {}, {}", units.name(), commit()),
    }
}

fn commit() -> String {
    format!("commit {}", workspace::commit())
}

/// What fits beside a curve's end.
fn label(case: &Case, symbol: &str) -> String {
    let fitted = || case.curves.first().map(|curve| curve.model.think());
    let value = case.delay.or_else(fitted).unwrap_or(0.0);
    format!("{symbol} = {}", rounded(value, 3))
}

fn line(distribution: Distribution) -> Stroke {
    match distribution {
        Distribution::Exponential => Stroke::Full,
        Distribution::Deterministic => Stroke::Dashed,
    }
}

fn symbol(distribution: Distribution) -> Stroke {
    match distribution {
        Distribution::Exponential => Stroke::Rings,
        Distribution::Deterministic => Stroke::Crosses,
    }
}

fn simulated(case: usize, stroke: Stroke, of: &[Simulated], units: &Units) -> Trail {
    let point = |own: &Simulated| (own.cpus as f64, units.scaled(own.throughput.value));
    Trail { case, stroke, points: of.iter().map(point).collect() }
}

/// The greatest number of CPUs on the plot.
fn last(curve: &Curve) -> f64 {
    curve.line.last().map_or(1.0, |(cpus, _)| *cpus as f64)
}

/// Both asymptotes of a case as one bent line.
fn asymptotes(case: &Case, index: usize, units: &Units) -> Option<Trail> {
    let curve = case.curves.first()?;
    let bound = |cpus: f64| {
        let unhindered = cpus / (curve.model.think() + curve.model.service());
        (cpus, units.scaled(unhindered.min(curve.saturation)))
    };
    let mut across = vec![0.0, curve.knee, last(curve)];
    across.retain(|cpus| *cpus <= last(curve));
    let points = across.into_iter().map(bound).collect();
    Some(Trail { case: index, stroke: Stroke::Thin, points })
}

/// Where they meet, if the plot reaches so far.
fn knee(case: &Case, units: &Units) -> Option<Mark> {
    let curve = case.curves.first()?;
    let at = (curve.knee, units.scaled(curve.saturation));
    (curve.knee <= last(curve)).then(|| Mark { at, name: format!("N* {:.1}", curve.knee) })
}
