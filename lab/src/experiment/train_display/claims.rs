//! S4-C04 and S4-C05.

use super::{FRAMES, HAD, HELD_UP, LONGEST, MEAN, PLAYERS, case};
use crate::experiment::claim::Ours::{Each, Same};
use crate::experiment::claim::{Setting, Spec, claim, median};
use results::Bound::{AtLeast, AtMost, Within};
use results::Report;

const SETTING: Setting = &[
    (
        "machine",
        "Sun Ultra-1, Solaris 2.7, one CPU",
        Each(["emulated: an instruction is a nanosecond", "simulated: work takes its time", ""]),
    ),
    ("display", "the X server, 1 %, multithreaded", Same("a server of two threads, 1 %")),
    (
        "players",
        "MPEG players, 1 % and 8 % by socket, 8 % by train",
        Same("the same shares; 4 ms of work for a frame, no pause"),
    ),
    (
        "socket",
        "XShmPutImage over a Unix socket",
        Same("images in shared memory, a queue of 2 frames"),
    ),
    ("showing a frame", "not stated", Same("0.4 ms")),
    (
        "mutex",
        "one for all, its waiting threads by priority",
        Same("the same, whose owner inherits"),
    ),
    ("load", "not stated", Same("a program that never waits has the other 82 %")),
];

fn figure(report: &Report, metric: &str, player: &str) -> Option<f64> {
    median(report, manifest::TREE, metric, &case(player))
}

/// How many times the slow player's progress another one makes.
fn times(report: &Report, metric: &str, player: &str) -> Option<f64> {
    Some(figure(report, metric, player)? / figure(report, metric, PLAYERS[0])?)
}

/// By how much the longest time between frames of a player is above the mean.
fn held_up(report: &Report, player: &str) -> Option<f64> {
    let longest = figure(report, LONGEST, player)?;
    Some((longest - figure(report, MEAN, player)?) / 1_000.0)
}

/// Frames, which by train contain what showing them takes.
fn frames(report: &Report) -> Option<String> {
    let [fast, train] = [PLAYERS[1], PLAYERS[2]].map(|player| times(report, FRAMES, player));
    Some(format!(
        "of frames {:.1} and {:.1} times as many: by train the player pays for showing them too",
        fast?, train?
    ))
}

/// The claims on the display.
pub fn claims() -> Vec<Spec> {
    const RATIO: &str = "S4-C04: 8 by their shares; a tenth is what a quantum of 1 ms moves";
    const GAPS: &str = "S4-C05: delays of 50 to 100 ms; no gap of 50 ms in the claim index";
    const MANY: &str = "S4-C05: many; one in a hundred would show in each of the paper's figures";
    vec![
        claim("S4-C04", "progress is by shares, though all wait for one mutex", SETTING)
            .figure("by socket, of the slow one's", "times", |report| {
                times(report, HAD, PLAYERS[1])
            })
            .lies(Within(7.2, 8.8), RATIO)
            .figure("by train, of the slow one's", "times", |report| times(report, HAD, PLAYERS[2]))
            .lies(Within(7.2, 8.8), RATIO)
            .remark(frames),
        claim("S4-C05a", "by socket many frames are 50 to 100 ms late", SETTING)
            .figure("longer than the mean by 50 ms or more", "%", |report| {
                Some(figure(report, HELD_UP, PLAYERS[1])? / 10_000.0)
            })
            .lies(AtLeast(1.0), MANY)
            .figure("the longest, above the mean", "ms", |report| held_up(report, PLAYERS[1]))
            .lies(AtLeast(50.0), GAPS),
        claim("S4-C05b", "by train no frame is", SETTING)
            .figure("the longest, above the mean", "ms", |report| held_up(report, PLAYERS[2]))
            .lies(AtMost(50.0), GAPS),
    ]
}
