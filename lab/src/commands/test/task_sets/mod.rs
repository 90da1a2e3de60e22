//! Random task sets on QEMU against `check`: no response is longer than its bound.
//!
//! Each set is judged as a user judges a system: traced for what the kernel costs in it, checked
//! with these costs, and run.

mod beside;
mod draw;
mod lent;

use super::builds::Builds;
use super::job::{Class, Job};
use super::{giusto, process, state};
use crate::cli::Group;
use crate::commands::counted;
use crate::image::Build;
use crate::machine::{EMULATOR, Machine, Twin};
use anyhow::{Context, Result, bail, ensure};
use manifest::TREE;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// No command takes longer.
const LIMIT: Duration = Duration::from_secs(120);
/// How many sets are run, in lots: the first seeds of each list, and where they begin.
const USUAL: u64 = 6;
const DEEP: u64 = 500;
const DEEP_LENT: u64 = 100;
const DEEP_CURVED: u64 = 50;
const LOT: u64 = 25;

/// The sets of every run, and those of a deep one.
pub fn jobs() -> Vec<Job> {
    let deep = |sets, number| lot(sets, 1_000 + number * LOT, LOT).class(Class::Deep);
    let usual = [DRAWN, LENT, CURVED].map(|sets| lot(sets, 1, USUAL));
    let shared = (0..DEEP / LOT).map(|number| deep(DRAWN, number));
    let lent = (0..DEEP_LENT / LOT).map(|number| deep(LENT, number));
    let curved = (0..DEEP_CURVED / LOT).map(|number| deep(CURVED, number));
    let beside = [
        neighbours(EMULATOR, &["--icount"], 0, 4),
        neighbours(&Twin, &["--machine", "twin"], 0, 8),
        neighbours(EMULATOR, &["--icount"], 1_000, 100).class(Class::Deep),
    ];
    usual.into_iter().chain(shared).chain(lent).chain(curved).chain(beside).collect()
}

fn neighbours(
    machine: &'static dyn Machine,
    options: &'static [&'static str],
    first: u64,
    count: u64,
) -> Job {
    let name = format!("a victim beside {count} random sets of neighbours from seed {first}");
    let name = format!("{name}, {}", machine.name());
    let work = move |_: &mut _| {
        let folder = state::path("task-sets");
        fs_err::create_dir_all(&folder)?;
        (first..first + count).try_for_each(|seed| beside::held(&folder, options, seed))
    };
    let builds = Builds::of(machine, Build::default().with(TREE));
    Job::new(Group::Target, name, work).builds(builds).seconds(count as f64)
}

