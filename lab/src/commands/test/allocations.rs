//! Objects that are made and destroyed as fast as programs can, at their quotas (S4-08).

use super::configuration::Configuration;
use super::job::Job;
use super::suites::passes;
use crate::machine::EMULATOR;
use manifest::TREE;

/// The system.
const STORM: &str = "allocation-storm";

/// Under the kernel that has reservations, on one CPU: kernels for several have no trains.
pub fn jobs() -> Vec<Job> {
    let one = Configuration { kernel: TREE, ..Configuration::plain(EMULATOR, STORM) };
    vec![one.job(one.to_string(), passes)]
}
