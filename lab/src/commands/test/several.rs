//! Kernels on several CPUs, whatever guards them: the suites of one CPU, and what CPUs do to
//! each other.

use super::suite::Suite;
use super::target::{SYSTEMS, judge_run, run, run_simulated};
use crate::image::{self, Images};
use crate::machine::{MACHINES, Machine, Outcome, Simulation, Twin};
use crate::progress::Step;
use crate::systems;
use anyhow::Result;
use manifest::{LOCKINGS, System};

/// How many CPUs.
const CPUS: [u32; 4] = [1, 2, 4, 8];
/// Kernels: a path with and one without hints, a queue that is kept lazily and one that is not.
const KERNELS: [&str; 2] = ["fastpath", "strict-eager"];

/// How the twin's CPUs take turns: in order of time, or by chance in this many accesses.
const CHAOS: [u64; 2] = [0, 10];

/// Checks the twin under each locking, whose CPUs take turns in each way.
pub fn check_twin(suite: &mut Suite, quick: bool) {
    let cpus = if quick { &CPUS[1..2] } else { &CPUS[..] };
    for locking in &LOCKINGS[1..] {
        for (kernel, chaos) in KERNELS.iter().flat_map(|k| CHAOS.map(|chaos| (*k, chaos))) {
            for (system, cpus) in SYSTEMS.iter().flat_map(|s| cpus.iter().map(|cpus| (*s, *cpus))) {
                if suite.is_over() {
                    return;
                }
                let simulation = Simulation { chaos, ..Simulation::default() };
                simulate(suite, locking, (kernel, simulation), (system, cpus));
            }
        }
    }
}

fn simulate(
    suite: &mut Suite,
    locking: &str,
    (kernel, simulation): (&str, Simulation),
    (system, cpus): (&str, u32),
) {
    let chaos = simulation.chaos;
    let way = if chaos == 0 { "in order".to_string() } else { format!("chaos {chaos}") };
    let name = format!("{system} under {kernel}, locks {locking}, on twin with {cpus} CPUs, {way}");
    let _step = Step::start(&name);
    let machine: &dyn Machine = &Twin;
    let outcome = systems::load(system).and_then(|mut system| {
        system.cpus = cpus;
        system.locking = Some(locking.to_string());
        let images = Images::default();
        run_simulated(machine, &images, machine.boards()[0], kernel, &system, simulation)
    });
    judge_run(suite, &name, kernel, outcome);
}

/// The system in which CPUs do to each other all that they can, and on how many.
const STRESS: &str = "stress";
const STRESSED: u32 = 4;
const TWINS: [u32; 3] = [1, 4, 16];

/// Stresses the twin under each locking, whose invariants are checked after each step; a seed says
/// everything.
pub fn stress_twin(suite: &mut Suite) {
    for locking in &LOCKINGS[1..] {
        for (cpus, chaos) in TWINS.iter().flat_map(|cpus| CHAOS.map(|chaos| (*cpus, chaos))) {
            if suite.is_over() {
                return;
            }
            let simulation = Simulation { chaos, check: true, ..Simulation::default() };
            simulate(suite, locking, (KERNELS[0], simulation), (STRESS, cpus));
        }
        let name = format!("{STRESS}, locks {locking}, on twin: a seed is a run");
        suite.record(name, repeats(locking));
    }
}

/// Whether two runs with a seed say the same, with all their counts.
fn repeats(locking: &str) -> Result<(), String> {
    let run = || {
        let simulation = Simulation { chaos: CHAOS[1], ..Simulation::default() };
        let outcome = stressed(locking, |system| {
            let (machine, images) = (&Twin as &dyn Machine, Images::default());
            run_simulated(machine, &images, machine.boards()[0], KERNELS[0], system, simulation)
        });
        outcome.map(|outcome| outcome.console).map_err(|error| format!("{error:#}"))
    };
    let (first, second) = (run()?, run()?);
    if first == second { Ok(()) } else { Err(format!("{first}\nis not\n{second}")) }
}

/// Runs the system on several CPUs.
fn stressed(locking: &str, run: impl FnOnce(&System) -> Result<Outcome>) -> Result<Outcome> {
    let mut system = systems::load(STRESS)?;
    system.cpus = STRESSED;
    system.locking = Some(locking.to_string());
    run(&system)
}

/// Checks the usual machine: the usual locking on all boards, the others on the first.
pub fn check(suite: &mut Suite, quick: bool) {
    let machine = MACHINES[0];
    for (n, locking) in LOCKINGS[1..].iter().enumerate() {
        let boards = if quick || n > 0 { &machine.boards()[..1] } else { machine.boards() };
        check_locking(suite, machine, boards, locking);
    }
}

fn check_locking(suite: &mut Suite, machine: &'static dyn Machine, boards: &[&str], locking: &str) {
    let images = image::Extra::of_locking(locking).map(|extra| image::build_with(machine, extra));
    let images = match images.expect("every locking but none has an image") {
        Ok(images) => images,
        Err(error) => {
            return suite.broken(format!("a kernel with {locking}"), format!("{error:#}"));
        }
    };
    for (board, kernel) in boards.iter().flat_map(|board| KERNELS.map(|kernel| (*board, kernel))) {
        for (system, cpus) in SYSTEMS.iter().flat_map(|system| CPUS.map(|cpus| (*system, cpus))) {
            if suite.is_over() {
                return;
            }
            let on = format!("{} with {cpus} CPUs, {board}", machine.name());
            let name = format!("{system} under {kernel}, locks {locking}, on {on}");
            let _step = Step::start(&name);
            let outcome = systems::load(system).and_then(|mut system| {
                system.cpus = cpus;
                system.locking = Some(locking.to_string());
                run(machine, &images, board, kernel, &system)
            });
            judge_run(suite, &name, kernel, outcome);
        }
    }
    let on = format!("{} with {STRESSED} CPUs", machine.name());
    let name = format!("{STRESS} under {}, locks {locking}, on {on}", KERNELS[0]);
    let _step = Step::start(&name);
    let board = machine.boards()[0];
    let outcome = stressed(locking, |system| run(machine, &images, board, KERNELS[0], system));
    judge_run(suite, &name, KERNELS[0], outcome);
}
