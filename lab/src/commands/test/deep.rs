//! Searches by machine, which take long: arbitrary calls, seeds of the stress, Miri, long runs of
//! properties, and the first run of a stranger.

use super::builds::Builds;
use super::findings::Findings;
use super::job::{Class, Job};
use super::{giusto, host, miri, mutants, process, stress};
use crate::cli::Group;
use crate::commands::counted;
use crate::scratch::Scratch;
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use manifest::{LOCKINGS, TREE};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

/// Steps of arbitrary calls on one CPU, of the kernel with a scheduling tree apart, and on several
/// under each locking; in lots, so that a run that is ended loses little.
const STEPS_ON_ONE: u64 = 100_000_000;
const STEPS_OF_TREE: u64 = 20_000_000;
const STEPS_ON_FOUR: u64 = 10_000_000;
/// The same of each where each poll for interrupts finds one, or a delay.
const STEPS_AT_EACH_POLL: u64 = 10_000_000;
const LOT: u64 = 2_000_000;

/// Seeds of the stress under each locking, in lots.
const SEEDS: u64 = 2000;
const SEEDS_IN_LOT: u64 = 100;

/// Cases of a property, for proptest: 20 times the usual number.
const MANY_CASES: (&str, &str) = ("PROPTEST_CASES", "5120");

/// No search takes longer.
const LIMIT: Duration = Duration::from_secs(6 * 3600);

/// What a first run may take, on two idle CPUs.
const FIRST_RUN: Duration = Duration::from_secs(300);

/// All of them.
pub fn jobs() -> Result<Vec<Job>> {
    let one = Fuzz { cpus: 1, locking: LOCKINGS[0], kernel: None, chaos: None };
    let mut jobs = fuzz(STEPS_ON_ONE, one);
    jobs.extend(fuzz(STEPS_OF_TREE, Fuzz { kernel: Some(TREE), ..one }));
    for kernel in [None, Some(TREE)] {
        let several = LOCKINGS[1..].iter().map(|locking| Fuzz { cpus: 4, locking, kernel, ..one });
        jobs.extend(several.flat_map(|it| fuzz(STEPS_ON_FOUR, it)));
    }
    for kernel in [None, Some(TREE)] {
        let one = Fuzz { cpus: 1, locking: LOCKINGS[0], kernel, chaos: Some(1) };
        let several = LOCKINGS[1..].iter().map(|locking| Fuzz { cpus: 4, locking, ..one });
        jobs.extend([one].into_iter().chain(several).flat_map(|it| fuzz(STEPS_AT_EACH_POLL, it)));
    }
    jobs.extend(stress::seeds(SEEDS, SEEDS_IN_LOT));
    jobs.extend(properties());
    jobs.extend(task_sets());
    jobs.extend(miri::jobs()?);
    jobs.push(first_run());
    jobs.extend(changed());
    jobs.extend(mutants::jobs()?);
    Ok(jobs)
}

fn search(
    name: impl Into<String>,
    work: impl FnOnce(&mut Findings) -> Result<()> + Send + 'static,
) -> Job {
    Job::new(Group::Search, name, work).class(Class::Deep)
}

/// What arbitrary calls are tried on: under this locking, of this kernel, or of all that have no
/// tree; with something injected once in so many places, or by the seed.
#[derive(Clone, Copy)]
struct Fuzz {
    cpus: usize,
    locking: &'static str,
    kernel: Option<&'static str>,
    chaos: Option<u64>,
}

/// Arbitrary calls, every invariant checked after each step.
fn fuzz(steps: u64, Fuzz { cpus, locking, kernel, chaos }: Fuzz) -> Vec<Job> {
    let lot = |lot: u64| {
        let seed = (lot + 1) << 32;
        let each = if chaos == Some(1) { ", an interrupt at each poll" } else { "" };
        let name = format!(
            "fuzz of {} on {}, locks {locking}{each}: {LOT} steps from seed {seed:#x}",
            kernel.unwrap_or("all kernels"),
            counted(cpus, "CPU")
        );
        let work = move |_: &mut _| {
            let [steps, seed, cpus] = [LOT.to_string(), seed.to_string(), cpus.to_string()];
            let arguments = ["twin", "fuzz", "--steps", &steps, "--seed", &seed, "--cpus", &cpus];
            let mut command = giusto()?;
            command.args(arguments).args(["--locking", locking, "--json"]);
            command.args(kernel.into_iter().flat_map(|kernel| ["--kernel", kernel]));
            command.args(chaos.into_iter().flat_map(|n| ["--chaos".to_string(), n.to_string()]));
            let ended = process::run_apart(&mut command, LIMIT)?;
            let said: Value = serde_json::from_str(&ended.output)
                .with_context(|| ended.failure(20).unwrap_or_default())?;
            let field = |name: &str| said.get(name).cloned().unwrap_or_default();
            if field("held") != true || ended.code() != Some(0) {
                bail!("seed {}: {}", field("seed"), field("failure"));
            }
            ensure!(field("steps").as_u64() >= Some(LOT), "only {} steps", field("steps"));
            Ok(())
        };
        search(name, work).seconds(LOT as f64 / 60e3)
    };
    (0..steps / LOT).map(lot).collect()
}

