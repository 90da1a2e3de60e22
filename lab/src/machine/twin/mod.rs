//! The twin: a simulation, which is a program of the host.

mod client;
mod packed;
#[cfg(test)]
mod tests;

pub use client::{about, end_idle, run};
use client::{about_of, own, run_on};
pub use packed::Packed;

use super::console::END_OF_INPUT;
use super::{Boot, Emulator, Input, Machine, Outcome, Platform};
use crate::failure::usage;
use anyhow::Result;
use manifest::NO_LOCKING;
use results::Origin;
use std::io::{IsTerminal, Read};
use std::ops::Range;
use std::path::Path;
use twin_protocol::{Devices, Options, Sections, Service, Topology};

/// Steps of a run for each second of its timeout: what a spin may take.
const STEPS: u64 = 5_000_000;

/// The paper's larger machine: two sockets of 14 CPUs.
pub const LARGE: Topology = Topology::X86;
/// Its smaller one, of 4 CPUs.
pub const SMALL: Topology = Topology::ARM;

/// The machine.
pub struct Twin;

impl Platform for Twin {
    fn name(&self) -> &'static str {
        "twin"
    }

    fn unit(&self) -> &'static str {
        "modelled instructions"
    }

    fn origin(&self) -> Origin {
        Origin::SIMULATED
    }
}

impl Machine for Twin {
    fn boards(&self) -> &'static [&'static str] {
        &["host"]
    }

    fn most_cpus(&self) -> u32 {
        64
    }

    fn emulator(&self) -> Option<&dyn Emulator> {
        None
    }
}

/// What a simulation can do and no emulator.
#[derive(Clone, Debug, Default)]
pub struct Simulation {
    /// Delays and interrupts are injected once in so many places, and other CPUs go on once in so
    /// many accesses; 0: never.
    pub chaos: u64,
    /// The places between which that is so; none: everywhere.
    pub chaotic: Option<Range<u64>>,
    /// What lines of memory cost that come from other CPUs.
    pub topology: Option<Topology>,
    /// Whether processors order memory weakly, so that barriers cost something.
    pub weakly_ordered: bool,
    /// Whether the kernel's invariants are checked after each step.
    pub check: bool,
    /// How long sections take, if not as long as what happens in them.
    pub service: Option<Service>,
    /// The instants between which lines are noted that several CPUs share.
    pub observed: Option<Range<u64>>,
    /// Nanoseconds between two records of what the wires of a plant have; 0: there are none.
    pub every: u64,
}

/// What a simulation has seen besides.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Sections of all CPUs.
    pub sections: Sections,
    /// Memory barriers, where they are priced.
    pub barriers: u64,
    /// Lines of kernel memory that one CPU has written and another one touched, while that was
    /// observed: offsets in RAM.
    pub shared: Vec<usize>,
}

/// Runs a system as [`boot`](fn@super::boot) does.
pub fn boot(boot: &Boot, spoil: &dyn Fn(&mut [u8])) -> Result<Outcome> {
    Ok(simulate(boot, spoil)?.0)
}

/// [`boot`], and what there is to know of a simulation alone.
pub fn simulate(boot: &Boot, spoil: &dyn Fn(&mut [u8])) -> Result<(Outcome, Seen)> {
    let locking = boot.system.locking();
    let program = program(boot)?;
    let locked = &about_of(program)?.locked_kernels;
    if locking != NO_LOCKING && !locked.iter().any(|known| known == boot.kernel) {
        let known = locked.join(", ");
        let message = format!("the twin runs kernel {} on one CPU without locks only", boot.kernel);
        return Err(usage(format!("{message}; under locks take one of {known}")));
    }
    let script = match &boot.console.input {
        Input::Script(script) => Some(script),
        Input::Nothing | Input::User => None,
    };
    let options = Options {
        kernel: boot.kernel.to_string(),
        locking: Some(locking.to_string()),
        seed: boot.icount.unwrap_or(1),
        machine_code: !boot.images.programs.is_empty(),
        memory: boot.system.memory,
        show: boot.console.show,
        input: typed(&boot.console.input),
        listens: script.is_some_and(|script| !script.script().is_done()),
        limit: boot.timeout.map_or(u64::MAX, |time| time.as_secs().saturating_mul(STEPS)),
        log: boot.log,
        chaos: boot.simulation.chaos,
        chaotic: boot.simulation.chaotic.clone().unwrap_or(0..u64::MAX),
        decisions: boot.decisions,
        topology: boot.simulation.topology,
        weakly_ordered: boot.simulation.weakly_ordered,
        check: boot.simulation.check,
        service: boot.simulation.service,
        observed: boot.simulation.observed.clone(),
        ..Options::default()
    };
    let archive = Packed::new(boot, spoil)?;
    let devices = boot.system.devices.as_ref().map(|devices| Devices {
        setup: devices.setup.clone(),
        words: archive.words_of(&devices.memories),
        every: boot.simulation.every,
    });
    let mut ran = run_on(program, archive.run(Options { devices, ..options }), script)?;
    let shared = std::mem::take(&mut ran.shared);
    let seen = Seen { sections: ran.sections, barriers: ran.barriers, shared };
    Ok((archive.outcome(ran, boot.kernel), seen))
}

/// The twin's program that runs a system: its own, if programs come from elsewhere.
fn program<'a>(boot: &'a Boot) -> Result<&'a Path> {
    match &boot.images.twin {
        Some(program) => Ok(program),
        None => own(),
    }
}

/// What is typed before the run: of a user all of it, since time here is not a user's.
fn typed(input: &Input) -> Vec<u8> {
    let mut text = Vec::new();
    match input {
        Input::Nothing => return text,
        Input::Script(script) => return script.script().begin(),
        Input::User => {
            let mut stdin = std::io::stdin();
            if stdin.is_terminal() {
                eprintln!("the twin takes its input beforehand: type it, then press Ctrl-D");
            }
            // What can be read of it is enough.
            let _ = stdin.read_to_end(&mut text);
        }
    }
    text.push(END_OF_INPUT);
    text
}
