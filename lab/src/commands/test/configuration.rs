//! A system and how it runs: what every job that boots something is made of.

use super::builds::Builds;
use super::findings::{Findings, built};
use super::job::Job;
use crate::cli::Group;
use crate::commands::counted;
use crate::image::{self, Build, Kernels, Locking, Watch};
use crate::machine::{self, Boot, Machine, Outcome, Sampling, Simulation};
use crate::systems;
use anyhow::{Result, ensure};
use manifest::{KERNELS, NO_LOCKING, System};
use std::fmt;
use std::time::Duration;

/// Longer than any system takes on a slow host.
const TIMEOUT: Duration = Duration::from_secs(120);

/// As often as the port admits.
const OFTEN: Sampling = Sampling { period: 10_000, seed: 3 };

/// Arguments of programs, by name.
pub type Args = &'static [(&'static str, &'static str)];

/// A system and how it runs.
#[derive(Clone, Copy)]
pub struct Configuration {
    /// The system's name.
    pub system: &'static str,
    /// Arguments of its programs that are others than the manifest says.
    pub args: Args,
    /// The machine.
    pub machine: &'static dyn Machine,
    /// One of its boards.
    pub board: &'static str,
    /// The kernel.
    pub kernel: &'static str,
    /// What guards it.
    pub locking: &'static str,
    /// How many CPUs.
    pub cpus: u32,
    /// What it tells.
    pub watch: Watch,
    /// How the twin's CPUs take turns: in order of time, or by chance in this many accesses.
    pub chaos: u64,
    /// The seed of the scheduling tree's decisions by chance; 0: its policies decide.
    pub decisions: u64,
    /// The seed of the machine, which its name does not tell.
    pub seed: u64,
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Configuration { system, machine, board, kernel, locking, cpus, chaos, .. } = self;
        write!(f, "{system} under {kernel} on {}", machine.name())?;
        if machine.boards().len() > 1 {
            write!(f, " {board}")?;
        }
        if *cpus > 1 || *locking != NO_LOCKING {
            write!(f, ", {}, locks {locking}", counted(*cpus as usize, "CPU"))?;
        }
        f.write_str(match self.watch {
            Watch::Nothing => "",
            Watch::Trace => ", traced",
            Watch::Statistics => ", counted",
            Watch::Both => ", traced and counted",
            Watch::Samples => ", sampled",
            Watch::Log => ", logged",
        })?;
        if *chaos > 0 {
            write!(f, ", chaos {chaos}")?;
        }
        if self.decisions > 0 { f.write_str(", decisions by chance") } else { Ok(()) }
    }
}

impl Configuration {
    /// A system in the plainest way: on the first board, under the first kernel, on one CPU.
    pub fn plain(machine: &'static dyn Machine, system: &'static str) -> Configuration {
        Configuration {
            system,
            args: &[],
            machine,
            board: machine.boards()[0],
            kernel: KERNELS[0],
            locking: NO_LOCKING,
            cpus: 1,
            watch: Watch::Nothing,
            chaos: 0,
            decisions: 0,
            seed: 1,
        }
    }

    /// Whether the kernel keeps statistics: the simulation always does, and so does what has locks
    /// and is watched, of which there is one image for all ways to watch it.
    pub fn counts(&self) -> bool {
        let is_counted = matches!(self.build().watch, Watch::Statistics | Watch::Both);
        self.machine.emulator().is_none() || is_counted
    }

    /// How the image is built that it boots from.
    pub fn build(&self) -> Build {
        let is_locked = self.locking != NO_LOCKING;
        Build {
            kernels: Kernels::with(self.kernel),
            locking: Locking::named(self.locking),
            watch: match self.watch {
                Watch::Trace | Watch::Statistics if is_locked => Watch::Both,
                watch => watch,
            },
            chance: self.decisions > 0,
            ..Build::default()
        }
    }

    /// What it boots from.
    pub fn builds(&self) -> Builds {
        Builds::of(self.machine, self.build())
    }

    /// A job of this name that does something with it.
    pub fn job(
        self,
        name: impl Into<String>,
        work: impl FnOnce(&Configuration, &mut Findings) -> Result<()> + Send + 'static,
    ) -> Job {
        let job = Job::new(Group::Target, name, move |findings| work(&self, findings));
        job.configuration().builds(self.builds())
    }

    /// The system as it is booted.
    pub fn load(&self) -> Result<System> {
        let mut system = match self.system {
            "pairs" => systems::pairs(self.cpus)?,
            name => systems::load(name)?,
        };
        system.cpus = self.cpus;
        system.kernel = self.kernel.to_string();
        system.locking = Some(self.locking.to_string());
        self.args.iter().for_each(|(name, value)| systems::set(&mut system, name, value));
        Ok(system)
    }

    /// Builds what a system needs that is to run so, and boots it.
    pub fn boot<T>(&self, system: &System, boot: impl FnOnce(Boot) -> Result<T>) -> Result<T> {
        let images = built(image::build_system(self.machine, system, self.build()))?;
        let usual = Boot::new(self.machine, &images, system)
            .board(self.board)
            .kernel(self.kernel)
            .seed(self.seed)
            .decisions(self.decisions)
            .timeout(TIMEOUT)
            .inspect(matches!(self.watch, Watch::Nothing | Watch::Statistics))
            .sampling((self.watch == Watch::Samples).then_some(OFTEN))
            .simulation(Simulation { chaos: self.chaos, ..Simulation::default() });
        boot(if self.watch == Watch::Log { usual.log() } else { usual })
    }

    /// Boots a system that must end well, under the very kernel that was asked for.
    pub fn run(&self, system: &System) -> Result<Outcome> {
        let outcome = self.boot(system, |boot| machine::boot(&boot))?;
        let failure = outcome.failure();
        ensure!(failure.is_none(), "{self}: {}", failure.unwrap_or_default());
        let ran = &outcome.kernel;
        ensure!(*ran == self.kernel, "asked for kernel `{}`, but `{ran}` ran", self.kernel);
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::MACHINES;

    #[test]
    fn a_name_says_what_differs() {
        let plain = Configuration::plain(MACHINES[1], "hello");
        assert_eq!(plain.to_string(), "hello under fastpath on twin");
        let other = Configuration { cpus: 4, locking: "fine", chaos: 10, ..plain };
        let said = "hello under fastpath on twin, 4 CPUs, locks fine, chaos 10";
        assert_eq!(other.to_string(), said);
    }
}
