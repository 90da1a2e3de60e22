//! Kernels on several CPUs at random: what CPUs do to each other, checked from inside, and
//! arbitrary calls.

use super::several::{CHAOS, CPUS, load, simulate};
use super::suite::Suite;
use super::target::{judge_run, record_findings, run, run_simulated};
use crate::image::Images;
use crate::machine::{Exit, Machine, Outcome, Simulation, Twin};
use crate::progress::Step;
use crate::systems;
use anyhow::Result;
use manifest::System;

/// The system in which CPUs do to each other all that they can.
const STRESS: &str = "stress";
/// The kernel that is stressed.
const KERNEL: &str = "fastpath";
/// On how many CPUs in the emulator, and in the twin.
const EMULATED: u32 = 4;
const SIMULATED: [u32; 3] = [1, 4, 16];

/// The system of arbitrary calls from many domains.
const FUZZ: &str = "fuzz";
/// After how many milliseconds that ends.
const CURFEW: &str = "60";

/// Stresses an image with a locking.
pub fn check(suite: &mut Suite, machine: &'static dyn Machine, images: &Images, locking: &str) {
    let name = format!("{STRESS}, locks {locking}, on {} with {EMULATED} CPUs", machine.name());
    if !suite.is_over() {
        let _step = Step::start(&name);
        let outcome = load(STRESS, EMULATED, locking)
            .and_then(|system| run(machine, images, machine.boards()[0], KERNEL, &system));
        judge_run(suite, &name, KERNEL, outcome);
    }
    for cpus in CPUS {
        if suite.is_over() {
            return;
        }
        let name = format!("{FUZZ}, locks {locking}, on {} with {cpus} CPUs", machine.name());
        let _step = Step::start(&name);
        let outcome = fuzzed(locking, cpus)
            .and_then(|system| run(machine, images, machine.boards()[0], KERNEL, &system));
        match outcome {
            Ok(outcome) => {
                record_findings(suite, &name, &outcome);
                suite.record(name, came_to_an_end(&outcome));
            }
            Err(error) => suite.record(name, Err(format!("{error:#}"))),
        }
    }
}

/// Domains spread over the CPUs; the number of CPUs is the seed.
fn fuzzed(locking: &str, cpus: u32) -> Result<System> {
    let mut system = load(FUZZ, cpus, locking)?;
    for (domain, nth) in system.domains.iter_mut().zip(0..) {
        domain.cpu = nth % cpus;
    }
    systems::set(&mut system, "after", CURFEW);
    systems::set(&mut system, "seed", &cpus.to_string());
    Ok(system)
}

/// With any status: a program may come upon the right to end the run.
fn came_to_an_end(outcome: &Outcome) -> Result<(), String> {
    match outcome.exit {
        Exit::Done(_) => Ok(()),
        _ => Err(outcome.failure().unwrap_or_default()),
    }
}

/// Stresses the twin under a locking, whose invariants are checked after each step, and runs a seed
/// twice.
pub fn check_twin(suite: &mut Suite, locking: &str) {
    for (cpus, chaos) in SIMULATED.iter().flat_map(|cpus| CHAOS.map(|chaos| (*cpus, chaos))) {
        if suite.is_over() {
            return;
        }
        let simulation = Simulation { chaos, check: true, ..Simulation::default() };
        simulate(suite, locking, (KERNEL, simulation), (STRESS, cpus));
    }
    let name = format!("{STRESS}, locks {locking}, on twin: a seed is a run");
    suite.record(name, repeats(locking));
}

/// Whether two runs with a seed say the same, with all their counts.
fn repeats(locking: &str) -> Result<(), String> {
    let run = || {
        let simulation = Simulation { chaos: CHAOS[1], ..Simulation::default() };
        let (machine, images) = (&Twin as &dyn Machine, Images::default());
        let outcome = load(STRESS, EMULATED, locking).and_then(|system| {
            run_simulated(machine, &images, machine.boards()[0], KERNEL, &system, simulation)
        });
        outcome.map(|outcome| outcome.console).map_err(|error| format!("{error:#}"))
    };
    let (first, second) = (run()?, run()?);
    if first == second { Ok(()) } else { Err(format!("{first}\nis not\n{second}")) }
}
