//! Runs both sides under one seed after the other, or reads what runs have saved.

use super::sides::Sides;
use crate::cli::Compare;
use crate::experiment::{self, Asked, EXPERIMENTS, Experiment, Listed, Session};
use crate::failure::usage;
use crate::machine::MACHINES;
use crate::workspace;
use anyhow::{Context, Result, ensure};
use indicatif::HumanDuration;
use results::{Report, Samples, Series};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The experiments whose cases name lockings.
const BY_LOCKING: [&str; 2] = ["lock-cost", "lock-scaling"];

/// What both sides gave under one seed. Series that belong together have the same names.
pub struct Run {
    /// The seed.
    pub seed: u64,
    /// Samples of the first.
    pub a: Samples,
    /// Samples of the second.
    pub b: Samples,
}

/// What an experiment gave.
pub struct Gathered {
    /// The experiment.
    pub experiment: String,
    /// The machine.
    pub machine: String,
    /// What the samples count.
    pub unit: String,
    /// The runs, by seed.
    pub runs: Vec<Run>,
}

/// Everything that a comparison is about, one experiment after the other.
pub fn gather(sides: &Sides, asked: &Compare, mut found: impl FnMut(Gathered)) -> Result<()> {
    if let Sides::Runs([a, b]) = sides {
        found(saved(a, b)?);
        return Ok(());
    }
    let chosen = chosen(sides, asked)?;
    let mut progress = Progress::new(chosen.len() * asked.repeats as usize);
    for (index, listed) in chosen.iter().enumerate() {
        let gathered = repeat(*listed, asked, &mut progress, &|seed| match sides {
            Sides::Commits([a, b]) => {
                let kernel = kernel(*listed, asked)?;
                Ok((there(a, *listed, kernel, seed)?, there(b, *listed, kernel, seed)?))
            }
            Sides::Lockings([a, b]) => {
                let kernel = kernel(*listed, asked)?;
                let samples = here(*listed, kernel, seed)?.1;
                Ok((of_locking(&samples, a), of_locking(&samples, b)))
            }
            // Each side is a run of its own, also when a kernel is compared with itself.
            Sides::Kernels([a, b]) => {
                Ok((nameless(here(*listed, a, seed)?.1), nameless(here(*listed, b, seed)?.1)))
            }
            Sides::Runs(_) => unreachable!("saved runs are not repeated"),
        })?;
        progress.done = (index + 1) * asked.repeats as usize;
        found(gathered);
    }
    Ok(())
}

/// Runs both sides under each seed. A second seed shows whether anything varies; if nothing does,
/// further ones would show nothing more.
fn repeat(
    listed: Listed,
    asked: &Compare,
    progress: &mut Progress,
    run: &dyn Fn(u64) -> Result<(Samples, Samples)>,
) -> Result<Gathered> {
    let mut runs: Vec<Run> = Vec::new();
    for seed in 1..=asked.repeats {
        progress.say(listed.experiment().name, seed, asked.repeats);
        let (a, b) = run(seed)?;
        runs.push(Run { seed, a, b });
        progress.done += 1;
        if seed >= 2 && runs.windows(2).all(|two| two[0].a == two[1].a && two[0].b == two[1].b) {
            break;
        }
    }
    Ok(Gathered {
        experiment: listed.experiment().name.to_string(),
        machine: listed.platform().name().to_string(),
        unit: listed.platform().unit().to_string(),
        runs,
    })
}

/// How far a comparison has come, at most.
struct Progress {
    all: usize,
    done: usize,
    ran: u32,
    started: Instant,
}

impl Progress {
    fn new(all: usize) -> Progress {
        Progress { all, done: 0, ran: 0, started: Instant::now() }
    }

    /// Says what is next, and from the second run on how long the rest may take.
    fn say(&mut self, experiment: &str, seed: u64, seeds: u64) {
        let Progress { all, done, ran, started } = *self;
        let left = started.elapsed().checked_div(ran).map(|each| each * (all - done) as u32);
        let left = left.map(|left| format!("; at most {} left", HumanDuration(left)));
        let left = left.unwrap_or_default();
        eprintln!("{experiment}: both sides, seed {seed} of at most {seeds}{left}");
        self.ran += 1;
    }
}