/// A manifest for each seed, and what such sets are called.
type Sets = (&'static str, fn(u64) -> String);

const DRAWN: Sets = ("", draw::set);
const LENT: Sets = ("that lend reservations, ", lent::set);
const CURVED: Sets = ("that share under curves, ", lent::curved);

fn lot((kind, set): Sets, first: u64, count: u64) -> Job {
    let name = format!("{} {kind}from seed {first}: no response above its bound", sets(count));
    let work = move |_: &mut _| {
        let held = |seed| held(set, seed);
        let responses = (first..first + count).map(held).sum::<Result<usize>>()?;
        ensure!(responses > 0, "no task of these sets has a bound");
        Ok(())
    };
    Job::new(Group::Target, name, work)
        .builds(Builds::Own("image, traced"))
        .seconds(3.0 * count as f64)
}

fn sets(count: u64) -> String {
    counted(count as usize, "task set")
}

/// Runs the set of a seed; how many responses were held against a bound. The manifest of one that
/// fails is kept.
fn held(set: fn(u64) -> String, seed: u64) -> Result<usize> {
    let folder = state::path("task-sets");
    fs_err::create_dir_all(&folder)?;
    let text = set(seed);
    let name = text.split('"').nth(1).unwrap_or_default();
    let file = |ending: &str| folder.join(format!("{name}.{ending}"));
    let (manifest, costs) = (file("toml"), file("json"));
    fs_err::write(&manifest, &text)?;
    let found = judged(&manifest, &costs);
    let (path, costs_path) = (manifest.display(), costs.display());
    let again = format!(
        "seed {seed}: `./giusto check {path} --overheads {costs_path}` against \
         `./giusto run {path} --icount --overheads {costs_path}`"
    );
    let count = found.context(again)?;
    fs_err::remove_file(&manifest)?;
    fs_err::remove_file(&costs)?;
    Ok(count)
}

/// Judges the set in a manifest; costs of the kernel are written to a file.
fn judged(manifest: &Path, costs: &PathBuf) -> Result<usize> {
    let traced =
        said(&["trace".as_ref(), manifest, "--overheads".as_ref(), "--json".as_ref()], &[0])?;
    fs_err::write(costs, traced)?;
    let words = ["check".as_ref(), manifest, "--overheads".as_ref(), costs, "--json".as_ref()];
    let checked: Value = serde_json::from_str(&said(&words, &[0, 1])?)?;
    let bounds = bounds(&checked)?;
    let words = ["run".as_ref(), manifest, "--icount".as_ref(), "--overheads".as_ref(), costs];
    let ran = said(&words, &[0])?;
    let responses = responses(&ran);
    ensure!(!responses.is_empty(), "no task tells its response:\n{ran}");
    compare(&bounds, &responses)
}

/// What a command prints, which ends with one of these statuses.
fn said(words: &[&Path], statuses: &[i32]) -> Result<String> {
    let mut command = giusto()?;
    command.args(words);
    let ended = process::run_apart(&mut command, LIMIT)?;
    let good = ended.code().is_some_and(|code| statuses.contains(&code));
    ensure!(good, "{}{}", ended.output, ended.errors);
    Ok(ended.output)
}

/// A task, and a time of it in ns.
type Times = Vec<(String, u64)>;

/// The bounds of the tasks that have one. The rest of a set says nothing of these.
fn bounds(checked: &Value) -> Result<Times> {
    let cpus = checked["schedulability"]["cpus"].as_array().context("check decides CPUs")?;
    let tasks = cpus.iter().flat_map(|cpu| cpu["tasks"].as_array().into_iter().flatten());
    let bound =
        |task: &Value| Some((task["name"].as_str()?.to_string(), task["bound_ns"].as_u64()?));
    Ok(tasks.filter_map(bound).collect())
}

/// The longest responses that a run tells; threads of a domain are its tasks in their order.
fn responses(ran: &str) -> Times {
    let line = |line: &str| {
        let (domain, rest) = line.split_once(' ')?;
        let (place, rest) = rest.split_once(": longest response ")?;
        let longest = rest.split(' ').next()?.parse().ok()?;
        let name = match domain {
            "tasks" => format!("tasks-{place}"),
            reserved => reserved.to_string(),
        };
        Some((name, longest))
    };
    ran.lines().filter_map(line).collect()
}

/// Fails on a response above its bound; how many had one.
fn compare(bounds: &Times, responses: &Times) -> Result<usize> {
    let mut count = 0;
    for (name, longest) in responses {
        let Some((_, bound)) = bounds.iter().find(|(task, _)| task == name) else { continue };
        count += 1;
        if longest > bound {
            bail!("a job of `{name}` took {longest} ns, and by `check` {bound} ns at most");
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_manifests_and_a_seed_gives_one() {
        for (seed, (_, set)) in
            (0..500).flat_map(|seed| [DRAWN, LENT, CURVED].map(|sets| (seed, sets)))
        {
            let text = set(seed);
            assert_eq!(text, set(seed));
            ::manifest::parse("set.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        }
    }

    #[test]
    fn a_response_above_its_bound_is_found() {
        let responses = responses(
            "boot\ntasks 1: longest response 300 ns of 7 jobs\n\
             r0 0: longest response 20 ns of 1 jobs\n",
        );
        assert_eq!(responses, [("tasks-1".to_string(), 300), ("r0".to_string(), 20)]);
        let bounds = |bound| vec![("tasks-1".to_string(), bound)];
        assert_eq!(compare(&bounds(300), &responses).unwrap(), 1);
        let failed = compare(&bounds(299), &responses).unwrap_err().to_string();
        assert!(failed.contains("`tasks-1` took 300 ns"), "{failed}");
    }
}
