//! Kernels on several CPUs, whatever guards them: the suites of one CPU, and what CPUs do to
//! each other.

use super::suite::Suite;
use super::target::{SYSTEMS, judge_run, run};
use crate::image;
use crate::machine::{MACHINES, Machine};
use crate::progress::Step;
use crate::systems;
use manifest::LOCKINGS;

/// How many CPUs.
const CPUS: [u32; 4] = [1, 2, 4, 8];
/// Kernels: a path with and one without hints, a queue that is kept lazily and one that is not.
const KERNELS: [&str; 2] = ["fastpath", "strict-eager"];

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
}
