use super::measure::spread;
use super::{APPROACHES, EXPERIMENT, MEAN, PLAYERS, VARIANCE, case};
use crate::experiment::testing::{all_hold, expect, report_but};
use results::{Report, Verdict};

/// A run in which the claims hold, but for one figure.
fn run(change: Option<(&str, usize, &str, u64)>) -> Report {
    let mut figures = Vec::new();
    for ((_, approach), variance) in APPROACHES.into_iter().zip([20_000, 50_000]) {
        for (player, mean) in PLAYERS.into_iter().zip([10_000, 80_000, 80_000]) {
            figures.push((MEAN, case(approach, player), mean));
            figures.push((VARIANCE, case(approach, player), variance));
        }
    }
    let change = change.map(|(metric, approach, player, value)| {
        (metric, case(APPROACHES[approach].1, player), value)
    });
    let change = change.as_ref().map(|(metric, case, value)| (*metric, case.as_str(), *value));
    report_but("twin", manifest::TREE, &figures, change)
}

#[test]
fn the_papers_findings_hold() {
    all_hold(&EXPERIMENT, &run(None), &[]);
}

#[test]
fn each_verdict_can_come_out_otherwise() {
    let contradicted = |change, id| {
        expect(&EXPERIMENT, &run(Some(change)), Verdict::Contradicted, &[id]);
    };
    contradicted((MEAN, 0, PLAYERS[0], 12_000), "S4-C03a");
    contradicted((MEAN, 1, PLAYERS[1], 110_000), "S4-C03a");
    contradicted((VARIANCE, 0, PLAYERS[1], 40_000), "S4-C03b");
    contradicted((VARIANCE, 1, PLAYERS[2], 20_000), "S4-C03b");
}

#[test]
fn the_variance_is_by_the_mean() {
    assert_eq!(spread(&[5; 10]), (5_000, 0));
    assert_eq!(spread(&[5, 15]), (10_000, 250_000));
    assert_eq!(spread(&[50, 150]), (100_000, 250_000));
    assert_eq!(spread(&[0, 0]), (0, 0));
}
