//! S4-C03.

use super::{APPROACHES, MEAN, PLAYERS, VARIANCE, case};
use crate::experiment::claim::Ours::{Each, Same};
use crate::experiment::claim::{Setting, Spec, claim, median};
use results::Bound::{AtLeast, Within};
use results::Report;

const SETTING: Setting = &[
    (
        "machine",
        "Sun Ultra-1, Solaris 2.7, one CPU",
        Each(["emulated: an instruction is a nanosecond", "simulated: work takes its time", ""]),
    ),
    (
        "players",
        "MPEG players of 1 %, 8 % and 8 %",
        Same("the same shares, nothing guaranteed; work by chance"),
    ),
    (
        "who inherits",
        "what the kernel's own locks meet: interrupt threads",
        Same("players, of mutexes that a thread above the curves wants every 10 ms"),
    ),
    ("window", "not stated; figures only", Same("100 ms")),
    ("load", "not stated", Same("a program that never waits has the other 83 %")),
];

fn figure(report: &Report, metric: &str, approach: usize, player: usize) -> Option<f64> {
    let (_, approach) = APPROACHES[approach];
    median(report, manifest::TREE, metric, &case(approach, PLAYERS[player]))
}

/// How many times the slow player's progress the others make, on average.
fn times(report: &Report, approach: usize) -> Option<f64> {
    let mean = |player| figure(report, MEAN, approach, player);
    Some((mean(1)? + mean(2)?) / 2.0 / mean(0)?)
}

/// How many times the variance of both fast players' progress is without charging.
fn calmer(report: &Report) -> Option<f64> {
    let sum = |approach| {
        let variance = |player| figure(report, VARIANCE, approach, player);
        Some(variance(1)? + variance(2)?)
    };
    Some(sum(1)? / sum(0)?)
}

/// The claims on both approaches.
pub fn claims() -> Vec<Spec> {
    const RATIO: &str = "S4-C03: long-term ratios are right; a tenth is what a quantum moves";
    const CALM: &str = "S4-C03: the variance in short windows is lower by more than 2";
    vec![
        claim("S4-C03a", "in the long run both approaches keep the ratios", SETTING)
            .figure("charged to both, of the slow one's", "times", |report| times(report, 0))
            .lies(Within(7.2, 8.8), RATIO)
            .figure("leaves the curves, of the slow one's", "times", |report| times(report, 1))
            .lies(Within(7.2, 8.8), RATIO),
        claim("S4-C03b", "at fine time scales charging both keeps the ratios better", SETTING)
            .figure("variance of progress, without by with", "times", calmer)
            .lies(AtLeast(2.0), CALM),
    ]
}
