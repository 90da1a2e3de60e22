//! Experiments on several CPUs.
//!
//! On an emulator that runs its CPUs one after the other on one clock, a span between two stamps
//! is the number of instructions that all CPUs together execute between them. The programs leave
//! CPUs that take no part idle, so it is the length of the path over the CPUs that do.

pub mod ipc;

use super::Setup;
use crate::image::Extra;
use crate::machine::Outcome;
use anyhow::Result;
use manifest::System;

/// How many CPUs these experiments run on unless told otherwise: these are golden.
pub const USUAL: u32 = 4;

/// Boots a system that was changed on all CPUs of the run.
fn boot(
    setup: &Setup,
    system: &str,
    kernel: &str,
    change: &mut dyn FnMut(&mut System),
) -> Result<Outcome> {
    setup.boot_with(Some(Extra::Several), system, kernel, &mut |system| {
        system.cpus = setup.cpus.unwrap_or(USUAL);
        change(system);
    })
}
