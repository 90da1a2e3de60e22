use super::measure::spread;
use super::{APPROACHES, EXPERIMENT, HELD, MEAN, PLAYERS, VARIANCE, case};
use crate::experiment::testing::{all_hold, expect, report_but};
use results::{Report, Verdict};

/// A figure that is another one: metric, approach, how long a mutex is held, player, value.
type Change = (&'static str, usize, u64, &'static str, u64);

/// A run in which the claims hold, but for one figure.
fn run(change: Option<Change>) -> Report {
    let mut figures = Vec::new();
    for ((_, approach), variance) in APPROACHES.into_iter().zip([20_000, 50_000]) {
        for held in HELD {
            for (player, mean) in PLAYERS.into_iter().zip([10_000, 80_000, 80_000]) {
                figures.push((MEAN, case(approach, held, player), mean));
                figures.push((VARIANCE, case(approach, held, player), variance));
            }
        }
    }
    let change = change.map(|(metric, approach, held, player, value)| {
        (metric, case(APPROACHES[approach].1, held, player), value)
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
    let [short, long] = HELD;
    contradicted((MEAN, 0, short, PLAYERS[0], 12_000), "S4-C03a");
    contradicted((MEAN, 1, short, PLAYERS[1], 110_000), "S4-C03a");
    contradicted((VARIANCE, 0, short, PLAYERS[1], 40_000), "S4-C03b");
    contradicted((VARIANCE, 1, short, PLAYERS[2], 20_000), "S4-C03b");
    // What the other length does is told, and does not judge.
    all_hold(&EXPERIMENT, &run(Some((MEAN, 1, long, PLAYERS[1], 110_000))), &[]);
    let claims = EXPERIMENT.judge(&run(None));
    assert!(claims[0].evidence.contains("held for up to 4 ms: 8.00 and 8.00 times"));
    assert!(claims[1].evidence.contains("held for up to 4 ms: 2.50 times"));
}

#[test]
fn the_variance_is_by_the_mean() {
    assert_eq!(spread(&[5; 10]), (5_000, 0));
    assert_eq!(spread(&[5, 15]), (10_000, 250_000));
    assert_eq!(spread(&[50, 150]), (100_000, 250_000));
    assert_eq!(spread(&[0, 0]), (0, 0));
}
