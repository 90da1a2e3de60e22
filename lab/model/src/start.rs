//! Where a fit begins: pairs of s and a that the points' asymptotes suggest.

use crate::Point;

/// Shares of the greatest possible service time that are tried.
const SHARES: [f64; 6] = [0.99, 0.85, 0.65, 0.4, 0.15, 0.02];

/// Pairs of the service time and of the think time of points without an offset.
///
/// No throughput exceeds 1/s, so the highest bounds s from above. Of CPUs that hardly wait
/// `N/X = a + s`, and those of the fewest CPUs wait least.
pub fn starts(points: &[Point], offsets: &[f64]) -> Vec<[f64; 2]> {
    let most = points.iter().map(|point| point.throughput).fold(0.0, f64::max);
    let fewest = points.iter().map(|point| point.cpus).min().unwrap_or(1);
    let rounds = points.iter().zip(offsets).filter(|(point, _)| point.cpus == fewest);
    let rounds: Vec<f64> =
        rounds.map(|(point, offset)| point.cpus as f64 / point.throughput - offset).collect();
    let round = rounds.iter().sum::<f64>() / rounds.len() as f64;
    let pair = |share: f64| {
        let service = share / most;
        [service, (round - service).max(service / 100.0)]
    };
    SHARES.into_iter().map(pair).collect()
}
