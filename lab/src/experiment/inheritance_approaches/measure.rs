use super::{
    APPROACHES, EXPERIMENT, HELD, MEAN, MS, PIECE, PLAYERS, PROGRESS, SECOND, VARIANCE, case,
};
use crate::experiment::{Boots, Emulated, Measured, Simulated};
use crate::machine::{Outcome, word_at};
use crate::systems::set;
use anyhow::{Context, Result, ensure};
use results::{Case, Curves, Source};

/// How long a run is on each machine, and a window, usually.
const SIMULATED: u64 = 60 * SECOND;
const EMULATED: u64 = 10 * SECOND;
const WINDOW: u64 = 100 * MS;
/// The memory with the log, where its windows are counted, and windows that are left out.
const LOG: &str = "progress";
const WINDOWS: usize = 13;
const FIRST: usize = 10;

pub fn simulated(setup: &Simulated, kernel: &str) -> Result<Measured> {
    measure(setup, kernel, SIMULATED)
}

pub fn emulated(setup: &Emulated, kernel: &str) -> Result<Measured> {
    measure(setup, kernel, EMULATED)
}

fn measure(setup: &impl Boots, kernel: &str, usual: u64) -> Result<Measured> {
    let time = setup.asked.number("time", usual);
    let window = setup.asked.number("window", WINDOW);
    let held = setup.asked.numbers("held").unwrap_or(HELD.to_vec());
    let mut measured = Measured::default();
    let both = held.iter().flat_map(|held| APPROACHES.map(|approach| (*held, approach)));
    for (held, (approach, word)) in both {
        let outcome = setup.boot_changed(EXPERIMENT.name, kernel, &mut |system| {
            system.inheritance = approach;
            set(system, "ms", &(time / MS).to_string());
            set(system, "window", &(window / MS).to_string());
            set(system, "within", &(held / PIECE).to_string());
        })?;
        let mut trails = Vec::new();
        for (number, player) in PLAYERS.into_iter().enumerate() {
            let done = done(&outcome, number)?;
            let case = case(word, held, player);
            let (mean, variance) = spread(&done);
            ensure!(mean > 0, "{player} has done nothing: give the run more time");
            let mut push = |metric, values| measured.samples.push(kernel, metric, &case, values);
            push(MEAN, vec![mean]);
            push(VARIANCE, vec![variance]);
            trails.push(trail(player, window, &done));
            push(PROGRESS, done);
        }
        let us = held / 1_000;
        measured.curves.push(Curves::of(
            format!("{}-{word}-{us}us", EXPERIMENT.name),
            format!(
                "Progress of the players, `inheritance = \"{word}\"`, mutexes held for {us} us"
            ),
            ["seconds", "pieces of 0.1 ms"],
            trails,
        ));
    }
    for (metric, unit) in
        [(PROGRESS, "pieces"), (MEAN, "thousandths of a piece"), (VARIANCE, "millionths")]
    {
        measured.units.insert(metric.to_string(), unit.to_string());
    }
    Ok(measured)
}

/// What a player has done in each window.
fn done(outcome: &Outcome, player: usize) -> Result<Vec<u64>> {
    let log = outcome.memories.get(LOG).context("the run left no log")?;
    let count = word_at(log, WINDOWS).context("the log has no windows")? as usize;
    ensure!(count > FIRST + 1, "too few windows: give the run more time");
    let at = |row| {
        let word = WINDOWS + 1 + PLAYERS.len() * row + player;
        word_at(log, word).context("the log is cut off")
    };
    let totals = (FIRST..count).map(at).collect::<Result<Vec<u64>>>()?;
    Ok(totals.windows(2).map(|pair| pair[1] - pair[0]).collect())
}

/// The mean of counts, in thousandths, and their variance by its square, in millionths.
pub fn spread(counts: &[u64]) -> (u64, u64) {
    let number = counts.len().max(1) as f64;
    let mean = counts.iter().sum::<u64>() as f64 / number;
    let off = counts.iter().map(|count| (*count as f64 - mean).powi(2)).sum::<f64>() / number;
    let variance = if mean > 0.0 { off / mean.powi(2) } else { 0.0 };
    ((mean * 1e3).round() as u64, (variance * 1e6).round() as u64)
}

/// Progress over time, as the paper's Figures 3 and 4 have it.
fn trail(player: &str, window: u64, done: &[u64]) -> Case {
    let second = |index: usize| ((FIRST + index + 1) as u64 * window) as f64 / SECOND as f64;
    let points = done.iter().enumerate().map(|(at, count)| (second(at), *count as f64));
    Case::of(player, Source::Measured, points)
}
