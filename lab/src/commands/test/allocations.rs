//! Objects that are made and destroyed as fast as programs can, at their quotas (S4-08).

use super::configuration::Configuration;
use super::job::Job;
use super::suites::passes;
use crate::machine::MACHINES;
use manifest::TREE;

/// The system.
const STORM: &str = "allocation-storm";

/// On each machine, under the kernel that has reservations, on one CPU: several have no trains.
pub fn jobs() -> Vec<Job> {
    let on = |machine| Configuration { kernel: TREE, ..Configuration::plain(machine, STORM) };
    MACHINES.map(on).map(|one| one.job(one.to_string(), passes)).into()
}
