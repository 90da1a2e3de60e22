//! `train-display`: frames that players have a display show, by a socket and by a train (S4-E04).

mod claims;
mod measure;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "train-display",
    about: "Times between frames that a display shows, by socket and by train",
    ledger: &["S4-12", "S4-E04", "S4-C04", "S4-C05"],
    machines: &[Measure::Simulated(measure::simulated), Measure::Emulated(measure::emulated)],
    kernels: &[manifest::TREE],
    metrics: &[BETWEEN, MEAN, LONGEST, HELD_UP, FRAMES, HAD],
    cases: &[],
    parameters: &[
        Parameter::time(
            "time",
            [2 * SECOND, 100 * SECOND],
            &[60 * SECOND],
            "of the run; emulated 10s",
        ),
        Parameter::time("put", [SHORT, 10 * SHORT], &[4 * SHORT], "that showing a frame takes"),
    ],
    conditions: &[
        ("shares", "players 1%, 8%, 8%; the display 1%; a program that never waits 82%"),
        ("slow, fast", "frames go into a queue of 2, which threads of the display empty"),
        ("train", "the player's thread shows its frame itself, in the display's domain"),
        ("frames", "4 ms each to draw; a player draws the next one at once"),
        ("screen", "one mutex, held while a frame is shown; who waits lends its share"),
    ],
    notes: &[
        "From one frame of a player on the screen to its next; the first second is left out.",
        "`held-up` is of these times the part that is longer than their mean by 50 ms or more.",
        "Players of one's own: `./giusto run` a manifest like systems/train-display.toml.",
    ],
    claims: claims::claims,
    deep: true,
    ..Experiment::USUAL
};

const SECOND: u64 = 1_000_000_000;
/// The shortest time that showing a frame takes.
const SHORT: u64 = 100_000;
/// From a frame to the next.
const BETWEEN: &str = "inter-frame";
/// The mean of these times, and the longest.
const MEAN: &str = "inter-frame-mean";
const LONGEST: &str = "inter-frame-longest";
/// How many of them are much longer than that.
const HELD_UP: &str = "held-up";
/// Frames that were shown.
const FRAMES: &str = "frames";
/// What a player has had.
const HAD: &str = "cpu-time";
/// Players, in the order of the program's log.
const PLAYERS: [&str; 3] = ["slow", "fast", "train"];

/// The case of a player.
fn case(player: &str) -> String {
    format!("player={player}")
}
