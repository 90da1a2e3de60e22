//! Kernels on several CPUs: the suites of one CPU, and what CPUs do to each other.

use super::suite::Suite;
use super::target::{SYSTEMS, judge_run, run, run_simulated};
use crate::image::{self, Extra, Images};
use crate::machine::{MACHINES, Machine, Simulation, Twin};
use crate::progress::Step;
use crate::systems;

/// How many CPUs.
const CPUS: [u32; 3] = [2, 4, 8];
/// Kernels: a path with and one without hints, a queue that is kept lazily and one that is not.
const KERNELS: [&str; 2] = ["fastpath", "strict-eager"];

/// How the twin's CPUs take turns: in order of time, or by chance in this many accesses.
const CHAOS: [u64; 2] = [0, 10];

/// Checks the twin, whose CPUs take turns in each way.
pub fn check_twin(suite: &mut Suite, quick: bool) {
    let machine: &dyn Machine = &Twin;
    let cpus = if quick { &CPUS[..1] } else { &CPUS[..] };
    for (kernel, chaos) in KERNELS.iter().flat_map(|kernel| CHAOS.map(|chaos| (*kernel, chaos))) {
        for (system, cpus) in SYSTEMS.iter().flat_map(|s| cpus.iter().map(|cpus| (*s, *cpus))) {
            if suite.is_over() {
                return;
            }
            let way = if chaos == 0 { "in order".to_string() } else { format!("chaos {chaos}") };
            let name = format!("{system} under {kernel} on twin with {cpus} CPUs, {way}");
            let _step = Step::start(&name);
            let simulation = Simulation { chaos, ..Simulation::default() };
            let outcome = systems::load(system).and_then(|mut system| {
                system.cpus = cpus;
                let images = Images::default();
                run_simulated(machine, &images, machine.boards()[0], kernel, &system, simulation)
            });
            judge_run(suite, &name, kernel, outcome);
        }
    }
}

/// Checks the usual machine.
pub fn check(suite: &mut Suite, quick: bool) {
    let machine = MACHINES[0];
    let images = match image::build_with(machine, Extra::Several) {
        Ok(images) => images,
        Err(error) => return suite.broken("a kernel for several CPUs", format!("{error:#}")),
    };
    let boards = if quick { &machine.boards()[..1] } else { machine.boards() };
    for board in boards {
        for kernel in KERNELS {
            for (system, cpus) in SYSTEMS.iter().flat_map(|s| CPUS.map(|cpus| (*s, cpus))) {
                if suite.is_over() {
                    return;
                }
                let name = format!(
                    "{system} under {kernel} on {} with {cpus} CPUs, {board}",
                    machine.name()
                );
                let _step = Step::start(&name);
                let outcome = systems::load(system).and_then(|mut system| {
                    system.cpus = cpus;
                    run(machine, &images, board, kernel, &system)
                });
                judge_run(suite, &name, kernel, outcome);
            }
        }
    }
}
