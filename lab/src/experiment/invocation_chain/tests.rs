use super::measure::{most, residual};
use crate::experiment::claim::Line;

fn chains(of: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (1..=16).map(|length| (f64::from(length), of(f64::from(length)))).collect()
}

#[test]
fn a_line_has_no_residual_and_a_bend_has() {
    let straight = chains(|length| 50.0 + 300.0 * length);
    let line = Line::through(&straight);
    assert!((line.at(0.0) - 50.0).abs() < 1e-6 && (line.slope - 300.0).abs() < 1e-6);
    assert!(residual(&straight, &line) < 1e-6);
    // Each domain costs more than the one before.
    let bent = chains(|length| 300.0 * length + 10.0 * length * length);
    assert!(residual(&bent, &Line::through(&bent)) > 20.0);
    // One length stands out.
    let step = chains(|length| 300.0 * length + if length > 8.0 { 1_000.0 } else { 0.0 });
    assert!(residual(&step, &Line::through(&step)) > 20.0);
}

#[test]
fn load_is_seen_at_the_length_where_it_matters() {
    let alone = chains(|length| 300.0 * length);
    let beside = chains(|length| if length == 9.0 { 3_000.0 } else { 300.0 * length });
    let longer = |points: &[(f64, f64)], others: &[(f64, f64)]| most(points, others, |a, b| a - b);
    assert_eq!(longer(&alone, &alone), 0.0);
    assert_eq!(longer(&beside, &alone), 300.0);
    // Shorter beside a load is no fault of the load.
    assert_eq!(longer(&alone, &beside), 0.0);
}