/// Packages whose properties are tried more often, and of the laboratory what it tries for seeds.
fn properties() -> Vec<Job> {
    let whole =
        ["acceptance", "analysis", "kernel", "locks", "model", "policies", "results", "trace"]
            .map(|package| (package, ""));
    whole
        .into_iter()
        .chain([("lab", "planted_causes")])
        .map(|(package, tests)| {
            let name = format!("properties of {package}, 20 times the cases");
            let work = move |_: &mut _| {
                host::cargo(&["test", "-q", "-p", package, tests], &[MANY_CASES]).map(drop)
            };
            search(name, work).builds(Builds::Own("its package")).seconds(300.0)
        })
        .collect()
}

/// Random task sets, none of which may miss a deadline that the analysis accepts: the experiment as
/// it is, and with other sets.
fn task_sets() -> Vec<Job> {
    const SETS: [(&str, &[&str]); 4] = [
        ("as the experiment has them", &[]),
        ("short deadlines", &["deadline=30"]),
        ("a wide range of periods", &["shortest=4ms", "longest=1s", "sets=500"]),
        ("many tasks", &["tasks=12", "cpus=1,2,8", "sets=1000"]),
    ];
    let job = |(name, set): (&str, &'static [&'static str])| {
        let work = move |_: &mut _| {
            let mut command = giusto()?;
            command.args(["lab", "run", "schedulability", "--json"]);
            command.args(set.iter().flat_map(|value| ["--set", value]));
            match process::run(&mut command, LIMIT)?.failure(20) {
                Some(failure) => bail!("{failure}"),
                None => Ok(()),
            }
        };
        search(format!("task sets, {name}: what is accepted misses nothing"), work).seconds(100.0)
    };
    SETS.map(job).into()
}

/// Packages of pure code, in which cargo-mutants changes one expression after the other; what it
/// is to leave alone is in `.cargo/mutants.toml`.
const PURE: [&str; 1] = ["policies"];

fn changed() -> Vec<Job> {
    let job = |package| {
        let work = move |_: &mut _| {
            let folder = workspace::build_directory().join("mutants/pure");
            let folder = folder.to_str().context("the build directory's name is not text")?;
            let mutants = ["mutants", "-p", package, "--no-shuffle", "--colors", "never"];
            let found = host::cargo(&[&mutants[..], &["-o", folder]].concat(), &[]);
            found.map(drop).context("cargo-mutants (cargo install cargo-mutants --locked)")
        };
        let name = format!("every changed expression of {package} is noticed");
        Job::new(Group::Mutants, name, work)
            .class(Class::Deep)
            .builds(Builds::Own("its package, changed"))
            .seconds(300.0)
    };
    PURE.map(job).into()
}

/// What a stranger does first: a clone, and the demonstration.
fn first_run() -> Job {
    let work = |_: &mut Findings| {
        let folder = Scratch::new()?;
        let clone = folder.path().join("giusto");
        let mut git = Command::new("git");
        git.arg("clone").arg("-q").arg(workspace::root()).arg(&clone);
        if let Some(failure) = process::run(&mut git, LIMIT)?.failure(20) {
            bail!("cannot clone: {failure}");
        }
        let started = std::time::Instant::now();
        let mut demo = Command::new(clone.join("giusto"));
        demo.args(["--no-install", "demo"]).current_dir(&clone);
        demo.env_remove("CARGO_TARGET_DIR").env_remove("CARGO");
        if let Some(failure) = process::run(&mut demo, LIMIT)?.failure(60) {
            bail!("{failure}");
        }
        let taken = started.elapsed();
        ensure!(taken <= FIRST_RUN, "it takes {:.0} s, over {:?}", taken.as_secs_f64(), FIRST_RUN);
        Ok(())
    };
    search("the demonstration in a new clone, from nothing", work)
        .alone()
        .builds(Builds::Own("everything"))
        .seconds(300.0)
}

#[cfg(test)]
mod tests {
    use super::super::list;
    use super::*;
    use crate::cli;
    use crate::commands::test::job::Choice;
    use crate::experiment::EXPERIMENTS;

    /// The page's table: how many runs, sets of tasks and steps, and which figures.
    #[test]
    fn the_page_says_what_deep_runs_are() {
        const PAGE: &str = "docs/internals/testing.md";
        let page = fs_err::read_to_string(workspace::root().join(PAGE)).unwrap();
        let asked = cli::Test { deep: true, only: vec![Group::Target], ..cli::Test::default() };
        let jobs = list(&Choice::new(&asked)).unwrap();
        let deep = jobs.iter().filter(|job| job.group == Group::Target && job.class == Class::Deep);
        let names: Vec<&str> = deep.map(|job| job.name.as_str()).collect();
        let sets = |name: &&str| name.split_once(" task sets").map(|(count, _)| count.to_string());
        let of_sets: u64 =
            names.iter().filter_map(sets).map(|count| count.parse::<u64>().unwrap()).sum();
        let runs = names.iter().filter(|name| sets(name).is_none()).count();
        let steps = [
            (STEPS_ON_ONE, "10^8 steps on one CPU"),
            (STEPS_OF_TREE, "of `tree` 2*10^7"),
            (STEPS_ON_FOUR, "10^7 on four"),
        ];
        assert_eq!(steps.map(|it| it.0), [100_000_000, 20_000_000, 10_000_000]);
        let said = [format!("| {runs} runs |"), format!("| {of_sets} sets |")];
        let figures = EXPERIMENTS.iter().filter(|experiment| experiment.deep);
        let figures: Vec<String> = figures.map(|it| format!("`{}`", it.name)).collect();
        let figures = figures.iter().chain(&said).map(String::as_str);
        for said in figures.chain(steps.map(|it| it.1)) {
            assert!(page.contains(said), "{PAGE} lacks {said}");
        }
    }
}
