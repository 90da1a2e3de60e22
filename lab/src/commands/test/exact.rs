//! Exact profiles: what the plugin sees is what the trace of the same run says, to the instruction.

use super::builds::Builds;
use super::findings::Findings;
use super::job::{Class, Job};
use super::suites::PATHS;
use crate::cli::Group;
use crate::commands::trace::names;
use crate::experiment::{self, Asked, Session};
use crate::image::{self, Build, Locking, Watch};
use crate::machine::{Boot, EMULATOR};
use crate::profile::exact::{self, Event, Part, TRIALS, WAITING, What};
use crate::systems;
use abi::trace::Keep;
use anyhow::{Context, Result, ensure};
use manifest::{KERNELS, System, TREE};
use results::WAKE_UP_WORST;

/// What is watched: a system whose threads wait for timers.
const SYSTEM: &str = "cyclictest";
/// Bytes of its trace.
const TRACE: u64 = 32 << 20;

/// The experiments that measure the stretches of a profile, with their metrics.
const MEASURED: [(&str, &str); 2] = [("sections", "longest"), ("latency", WAKE_UP_WORST)];

/// A system in which several CPUs wait for the kernel's lock, and the first one for timers.
const SEVERAL: &str = "cross";
/// What its kernel tells, as in the image that other jobs take too; a trace would do.
const SEVERAL_WATCHED: Watch = Watch::Both;

/// Jobs for kernels of each kind of path and for the others of the usual image, one for the kernel
/// that has another, and one for several CPUs.
pub fn jobs() -> Vec<Job> {
    let job = |name: &str, builds, kernels: Vec<&'static str>| {
        let name = format!("exact profiles agree with traces {name}");
        let agrees =
            |kernel: &str| agree(kernel).with_context(|| format!("{SYSTEM} under {kernel}"));
        let work = move |_: &mut Findings| {
            kernels.into_iter().try_for_each(|kernel| in_a_trial(|| agrees(kernel)))
        };
        Job::new(Group::Target, name, work).builds(builds).seconds(10.0)
    };
    let traced = Build::from(Watch::Trace);
    let usual = Builds::of(EMULATOR, traced);
    let (often, seldom) = KERNELS.into_iter().partition(|kernel| PATHS.contains(kernel));
    let several = Build { watch: SEVERAL_WATCHED, ..Build::from(Locking::Big) };
    vec![
        job("under kernels of each kind", usual, often),
        job("under the other kernels of an image", usual, seldom).class(Class::Deep),
        job("under tree", Builds::of(EMULATOR, traced.with(TREE)), vec![TREE]),
        Job::new(Group::Target, "exact profiles tell CPUs apart", |_| in_a_trial(apart))
            .builds(Builds::of(EMULATOR, several))
            .seconds(4.0),
    ]
}

/// Whether it holds in one of some trials: runs of the emulator seldom differ from each other.
fn in_a_trial(holds: impl Fn() -> Result<()>) -> Result<()> {
    (1..TRIALS).map(|_| holds()).find(Result::is_ok).unwrap_or_else(&holds)
}

/// Compares what is seen of a run with what the experiments measure of it, and one kernel's with
/// what is seen another time.
fn agree(kernel: &str) -> Result<()> {
    let system = System { kernel: kernel.to_string(), ..systems::load(SYSTEM)? };
    let parts = watched(system, Watch::Trace, kernel == TREE)?;
    for (part, (experiment, metric)) in parts.iter().zip(MEASURED) {
        adds_up(part)?;
        let measured = by_experiment(kernel, experiment, metric)?;
        let found = part.stretch.measured;
        ensure!(found == measured, "{experiment} measures {measured}, the profile has {found}");
    }
    ensure!(parts.len() == MEASURED.len(), "there is no wake-up");
    Ok(())
}

/// What is seen of a system, perhaps twice.
fn watched(mut system: System, watch: Watch, again: bool) -> Result<Vec<Part>> {
    let names = names(&system);
    let memory = system.add_trace(TRACE, Keep::First);
    let images = image::build_system(EMULATOR, &system, Build { watch, ..Build::of(&system) })?;
    let boot = || Boot::new(EMULATOR, &images, &system).seed(1);
    let see = || exact::parts(&boot, (&memory, &names), Event::Instructions);
    let (parts, _) = see()?;
    ensure!(!again || see()?.0 == parts, "two runs differ");
    Ok(parts)
}

/// Whether functions have all of a stretch, what wrote the trace and other CPUs included.
fn adds_up(part: &Part) -> Result<()> {
    let own: u64 = part.tally.rows().iter().map(|row| row.own).sum();
    let others = part.others.map_or(0, |others| others.steps);
    let (all, steps) = (own + part.tally.trace + part.before + others, part.stretch.steps);
    ensure!(all == steps, "functions have {all} of {steps} instructions");
    Ok(())
}

/// Whether each of several CPUs has stretches of its own, in which it alone is counted, and some
/// have waited.
fn apart() -> Result<()> {
    use What::{LongestSection, WorstWakeUp};
    let system = systems::load(SEVERAL)?;
    let sections = (0..system.cpus as u8).map(|cpu| (cpu, LongestSection));
    let mut stretches: Vec<_> = sections.chain([(0, WorstWakeUp)]).collect();
    stretches.sort_unstable();
    let parts = watched(system, SEVERAL_WATCHED, true)?;
    let found: Vec<_> = parts.iter().map(|part| part.stretch.group()).collect();
    ensure!(found == stretches, "there are {found:?}");
    parts.iter().try_for_each(adds_up)?;
    let waits = |part: &&Part| part.tally.rows().iter().any(|row| row.function == WAITING);
    let while_waiting = |part: &Part| part.others.map_or(0, |others| others.while_waiting);
    let waited: Vec<u64> = parts.iter().filter(waits).map(while_waiting).collect();
    ensure!(!waited.is_empty(), "no CPU has waited for the lock");
    ensure!(!waited.contains(&0), "a CPU has waited, and no other had the lock");
    Ok(())
}

/// The worst that an experiment on the system has measured.
fn by_experiment(kernel: &str, experiment: &str, metric: &str) -> Result<u64> {
    let asked = Asked { system: Some(SYSTEM.to_string()), ..Asked::seed(1) };
    let experiment = experiment::find(experiment).context("there is no such experiment")?;
    let listed = experiment.on_user_system(Some(EMULATOR.name()))?;
    let measured = Session::new(asked).measure(listed[0], kernel)?;
    let series = measured.samples.series.iter().filter(|series| series.metric == metric);
    let values = series.flat_map(|series| series.values.iter().copied());
    values.max().with_context(|| format!("no {metric}"))
}