/// The experiments that were named, or all that compare both sides on the machine.
pub fn chosen(sides: &Sides, asked: &Compare) -> Result<Vec<Listed>> {
    let fits = |experiment: &&'static Experiment| match sides {
        Sides::Kernels(kernels) => {
            kernels.iter().all(|kernel| experiment.kernels.contains(&kernel.as_str()))
        }
        Sides::Lockings(_) => BY_LOCKING.contains(&experiment.name),
        // All of them would take very long in two other work trees.
        Sides::Commits(_) => !asked.experiment.is_empty() || experiment.golden,
        Sides::Runs(_) => false,
    };
    // Lockings are compared where their experiments usually run.
    let usual = match sides {
        Sides::Lockings(_) => None,
        _ => Some(MACHINES[0].name()),
    };
    let machine = asked.machine.as_deref().or(usual);
    let on = |experiment: &'static Experiment| match machine {
        Some(machine) => experiment.on(machine).ok(),
        None => Some(experiment.usual()),
    };
    let all: Vec<Listed> = EXPERIMENTS.into_iter().filter(fits).filter_map(on).collect();
    let place = machine.map_or(String::new(), |machine| format!(" on {machine}"));
    let Compare { a, b, .. } = asked;
    if all.is_empty() {
        return Err(usage(format!("no experiment runs{place} with {a} and {b}")));
    }
    let named = |name: &String| {
        let own = all.iter().find(|listed| listed.experiment().name == name).copied();
        own.ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|listed| listed.experiment().name).collect();
            let known = known.join(", ");
            usage(format!("`{name}` does not run{place} with {a} and {b}; these do: {known}"))
        })
    };
    match asked.experiment.is_empty() {
        true => Ok(all),
        false => asked.experiment.iter().map(named).collect(),
    }
}

/// The kernel under which lockings and commits are compared.
fn kernel(listed: Listed, asked: &Compare) -> Result<&'static str> {
    let known = listed.kernels();
    let Some(wanted) = &asked.kernel else { return Ok(known[0]) };
    known.iter().find(|kernel| *kernel == wanted).copied().ok_or_else(|| {
        let name = listed.experiment().name;
        usage(format!("`{name}` does not use kernel `{wanted}`, only {}", known.join(", ")))
    })
}

fn here(listed: Listed, kernel: &str, seed: u64) -> Result<(Report, Samples)> {
    experiment::run(listed, &Session::new(Asked::seed(seed)), &[kernel])
}

/// The samples of a commit, measured in a work tree of its own below the build directory; what it
/// has measured before is read.
fn there(hash: &str, listed: Listed, kernel: &str, seed: u64) -> Result<Samples> {
    let tree = workspace::build_directory().join("compare").join(&hash[..12]);
    if !tree.exists() {
        let mut git = Command::new("git");
        git.args(["worktree", "add", "--quiet", "--detach"]).arg(&tree).arg(hash);
        let status = git.current_dir(workspace::root()).status().context("cannot start git")?;
        ensure!(status.success(), "git cannot check {hash} out into {}", tree.display());
    }
    let (name, machine) = (listed.experiment().name, listed.platform().name());
    let saved = || {
        let runs = fs::read_dir(tree.join("target/lab").join(name)).into_iter().flatten();
        let fits = |path: &PathBuf| {
            let of_kernel = |own: &Report| own.rows.iter().all(|row| row.kernel == kernel);
            let same = |own: &Report| (&*own.machine, own.seed) == (machine, seed);
            results::read_report(path).is_ok_and(|own| same(&own) && of_kernel(&own))
        };
        runs.flatten().map(|entry| entry.path()).find(fits)
    };
    if saved().is_none() {
        let mut lab = Command::new(tree.join("giusto"));
        lab.args(["lab", "run", name, "--machine", machine, "--kernel", kernel]);
        lab.args(["--seed", &seed.to_string()]).current_dir(&tree);
        lab.env_remove("CARGO_TARGET_DIR").stdout(Stdio::null());
        // A limit that is missed has a result, too.
        lab.status().with_context(|| format!("cannot start the laboratory of {hash}"))?;
    }
    let path = saved().with_context(|| format!("commit {hash} cannot measure `{name}`"))?;
    Ok(results::read_samples(&path)?)
}

/// Two saved runs of one experiment.
fn saved(a: &Path, b: &Path) -> Result<Gathered> {
    let read =
        |path: &Path| anyhow::Ok((results::read_report(path)?, results::read_samples(path)?));
    let ((first, a), (second, b)) = (read(a)?, read(b)?);
    let what = |report: &Report| format!("{} in {}", report.experiment, report.unit);
    if what(&first) != what(&second) {
        let (first, second) = (what(&first), what(&second));
        return Err(usage(format!(
            "one run is {first}, the other {second}; nothing compares them"
        )));
    }
    let machine = match first.machine == second.machine {
        true => first.machine,
        false => format!("{} and {}", first.machine, second.machine),
    };
    let runs = vec![Run { seed: first.seed, a, b }];
    Ok(Gathered { experiment: first.experiment, machine, unit: first.unit, runs })
}

/// Samples without the kernel's name, since that is what differs.
fn nameless(mut samples: Samples) -> Samples {
    samples.series.iter_mut().for_each(|series| series.kernel.clear());
    samples
}

/// The samples whose case names a locking, without that word.
pub fn of_locking(samples: &Samples, locking: &str) -> Samples {
    let word = format!("locking={locking}");
    let own = samples.series.iter().filter(|s| s.case.split(' ').any(|part| part == word));
    let renamed = |series: &Series| {
        let rest: Vec<&str> = series.case.split(' ').filter(|part| *part != word).collect();
        Series { case: rest.join(" "), ..series.clone() }
    };
    Samples { series: own.map(renamed).collect() }
}
