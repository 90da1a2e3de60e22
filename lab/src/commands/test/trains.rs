//! Trains that end with threads of several CPUs inside.

use super::configuration::Configuration;
use super::job::{Class, Job};
use super::suites::{CHAOS, passes};
use crate::machine::MACHINES;
use manifest::{KERNELS, LOCKINGS};

/// The system.
const ENDS: &str = "train-ends";

/// Under each locking in the emulator and by chance in the simulation, and under each kernel.
pub fn jobs() -> Vec<Job> {
    let on = |machine, locking| Configuration {
        locking,
        cpus: 4,
        ..Configuration::plain(machine, ENDS)
    };
    let of = |locking: &&'static str| {
        let simulated = Configuration { chaos: CHAOS[1], ..on(MACHINES[1], locking) };
        [on(MACHINES[0], locking), simulated].map(|one| (one, Class::Usual))
    };
    let kernels = KERNELS[1..]
        .iter()
        .map(|kernel| (Configuration { kernel, ..on(MACHINES[0], "big") }, Class::Deep));
    let all = LOCKINGS[1..].iter().flat_map(of).chain(kernels);
    all.map(|(one, class)| one.job(one.to_string(), passes).class(class)).collect()
}
