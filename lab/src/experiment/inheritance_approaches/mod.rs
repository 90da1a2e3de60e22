//! `inheritance-approaches`: progress of players that share mutexes with the thread of an
//! interrupt, by both approaches to lent leaves (S4-E03).

mod claims;
mod measure;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::{Experiment, Measure};
use abi::reservation::Inheritance;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "inheritance-approaches",
    about: "Progress of players in short windows, by both approaches to lent leaves",
    ledger: &["S4-07", "S4-E03", "S4-C03"],
    machines: &[Measure::Simulated(measure::simulated), Measure::Emulated(measure::emulated)],
    kernels: &[manifest::TREE],
    metrics: &[PROGRESS, MEAN, VARIANCE],
    cases: &[],
    parameters: &[
        Parameter::time(
            "time",
            [2 * SECOND, 200 * SECOND],
            &[60 * SECOND],
            "of each run; emulated 10s",
        ),
        Parameter::time("window", [20 * MS, SECOND], &[100 * MS], "in which progress is counted"),
        Parameter::time("held", [PIECE, 20 * MS], &HELD, "for which a mutex is held at most"),
    ],
    conditions: &[
        ("shares", "players 1%, 8%, 8%; a program that never waits 83%"),
        ("players", "up to 4 ms of work without the mutex, then up to `held` with it, by chance"),
        ("interrupt", "a thread above the curves wants the mutex after 5 to 15 ms, by chance"),
        ("approach", "`charged`: lent time counts on the player's own leaf too; `leaves`: not"),
    ],
    notes: &[
        "Progress is counted in pieces of 0.1 ms of work, whosever time that was.",
        "The variance is that of progress by its mean, the first ten windows left out.",
    ],
    claims: claims::claims,
    deep: true,
    ..Experiment::USUAL
};

const MS: u64 = 1_000_000;
/// A piece of work.
const PIECE: u64 = MS / 10;
/// For how long a player holds its mutex at most: about as a kernel holds its locks, and long
/// beside the time between two interrupts. The paper does not say.
const HELD: [u64; 2] = [2 * PIECE, 40 * PIECE];
const SECOND: u64 = 1_000 * MS;
/// What a player has done in a window.
const PROGRESS: &str = "progress";
/// The mean of that.
const MEAN: &str = "progress-mean";
/// Its variance by the square of the mean.
const VARIANCE: &str = "progress-variance";
/// Players, in the order of the program's log.
const PLAYERS: [&str; 3] = ["slow", "fast", "third"];
/// Approaches, by their words in a manifest.
const APPROACHES: [(Inheritance, &str); 2] =
    [(Inheritance::Charged, "charged"), (Inheritance::Leaves, "leaves")];

/// The case of a player, with the microseconds for which mutexes are held at most.
fn case(approach: &str, held: u64, player: &str) -> String {
    format!("approach={approach} held={}us player={player}", held / 1_000)
}
