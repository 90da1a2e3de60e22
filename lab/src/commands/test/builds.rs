//! What jobs wait for until it is built.

use crate::image::{self, Extra};
use crate::machine::{self, Machine};
use anyhow::{Context, Result};
use manifest::TREE;
use std::fmt;

/// What a job waits for before it runs; what takes longest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Builds {
    /// The machine that is a simulation.
    Twin,
    /// The machine that is this host.
    Native,
    /// The programs of a machine, by its name, and a kernel that may have something extra.
    Image(&'static str, Option<Extra>),
    /// The same with the kernel that has a scheduling tree.
    Tree(&'static str, Option<Extra>),
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
            Builds::Image(_, None) => "image".to_string(),
            Builds::Image(_, Some(extra)) => format!("image {extra:?}").to_lowercase(),
            Builds::Tree(_, None) => "image tree".to_string(),
            Builds::Tree(_, Some(extra)) => format!("image tree {extra:?}").to_lowercase(),
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

    /// What a kernel, which may have something extra, and programs boot from on a machine.
    pub fn of(machine: &'static dyn Machine, kernel: &str, extra: Option<Extra>) -> Builds {
        match machine.emulator() {
            None => Builds::Twin,
            Some(_) if kernel == TREE => Builds::Tree(machine.name(), extra),
            Some(_) => Builds::Image(machine.name(), extra),
        }
    }

    /// Builds it, if it is shared.
    pub fn make(self) -> Result<()> {
        match self {
            Builds::Twin => image::twin().map(drop),
            Builds::Native => image::build_native().map(drop),
            Builds::Image(name, extra) => {
                let machine = machine::find(name).context("there is no such machine")?;
                match extra {
                    Some(extra) => image::build_with(machine, extra).map(drop),
                    None => image::build(machine).map(drop),
                }
            }
            Builds::Tree(name, extra) => {
                let machine = machine::find(name).context("there is no such machine")?;
                image::build_with_tree(machine, extra).map(drop)
            }
            Builds::Own(_) | Builds::Nothing => Ok(()),
        }
    }
}
