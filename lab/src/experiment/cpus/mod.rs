//! Experiments on several CPUs.
//!
//! On an emulator that runs its CPUs one after the other on one clock, a span between two stamps
//! is the number of instructions that all CPUs together execute between them. The programs leave
//! CPUs that take no part idle, so it is the length of the path over the CPUs that do.

pub mod ipc;
pub mod ipi;
pub mod shootdown;

use super::Setup;
use super::measured::recording;
use crate::machine::Outcome;
use crate::systems::set;
use anyhow::Result;
use manifest::System;
use results::Recording;

/// How many CPUs these experiments can run on, the golden number first.
const CHOICE: [usize; 3] = [4, 2, 8];

/// What the unit of these experiments is.
const NOTE: &str = "Figures are instructions that all CPUs together execute between two points; \
                    the emulator runs one CPU after the other on one clock, and CPUs that take no \
                    part idle. They are no time: parts that would overlap are added.";

impl Setup {
    /// How many CPUs experiments on several have.
    fn cpus(&self) -> u32 {
        let asked = self.asked.cpus.as_ref().and_then(|cpus| cpus.first());
        *asked.unwrap_or(&CHOICE[0]) as u32
    }
}

/// Boots a system that was changed on all CPUs of the run.
fn boot(
    setup: &Setup,
    system: &str,
    kernel: &str,
    change: &mut dyn FnMut(&mut System),
) -> Result<Outcome> {
    setup.boot_changed(system, kernel, &mut |system| {
        system.cpus = setup.cpus();
        change(system);
    })
}

/// What the program `cross` recorded of one of its parts.
fn cross(setup: &Setup, kernel: &str, part: &str) -> Result<Recording> {
    let outcome = boot(setup, "cross", kernel, &mut |system| set(system, "part", part))?;
    recording(&outcome, "recording", kernel)
}
