//! Kernels on several CPUs, whatever guards them: the suites of one CPU, and what CPUs do to
//! each other.

use super::stress;
use super::suite::{Branch, Suite};
use super::target::{SYSTEMS, judge_run, run, run_simulated};
use crate::image::{self, Images};
use crate::machine::{MACHINES, Machine, Simulation, Twin};
use crate::progress::Step;
use crate::systems;
use anyhow::Result;
use manifest::{LOCKINGS, NO_LOCKING, System};

/// How many CPUs.
pub const CPUS: [u32; 4] = [1, 2, 4, 8];
/// Kernels: a path with and one without hints, a queue that is kept lazily and one that is not.
const KERNELS: [&str; 2] = ["fastpath", "strict-eager"];

/// A system with a part on each CPU, and where it runs: on these numbers of CPUs under the first
/// kernel.
const PAIRS: (&str, [u32; 2]) = ("pairs", [1, 4]);

/// The systems that a kernel runs on these numbers of CPUs, and on how many.
fn systems_on<'a>(
    kernel: &str,
    cpus: &'a [u32],
) -> impl Iterator<Item = (&'static str, u32)> + use<'a> {
    let (pairs, few) = PAIRS;
    let paired = kernel == KERNELS[0];
    let paired = cpus.iter().filter(move |cpus| paired && few.contains(cpus));
    let all = SYSTEMS.iter().flat_map(|system| cpus.iter().map(|cpus| (*system, *cpus)));
    all.chain(paired.map(move |cpus| (pairs, *cpus)))
}

/// A system for so many CPUs, under a locking.
pub fn load(system: &str, cpus: u32, locking: &str) -> Result<System> {
    let mut system = if system == PAIRS.0 { systems::pairs(cpus)? } else { systems::load(system)? };
    system.cpus = cpus;
    system.locking = Some(locking.to_string());
    Ok(system)
}

/// How the twin's CPUs take turns: in order of time, or by chance in this many accesses.
pub const CHAOS: [u64; 2] = [0, 10];

/// Each locking on the usual machine and on the twin.
pub fn branches(quick: bool) -> impl Iterator<Item = Branch> {
    let lockings = LOCKINGS.into_iter().filter(|locking| *locking != NO_LOCKING);
    lockings.flat_map(move |locking| -> [Branch; 2] {
        [
            Box::new(move |suite| check(suite, locking, quick)),
            Box::new(move |suite| check_twin(suite, locking, quick)),
        ]
    })
}

/// Checks the twin under a locking, whose CPUs take turns in each way.
fn check_twin(suite: &mut Suite, locking: &str, quick: bool) {
    stress::check_twin(suite, locking);
    let cpus = if quick { &CPUS[1..2] } else { &CPUS[..] };
    for (kernel, chaos) in KERNELS.iter().flat_map(|k| CHAOS.map(|chaos| (*k, chaos))) {
        for (system, cpus) in systems_on(kernel, cpus) {
            if suite.is_over() {
                return;
            }
            let simulation = Simulation { chaos, ..Simulation::default() };
            simulate(suite, locking, (kernel, simulation), (system, cpus));
        }
    }
}

/// Runs a system in the twin, and judges that.
pub fn simulate(
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
    let outcome = load(system, cpus, locking).and_then(|system| {
        let images = Images::default();
        run_simulated(machine, &images, machine.boards()[0], kernel, &system, simulation)
    });
    judge_run(suite, &name, kernel, outcome);
}

/// Checks the usual machine: the usual locking on all boards, the others on the first.
fn check(suite: &mut Suite, locking: &str, quick: bool) {
    let machine = MACHINES[0];
    let usual = locking == LOCKINGS[1] && !quick;
    let boards = if usual { machine.boards() } else { &machine.boards()[..1] };
    let images = image::Extra::of_locking(locking).map(|extra| image::build_with(machine, extra));
    let images = match images.expect("every locking but none has an image") {
        Ok(images) => images,
        Err(error) => {
            return suite.broken(format!("a kernel with {locking}"), format!("{error:#}"));
        }
    };
    for (board, kernel) in boards.iter().flat_map(|board| KERNELS.map(|kernel| (*board, kernel))) {
        for (system, cpus) in systems_on(kernel, &CPUS) {
            if suite.is_over() {
                return;
            }
            let on = format!("{} with {cpus} CPUs, {board}", machine.name());
            let name = format!("{system} under {kernel}, locks {locking}, on {on}");
            let _step = Step::start(&name);
            let outcome = load(system, cpus, locking)
                .and_then(|system| run(machine, &images, board, kernel, &system));
            judge_run(suite, &name, kernel, outcome);
        }
    }
    stress::check(suite, machine, &images, locking);
}
