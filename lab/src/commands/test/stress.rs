//! Kernels on several CPUs at random: what CPUs do to each other, checked from inside, and
//! arbitrary calls.

use super::configuration::{CHAOS, Configuration};
use super::findings::{Findings, built, without_numbers};
use super::job::{Class, Job};
use super::target::{self, boot, judge, load};
use crate::cli::Group;
use crate::image::{self, Images};
use crate::machine::{Exit, MACHINES, Outcome, Simulation};
use crate::systems;
use anyhow::{Result, bail, ensure};
use manifest::{LOCKINGS, System};

/// The system in which CPUs do to each other all that they can, and on how many in the simulation.
const STRESS: &str = "stress";
const SIMULATED: [u32; 4] = [1, 4, 16, 64];
/// The system with a part on each CPU.
const PAIRS: &str = "pairs";
/// The system of arbitrary calls from many domains, and after how many milliseconds it ends.
const FUZZ: &str = "fuzz";
const CURFEW: &str = "60";
/// Numbers of CPUs in the emulator, the usual one first.
const EMULATED: [u32; 4] = [4, 1, 2, 8];

/// Each locking on the usual machine and in the simulation.
pub fn jobs() -> Vec<Job> {
    LOCKINGS[1..]
        .iter()
        .flat_map(|locking| emulated(locking).into_iter().chain(simulated(locking)))
        .collect()
}

fn emulated(locking: &'static str) -> Vec<Job> {
    let plain =
        |system, cpus| Configuration { locking, cpus, ..Configuration::plain(MACHINES[0], system) };
    let mut jobs = vec![stressed(plain(STRESS, EMULATED[0]))];
    for cpus in EMULATED {
        let class = if cpus == EMULATED[0] { Class::Usual } else { Class::Deep };
        jobs.push(target::run(plain(PAIRS, cpus)).class(class));
        let one = plain(FUZZ, cpus);
        let job = Job::new(Group::Target, one.to_string(), move |findings| fuzzed(findings, &one));
        jobs.push(job.configuration().builds(one.builds()).class(class));
    }
    jobs
}

fn simulated(locking: &'static str) -> Vec<Job> {
    let plain = Configuration { locking, ..Configuration::plain(MACHINES[1], STRESS) };
    let each = SIMULATED.into_iter().flat_map(|cpus| CHAOS.map(|chaos| (cpus, chaos)));
    let mut jobs: Vec<Job> = each
        .map(|(cpus, chaos)| {
            let usual = (cpus == 4 || cpus == 16) && chaos > 0;
            let class = if usual { Class::Usual } else { Class::Deep };
            stressed(Configuration { cpus, chaos, ..plain }).class(class)
        })
        .collect();
    let name = format!("{STRESS}, locks {locking}, on twin: a seed is a run");
    let one = Configuration { cpus: EMULATED[0], chaos: CHAOS[1], ..plain };
    jobs.push(Job::new(Group::Target, name, move |_| repeats(&one)));
    jobs
}

/// A run with every invariant checked after each step, where that can be.
fn stressed(one: Configuration) -> Job {
    let work = move |findings: &mut Findings| {
        let system = load(one.system, one.cpus, one.locking)?;
        let images = built(image::build_system(one.machine, &system, one.extra()))?;
        let check = Simulation { check: true, ..Simulation::default() };
        judge(findings, &one, &boot(&one, &images, &system, check)?);
        Ok(())
    };
    Job::new(Group::Target, one.to_string(), work).configuration().builds(one.builds())
}

/// Runs the stress in the simulation with a seed; its console.
fn seeded(one: &Configuration, seed: u64) -> Result<String> {
    let mut system = load(one.system, one.cpus, one.locking)?;
    systems::set(&mut system, "seed", &seed.to_string());
    let check = Simulation { check: true, ..Simulation::default() };
    let one = Configuration { seed, ..*one };
    let outcome = boot(&one, &Images::default(), &system, check)?;
    match outcome.failure() {
        None => Ok(outcome.console),
        Some(failure) => bail!("seed {seed}: {failure}"),
    }
}

/// Whether two runs with a seed say the same, with all their counts, and another seed does not.
fn repeats(one: &Configuration) -> Result<()> {
    let (first, second, other) = (seeded(one, 1)?, seeded(one, 1)?, seeded(one, 2)?);
    ensure!(first == second, "{first}\nis not\n{second}");
    ensure!(first != other, "another seed says the same:\n{first}");
    Ok(())
}

/// Seeds of the stress under each locking, so many in each job.
pub fn seeds(total: u64, each: u64) -> Vec<Job> {
    let (cpus, chaos) = (4, 3);
    let plain = Configuration { cpus, chaos, ..Configuration::plain(MACHINES[1], STRESS) };
    let lots = (0..total / each).map(|lot| lot * each + 1..(lot + 1) * each + 1);
    let job = |(locking, seeds): (&'static str, std::ops::Range<u64>)| {
        let one = Configuration { locking, ..plain };
        let name = format!("{one}, seeds {} to {}", seeds.start, seeds.end - 1);
        let work = move |_: &mut Findings| {
            let failed = seeds.filter_map(|seed| seeded(&one, seed).err());
            let failed: Vec<String> = failed.map(|error| format!("{error:#}")).collect();
            ensure!(failed.is_empty(), "{} seeds fail\n{}", failed.len(), failed.join("\n"));
            Ok(())
        };
        Job::new(Group::Search, name, work).class(Class::Deep).seconds(each as f64 * 0.3)
    };
    LOCKINGS[1..]
        .iter()
        .flat_map(|locking| lots.clone().map(move |lot| (*locking, lot)))
        .map(job)
        .collect()
}

/// Domains spread over the CPUs; the number of CPUs is the seed.
fn spread(one: &Configuration) -> Result<System> {
    let mut system = load(one.system, one.cpus, one.locking)?;
    for (domain, nth) in system.domains.iter_mut().zip(0..) {
        domain.cpu = nth % one.cpus;
    }
    systems::set(&mut system, "after", CURFEW);
    systems::set(&mut system, "seed", &one.cpus.to_string());
    Ok(system)
}

fn fuzzed(findings: &mut Findings, one: &Configuration) -> Result<()> {
    let system = spread(one)?;
    let images = built(image::build_system(one.machine, &system, one.extra()))?;
    let outcome = boot(one, &images, &system, Simulation::default())?;
    for (rule, result) in &outcome.findings {
        let rule = without_numbers(rule);
        findings.record(format!("page tables: {rule}"), result.clone());
    }
    findings.record("arbitrary calls come to an end", came_to_an_end(&outcome));
    Ok(())
}

/// With any status: a program may come upon the right to end the run.
fn came_to_an_end(outcome: &Outcome) -> Result<(), String> {
    match outcome.exit {
        Exit::Done(_) => Ok(()),
        _ => Err(outcome.failure().unwrap_or_default()),
    }
}
