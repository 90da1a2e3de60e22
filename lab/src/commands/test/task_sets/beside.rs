//! A victim that never waits beside random neighbours, which make work for the kernel: what it
//! executes is, but for a stated number of switches, what it executes beside idle ones.

use super::draw::among;
use super::said;
use analysis::Random;
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::path::Path;

/// Windows that a run has.
const WINDOWS: usize = 8;
/// A switch, in units of work: a budget's worth of the least one.
const SWITCH: u64 = abi::reservation::LEAST_BUDGET;
/// How many switches a victim may lose in each window, and for each of so many milliseconds.
const LOST: u64 = 5;
const EACH: u64 = 5;

/// The policy of a seed, and how a victim with half of what it is promised stands in it.
fn policy(seed: u64) -> (&'static str, &'static str) {
    match seed % 4 {
        0 => ("edf", ""),
        1 => ("fixed-priority", "priority = 200\n"),
        2 => ("service-curves", "curve = \"55%\"\n"),
        _ => ("partitions", ""),
    }
}

/// One of some numbers.
fn pick(random: &mut Random, of: &[u64]) -> u64 {
    of[random.below(of.len() as u64) as usize]
}

/// The manifest of a seed, and the length of its windows in milliseconds.
fn drawn(seed: u64) -> (String, u64) {
    let mut random = Random::of(seed);
    let (policy, place) = policy(seed);
    let period = pick(&mut random, &[10, 20, 50]);
    let budget = among(&mut random, 15, 35) * period * 10;
    let mut text = format!(
        "[system]\nname = \"beside-{seed}\"\nkernel = \"tree\"\n\n[[reservation]]\nname = \"all\"\n\
         priority = 300\npolicy = \"{policy}\"\n"
    );
    let (limit, within) = match policy {
        "partitions" => {
            let half = period / 2;
            write!(
                text,
                "major_frame = \"{period}ms\"\n\n[[reservation]]\nname = \"others\"\n\
                 in = \"all\"\npriority = 100\npolicy = \"fixed-priority\"\nwindows = [{{ \
                 offset = \"{half}ms\", duration = \"{half}ms\" }}]\n"
            )
            .expect("it is text");
            let window = (budget / 1_000).max(1);
            let windows = format!("[{{ offset = \"0ms\", duration = \"{window}ms\" }}]");
            (format!("priority = 100\nwindows = {windows}\n"), "others")
        }
        _ => {
            let limit = format!("budget = \"{budget}us\"\nperiod = \"{period}ms\"\n");
            (format!("{place}{limit}server = \"constant\"\n"), "all")
        }
    };
    let micros = period * 1_000;
    write!(
        text,
        "\n[[reservation]]\nname = \"victim\"\nin = \"all\"\n{limit}\n[[domain]]\n\
         name = \"victim\"\nprogram = \"neighbours\"\npriority = 20\nreservation = \"victim\"\n\
         args = {{ role = 3, period = {micros}, windows = {WINDOWS} }}\n\
         caps = [{{ name = \"console\", console = true }}, \
         {{ name = \"system\", system = true }}]\n"
    )
    .expect("it is text");
    let count = among(&mut random, 1, 4);
    for number in 0..count {
        text += &neighbour(&mut random, (number, count), (policy, within), micros);
    }
    (text, period)
}

/// One of so many neighbours in this class: it sleeps and works for short times, divides what it
/// has, or computes.
fn neighbour(
    random: &mut Random,
    (number, count): (u64, u64),
    (policy, within): (&str, &str),
    micros: u64,
) -> String {
    let often = pick(random, &[200, 500, 1_000, 2_000, micros]);
    let share = among(random, 2, 40 / count);
    let own = (often * share / 100).max(SWITCH / 1_000);
    let server = ["sporadic", "constant"][random.below(2) as usize];
    let stands = match policy {
        "edf" => String::new(),
        "service-curves" => format!("curve = \"{share}%\"\n"),
        "partitions" => format!("priority = {}\n", pick(random, &[5, 9])),
        _ => format!("priority = {}\n", pick(random, &[150, 199, 200, 201, 250])),
    };
    let divides = random.below(3) == 0;
    let class = if divides { "policy = \"fixed-priority\"\n" } else { "" };
    let rest = match divides {
        true => format!(
            "priority = 30\nmax_priority = 30\nthreads = 9\nslots = 64\nargs = {{ role = 2, \
             leaves = {}, budget = {}, period = {}, server = {}, idle = 0 }}\n\
             caps = [{{ name = \"box\", reservation = \"n{number}\", rights = [\"divide\"] }}]\n\
             quota = {{ threads = 8, reservations = 8, tables = 40 }}\n",
            among(random, 1, 8),
            pick(random, &[20, 25, 40]),
            pick(random, &[100, 130, 200, 500]),
            random.below(4)
        ),
        false => format!(
            "priority = 20\nreservation = \"n{number}\"\nargs = {{ role = {}, sleep = {}, \
             work = {}, idle = 0 }}\n",
            pick(random, &[1, 1, 4]),
            pick(random, &[1, 3, 20, 100]),
            pick(random, &[0, 500, 5_000])
        ),
    };
    format!(
        "\n[[reservation]]\nname = \"n{number}\"\nin = \"{within}\"\n{stands}{class}\
         budget = \"{own}us\"\nperiod = \"{often}us\"\nserver = \"{server}\"\n\n[[domain]]\n\
         name = \"d{number}\"\nprogram = \"neighbours\"\n{rest}"
    )
}

/// Runs the set of a seed twice; the manifest is in this folder while it runs, and stays there if
/// the victim loses more than it may.
pub fn held(folder: &Path, machine: &'static [&'static str], seed: u64) -> Result<()> {
    let (text, period) = drawn(seed);
    let path = folder.join(format!("beside-{seed}.toml"));
    fs_err::write(&path, text)?;
    let had = |idle: &'static str| -> Result<Vec<u64>> {
        let mut words: Vec<&Path> = vec!["run".as_ref(), &path];
        words.extend(machine.iter().map(Path::new));
        words.extend(["--arg", idle].map(Path::new));
        let ran = said(&words, &[0])?;
        let had = ran.lines().filter_map(|line| line.strip_prefix("had ")?.parse().ok());
        Ok(had.collect())
    };
    let (alone, beside) = (had("idle=1")?, had("idle=0")?);
    ensure!(alone.len() == WINDOWS && beside.len() == WINDOWS, "seed {seed}: windows are missing");
    let most = (LOST + period.div_ceil(EACH)) * SWITCH;
    for (window, (alone, beside)) in (1..).zip(alone.iter().zip(&beside)) {
        let lost = alone.saturating_sub(*beside);
        ensure!(
            lost <= window * most,
            "seed {seed}: by window {window} the victim has lost {lost} units to its neighbours, \
             and may lose {most} in each: `{}`",
            path.display()
        );
    }
    fs_err::remove_file(&path).context("the manifest is removed")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn sets_are_manifests_and_a_seed_gives_one() {
        for seed in 0..200 {
            let (text, _) = super::drawn(seed);
            assert_eq!(text, super::drawn(seed).0);
            manifest::parse("set.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        }
    }
}
