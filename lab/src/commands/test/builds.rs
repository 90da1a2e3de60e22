//! What jobs wait for until it is built.

use crate::image::{self, Build};
use crate::machine::{self, EMULATOR, Machine};
use anyhow::{Context, Result};
use std::fmt;

/// What a job waits for before it runs; what takes longest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Builds {
    /// The machine that is a simulation.
    Twin,
    /// The machine that is this host.
    Native,
    /// The programs of a machine, by its name, and a kernel.
    Image(&'static str, Build),
    /// What is built for it alone, in words.
    Own(&'static str),
    /// Nothing.
    Nothing,
}

impl fmt::Display for Builds {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(&match self {
            Builds::Twin => "the machine twin".to_string(),
            Builds::Native => "the machine native".to_string(),
            Builds::Image(_, build) => build.to_string(),
            Builds::Own(what) => what.to_string(),
            Builds::Nothing => "-".to_string(),
        })
    }
}

impl Builds {
    /// Whether other jobs may wait for it too.
    pub fn is_shared(self) -> bool {
        !matches!(self, Builds::Own(_) | Builds::Nothing)
    }

    /// What boots on a machine.
    pub fn of(machine: &dyn Machine, build: Build) -> Builds {
        match machine.emulator() {
            None => Builds::Twin,
            Some(_) => Builds::Image(machine.name(), build),
        }
    }

    /// The usual image of the emulator.
    pub fn usual() -> Builds {
        Builds::of(EMULATOR, Build::default())
    }

    /// Builds it, if it is shared.
    pub fn make(self) -> Result<()> {
        match self {
            Builds::Twin => image::twin().map(drop),
            Builds::Native => image::build_native().map(drop),
            Builds::Image(name, build) => {
                let machine = machine::find(name).context("there is no such machine")?;
                image::build(machine, build).map(drop)
            }
            Builds::Own(_) | Builds::Nothing => Ok(()),
        }
    }
}
