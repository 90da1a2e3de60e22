use super::measure::held_up;
use super::{EXPERIMENT, FRAMES, HAD, HELD_UP, LONGEST, MEAN, PLAYERS, case};
use crate::experiment::testing::{all_hold, expect, report_but};
use results::{Report, Verdict};

/// A run in which the claims hold, but for one figure of a player.
fn run(change: Option<(&str, &str, u64)>) -> Report {
    let mut figures = Vec::new();
    for (player, share) in PLAYERS.into_iter().zip([1, 8, 8]) {
        let longest = if player == PLAYERS[2] { 60_000 } else { 140_000 };
        let own = [(HAD, share * 100_000), (FRAMES, share * 25), (MEAN, 50_000)];
        figures.extend(own.map(|(metric, value)| (metric, case(player), value)));
        figures.extend([(LONGEST, case(player), longest), (HELD_UP, case(player), 50_000)]);
    }
    let change = change.map(|(metric, player, value)| (metric, case(player), value));
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
    contradicted((HAD, PLAYERS[1], 700_000), "S4-C04");
    contradicted((HAD, PLAYERS[2], 900_000), "S4-C04");
    contradicted((HELD_UP, PLAYERS[1], 9_000), "S4-C05a");
    contradicted((LONGEST, PLAYERS[1], 99_000), "S4-C05a");
    contradicted((LONGEST, PLAYERS[2], 101_000), "S4-C05b");
}

#[test]
fn times_much_above_the_mean_are_held_up() {
    assert_eq!(held_up(&[50_000; 10]), 0);
    // The mean is 50 ms.
    let with = |late: u64| [50_000, 100_000 - late, late];
    assert_eq!(held_up(&with(99_999)), 0);
    assert_eq!(held_up(&with(100_000)), 333_333);
}
