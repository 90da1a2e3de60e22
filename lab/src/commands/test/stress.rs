//! Kernels on several CPUs at random: what CPUs do to each other, checked from inside, and
//! arbitrary calls.

use super::configuration::Configuration;
use super::findings::{Findings, nothing_of};
use super::job::{Class, Job};
use super::suites::{CHAOS, DECISIONS, judge, page_tables, passes};
use crate::cli::Group;
use crate::machine::{self, Exit, MACHINES, Outcome, Simulation};
use crate::systems;
use anyhow::{Result, bail, ensure};
use manifest::{LOCKINGS, System, TREE};
use std::ops::Range;

/// The system in which CPUs do to each other all that they can, and on how many in the simulation.
const STRESS: &str = "stress";
const SIMULATED: [u32; 4] = [1, 4, 16, 64];
/// The system with a part on each CPU.
const PAIRS: &str = "pairs";
/// The system of arbitrary calls from many domains, and after how many milliseconds it ends.
const FUZZ: &str = "fuzz";
const CURFEW: (&str, &str) = ("after", "60");
/// Numbers of CPUs in the emulator, the usual one first.
const EMULATED: [u32; 4] = [4, 1, 2, 8];

/// Each locking on the usual machine and in the simulation.
pub fn jobs() -> Vec<Job> {
    let of = |locking: &&'static str| emulated(locking).into_iter().chain(simulated(locking));
    LOCKINGS[1..].iter().flat_map(of).chain(by_chance()).collect()
}

/// Where a scheduling tree decides by chance: what holds, holds under any policy.
fn by_chance() -> Vec<Job> {
    let on = |machine| Configuration {
        kernel: TREE,
        decisions: DECISIONS,
        locking: "fine",
        cpus: 4,
        ..Configuration::plain(machine, STRESS)
    };
    let mut jobs = Vec::new();
    for locking in ["big", "fine"] {
        let one = Configuration { locking, chaos: CHAOS[1], ..on(MACHINES[1]) };
        let class = if locking == "fine" { Class::Usual } else { Class::Deep };
        jobs.push(one.job(one.to_string(), stressed).class(class));
        let one = Configuration { locking, ..on(MACHINES[0]) };
        let fuzz = Configuration { system: FUZZ, ..one };
        jobs.push(one.job(one.to_string(), stressed).class(Class::Deep));
        jobs.push(fuzz.job(fuzz.to_string(), fuzzed).class(Class::Deep));
    }
    let one = on(MACHINES[1]);
    let name = format!("{STRESS}, decisions by chance, on twin: a seed is a run");
    jobs.push(one.job(name, repeats).class(Class::Deep));
    jobs
}

fn emulated(locking: &'static str) -> Vec<Job> {
    let plain =
        |system, cpus| Configuration { locking, cpus, ..Configuration::plain(MACHINES[0], system) };
    // Its processors have no transactions: to elide is to lock.
    let class = |cpus| match cpus == EMULATED[0] && locking != "elided" {
        true => Class::Usual,
        false => Class::Deep,
    };
    let first = plain(STRESS, EMULATED[0]);
    let mut jobs = vec![first.job(first.to_string(), stressed).class(class(first.cpus))];
    for cpus in EMULATED {
        let class = class(cpus);
        let (pairs, fuzz) = (plain(PAIRS, cpus), plain(FUZZ, cpus));
        jobs.push(pairs.job(pairs.to_string(), passes).class(class));
        jobs.push(fuzz.job(fuzz.to_string(), fuzzed).class(class));
    }
    jobs
}

