//! How delays grow with the herd.

use super::{
    ATTACKS, DELAY, EVENTS, SERVICE, SLOPE, SLOPE_SERVICE, SLOPE_WORST, WORST, case, scene,
};
use crate::experiment::Measured;
use crate::experiment::claim::Line;
use results::{Case, Curves, Source};

/// The unit of slopes.
const UNIT: &str = "instructions for 1,000 threads";

/// Metrics, with those of their slopes.
const SLOPES: [(&str, &str); 3] = [(DELAY, SLOPE), (WORST, SLOPE_WORST), (SERVICE, SLOPE_SERVICE)];

/// The medians of a metric in a scene, by the number of threads.
pub fn points(
    measured: &Measured,
    kernel: &str,
    metric: &str,
    scene: &str,
    threads: &[u64],
) -> Vec<(f64, f64)> {
    let at = |threads: &u64| {
        let median = measured.median(kernel, metric, &case(scene, *threads)).ok()?;
        Some((*threads as f64, median))
    };
    threads.iter().filter_map(at).collect()
}

/// What 1,000 threads add to a delay, at least nothing: none of fewer than two points.
pub fn slope(points: &[(f64, f64)]) -> Option<u64> {
    let rise = (points.len() > 1).then(|| Line::through(points).slope * 1_000.0)?;
    Some(rise.round().max(0.0) as u64)
}

/// Adds slopes, and curves of the worst delays of each event.
pub fn add(measured: &mut Measured, kernel: &str, threads: &[u64]) {
    for event in EVENTS {
        let mut cases = Vec::new();
        for attack in ATTACKS {
            let scene = scene(event, attack);
            for (metric, slopes) in SLOPES {
                let points = points(measured, kernel, metric, &scene, threads);
                let slope = slope(&points);
                slope.into_iter().for_each(|it| {
                    measured.samples.push(kernel, slopes, &scene, vec![it]);
                });
                if metric == WORST && !points.is_empty() {
                    cases.push(Case::of(attack, Source::Simulated, points));
                }
            }
        }
        if !cases.is_empty() {
            let title = format!("{kernel}: worst delay from {event} to thread");
            let (name, axes) =
                (format!("herd-{kernel}-{event}"), ["hostile threads", "instructions"]);
            measured.curves.push(Curves::of(name, title, axes, cases));
        }
    }
    for (_, metric) in SLOPES {
        measured.units.insert(metric.to_string(), UNIT.to_string());
    }
}
