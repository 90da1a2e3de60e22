use super::{
    BETWEEN, EXPERIMENT, FRAMES, HAD, HELD_UP, LONGEST, MEAN, PLAYERS, SECOND, SHORT, case,
};
use crate::experiment::service_curves::lines;
use crate::experiment::{Boots, Emulated, Measured, Simulated};
use crate::machine::{Outcome, word_at};
use crate::systems::set;
use anyhow::{Context, Result, ensure};
use results::{Case, Curves, Source};

/// How long a run is on each machine, usually.
const SIMULATED: u64 = 60 * SECOND;
const EMULATED: u64 = 10 * SECOND;
/// How long showing a frame takes, usually.
const PUT: u64 = 4 * SHORT;
/// The memory with the log: a mutex of two words, then for each player a log of so many words, the
/// first of which counts the others.
const SCREEN: &str = "screen";
const BEGIN: usize = 2;
const LOG: usize = 2_048;
/// What is longer than the mean by this, in microseconds, is held up.
const MUCH: u64 = 50_000;

pub fn simulated(setup: &Simulated, kernel: &str) -> Result<Measured> {
    measure(setup, kernel, SIMULATED)
}

pub fn emulated(setup: &Emulated, kernel: &str) -> Result<Measured> {
    measure(setup, kernel, EMULATED)
}

fn measure(setup: &impl Boots, kernel: &str, usual: u64) -> Result<Measured> {
    let (time, put) = (setup.asked.number("time", usual), setup.asked.number("put", PUT));
    let outcome = setup.boot_changed(EXPERIMENT.name, kernel, &mut |system| {
        set(system, "ms", &(time / 1_000_000).to_string());
        set(system, "work", &put.to_string());
    })?;
    let mut measured = Measured::default();
    let had = lines(&outcome.console, "shown", 5)?;
    for (number, player) in PLAYERS.into_iter().enumerate() {
        let instants = shown(&outcome, number)?;
        let times: Vec<u64> = between(&instants).map(|(_, time)| time).collect();
        ensure!(!times.is_empty(), "{player} has shown too few frames: give the run more time");
        let case = case(player);
        let own = had.iter().find(|(words, _)| words[0] == player);
        let own = own.and_then(|(words, _)| words[2].parse().ok());
        let own = own.with_context(|| format!("the run does not say what {player} has had"))?;
        let mut push = |metric, values| measured.samples.push(kernel, metric, &case, values);
        push(LONGEST, times.iter().max().copied().into_iter().collect());
        push(MEAN, vec![mean(&times)]);
        push(HELD_UP, vec![held_up(&times)]);
        push(FRAMES, vec![instants.len() as u64]);
        push(HAD, vec![own]);
        push(BETWEEN, times);
        measured.curves.push(curves(player, &instants));
    }
    for metric in EXPERIMENT.metrics {
        let unit = match *metric {
            HELD_UP => "millionths",
            FRAMES => "frames",
            HAD => "us of CPU time",
            _ => "us",
        };
        measured.units.insert(metric.to_string(), unit.to_string());
    }
    Ok(measured)
}

/// When frames of a player were shown, in nanoseconds since boot.
fn shown(outcome: &Outcome, player: usize) -> Result<Vec<u64>> {
    let screen = outcome.memories.get(SCREEN).context("the run left no screen")?;
    let log = BEGIN + player * LOG;
    let count = word_at(screen, log).context("the screen has no log")? as usize;
    ensure!(count + 1 < LOG, "more frames than the log has room for: shorten the run");
    let at = |frame| word_at(screen, log + 1 + frame).context("the log is cut off");
    (0..count).map(at).collect()
}

/// Times between frames, with the later one's instant: nanoseconds, microseconds.
fn between(instants: &[u64]) -> impl Iterator<Item = (u64, u64)> {
    let pairs = instants.windows(2).filter(|pair| pair[0] >= SECOND);
    pairs.map(|pair| (pair[1], (pair[1] - pair[0]) / 1_000))
}

fn mean(times: &[u64]) -> u64 {
    times.iter().sum::<u64>() / times.len().max(1) as u64
}

/// Of these times, how many are longer than their mean by much: in millionths.
pub fn held_up(times: &[u64]) -> u64 {
    let most = mean(times) + MUCH;
    let late = times.iter().filter(|time| **time >= most).count();
    late as u64 * 1_000_000 / times.len().max(1) as u64
}

/// Times between a player's frames over time, as the paper's Figures 5 to 7 have them.
fn curves(player: &str, instants: &[u64]) -> Curves {
    let point = |(at, time): (u64, u64)| (at as f64 / SECOND as f64, time as f64 / 1_000.0);
    let case = Case::of(player, Source::Measured, between(instants).map(point));
    let name = format!("{}-{player}", EXPERIMENT.name);
    let title = format!("Times between frames of the player `{player}`");
    Curves::of(name, title, ["seconds", "ms"], vec![case])
}
