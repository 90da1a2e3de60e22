//! S4-C03.

use super::{APPROACHES, HELD, MEAN, PLAYERS, VARIANCE, case};
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
    (
        "a lock is held",
        "not stated",
        Same("0.2 ms at most (choice: short, as a kernel's); 4 ms are told beside it"),
    ),
    ("load", "not stated", Same("a program that never waits has the other 83 %")),
];

/// Mutexes are held for a short time, and for a long one.
const SHORT: u64 = HELD[0];
const LONG: u64 = HELD[1];

fn figure(
    report: &Report,
    metric: &str,
    (approach, held): (usize, u64),
    player: usize,
) -> Option<f64> {
    let (_, approach) = APPROACHES[approach];
    median(report, manifest::TREE, metric, &case(approach, held, PLAYERS[player]))
}

/// How many times the slow player's progress the others make, on average.
fn times(report: &Report, approach: usize, held: u64) -> Option<f64> {
    let mean = |player| figure(report, MEAN, (approach, held), player);
    Some((mean(1)? + mean(2)?) / 2.0 / mean(0)?)
}

/// How many times the variance of both fast players' progress is without charging.
fn calmer(report: &Report, held: u64) -> Option<f64> {
    let sum = |approach| {
        let variance = |player| figure(report, VARIANCE, (approach, held), player);
        Some(variance(1)? + variance(2)?)
    };
    Some(sum(1)? / sum(0)?)
}

/// The same ratios where mutexes are held for long.
fn held_for_long(report: &Report) -> Option<String> {
    let [charged, leaves] = [times(report, 0, LONG)?, times(report, 1, LONG)?];
    let why = "without charging, what a player does in lent time is a gift";
    Some(format!("held for up to 4 ms: {charged:.2} and {leaves:.2} times; {why}"))
}

/// The claims on both approaches.
pub fn claims() -> Vec<Spec> {
    const RATIO: &str = "S4-C03: long-term ratios are right; a tenth is what a quantum moves";
    const CALM: &str = "S4-C03: the variance in short windows is lower by more than 2";
    vec![
        claim("S4-C03a", "in the long run both approaches keep the ratios", SETTING)
            .figure("charged to both, of the slow one's", "times", |r| times(r, 0, SHORT))
            .lies(Within(7.2, 8.8), RATIO)
            .figure("leaves the curves, of the slow one's", "times", |r| times(r, 1, SHORT))
            .lies(Within(7.2, 8.8), RATIO)
            .remark(held_for_long),
        claim("S4-C03b", "at fine time scales charging both keeps the ratios better", SETTING)
            .figure("variance of progress, without by with", "times", |r| calmer(r, SHORT))
            .lies(AtLeast(2.0), CALM)
            .remark(|r| Some(format!("held for up to 4 ms: {:.2} times", calmer(r, LONG)?))),
    ]
}