fn simulated(locking: &'static str) -> Vec<Job> {
    let plain = Configuration { locking, ..Configuration::plain(MACHINES[1], STRESS) };
    let each = SIMULATED.into_iter().flat_map(|cpus| CHAOS.map(|chaos| (cpus, chaos)));
    let job = |(cpus, chaos)| {
        let usual = (cpus == 4 || cpus == 16) && chaos > 0;
        let one = Configuration { cpus, chaos, ..plain };
        let class = if usual { Class::Usual } else { Class::Deep };
        one.job(one.to_string(), stressed).class(class)
    };
    let repeated = Configuration { cpus: EMULATED[0], chaos: CHAOS[1], ..plain };
    let name = format!("{STRESS}, locks {locking}, on twin: a seed is a run");
    each.map(job).chain([repeated.job(name, repeats)]).collect()
}

/// Boots a system; where that can be, with every invariant checked after each step.
fn checked(one: &Configuration, system: &System) -> Result<Outcome> {
    one.boot(system, |boot| {
        let simulation = Simulation { check: true, ..boot.simulation.clone() };
        machine::boot(&boot.simulation(simulation))
    })
}

fn stressed(one: &Configuration, findings: &mut Findings) -> Result<()> {
    judge(findings, one, &checked(one, &one.load()?)?);
    Ok(())
}

/// Runs the stress in the simulation with a seed; its console.
fn seeded(one: &Configuration, seed: u64) -> Result<String> {
    let mut system = one.load()?;
    systems::set(&mut system, "seed", &seed.to_string());
    let decisions = if one.decisions > 0 { seed } else { 0 };
    let outcome = checked(&Configuration { seed, decisions, ..*one }, &system)?;
    match outcome.failure() {
        None => Ok(outcome.console),
        Some(failure) => bail!("seed {seed}: {failure}"),
    }
}

/// Whether two runs with a seed say the same, with all their counts, and another seed does not.
fn repeats(one: &Configuration, _: &mut Findings) -> Result<()> {
    let (first, second, other) = (seeded(one, 1)?, seeded(one, 1)?, seeded(one, 2)?);
    ensure!(first == second, "{first}\nis not\n{second}");
    ensure!(first != other, "another seed says the same:\n{first}");
    Ok(())
}

/// Seeds of the stress under each locking, so many in each job.
pub fn seeds(total: u64, each: u64) -> Vec<Job> {
    let plain = Configuration { cpus: 4, chaos: 3, ..Configuration::plain(MACHINES[1], STRESS) };
    let job = |one: Configuration, seeds: Range<u64>| {
        let name = format!("{one}, seeds {} to {}", seeds.start, seeds.end - 1);
        let work = move |_: &mut Findings| {
            let failed = seeds.filter_map(|seed| seeded(&one, seed).err());
            nothing_of(failed.map(|error| format!("{error:#}")))
        };
        Job::new(Group::Search, name, work).class(Class::Deep).seconds(each as f64 * 0.3)
    };
    let lots = (0..total / each).map(|lot| lot * each + 1..(lot + 1) * each + 1);
    let locked = LOCKINGS[1..].iter().map(|locking| Configuration { locking, ..plain });
    let tree = Configuration { kernel: TREE, decisions: DECISIONS, locking: "fine", ..plain };
    let of = |one: Configuration| lots.clone().map(move |lot| job(one, lot));
    locked.chain([tree]).flat_map(of).collect()
}

/// Domains are spread over the CPUs, and the number of CPUs is the seed. The run may end with any
/// status: a program may come upon the right to end it.
fn fuzzed(one: &Configuration, findings: &mut Findings) -> Result<()> {
    let mut system = one.load()?;
    for (domain, nth) in system.domains.iter_mut().zip(0..) {
        domain.cpu = nth % one.cpus;
    }
    systems::set(&mut system, CURFEW.0, CURFEW.1);
    systems::set(&mut system, "seed", &one.cpus.to_string());
    let outcome = one.boot(&system, |boot| machine::boot(&boot))?;
    page_tables(findings, &outcome);
    let ended = match outcome.exit {
        Exit::Done(_) => Ok(()),
        _ => Err(outcome.failure().unwrap_or_default()),
    };
    findings.record("arbitrary calls come to an end", ended);
    Ok(())
}
