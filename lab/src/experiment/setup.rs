//! What experiments run with: one type for each kind of platform, so that what one kind alone can
//! do cannot be asked of another.

use super::parameter::{SAMPLES, Set};
use crate::image::{self, Build, Images, Watch};
use crate::machine::native::{self, Host, Native};
use crate::machine::{
    self, Boot, Computed, Count, EMULATOR, Machine, Outcome, Platform, Sampling, Seen, Simulation,
    Twin,
};
use crate::profile::Profile;
use crate::systems;
use anyhow::{Context, Result, bail};
use manifest::System;
use results::Value;
use serde::de::DeserializeOwned;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

/// Longer than any experiment takes on a slow host.
const TIMEOUT: Duration = Duration::from_secs(180);

/// What runs go by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked {
    /// The seed of the run.
    pub seed: u64,
    /// Numbers of CPUs, where an experiment has a choice and one was made.
    pub cpus: Option<Vec<usize>>,
    /// Parameters that are not to have their usual values.
    pub set: Vec<Set>,
    /// The user's system that is measured, as the command line names it.
    pub system: Option<String>,
}

impl Asked {
    /// A seed, the usual numbers of CPUs, and the usual parameters.
    pub fn seed(seed: u64) -> Asked {
        Asked { seed, ..Asked::default() }
    }

    /// The numbers that a parameter was set to: counts, or nanoseconds.
    pub fn numbers(&self, name: &str) -> Option<Vec<u64>> {
        let set = self.set.iter().find(|set| set.parameter.name == name)?;
        Some(set.values.iter().filter_map(Value::number).collect())
    }

    /// The names that a parameter was set to.
    pub fn names(&self, name: &str) -> Option<Vec<String>> {
        let set = self.set.iter().find(|set| set.parameter.name == name)?;
        Some(set.values.iter().map(Value::to_string).collect())
    }

    /// The number that a parameter was set to, the greatest of several, or its usual one.
    pub fn number(&self, name: &str, usual: u64) -> u64 {
        self.numbers(name).into_iter().flatten().max().unwrap_or(usual)
    }

    /// Whether a row is among the values that its parameters were set to.
    pub fn wants(&self, case: &str) -> bool {
        let own = results::parameters(case);
        self.set
            .iter()
            .all(|set| own.get(set.parameter.name).is_none_or(|value| set.values.contains(value)))
    }

    /// Gives programs the parameters that are arguments of theirs, and as many times the usual
    /// samples room in memory.
    fn apply(&self, system: &mut System) {
        for set in &self.set {
            let Some(argument) = set.parameter.argument else { continue };
            let words: Vec<String> = set.values.iter().map(Value::to_string).collect();
            systems::set(system, argument, &words.join(" "));
        }
        let samples = self.set.iter().find(|set| set.parameter.name == SAMPLES);
        let Some(set) = samples else { return };
        let of = |values: &[Value]| values.iter().filter_map(Value::number).max().unwrap_or(1);
        let times = of(&set.values).div_ceil(of(&set.parameter.usual()).max(1));
        for memory in system.memories.iter_mut().filter(|memory| memory.host) {
            let more = memory.bytes * (times - 1);
            memory.bytes += more;
            system.memory += more;
        }
    }
}

/// The platform that runs came from, as their outcomes say.
#[derive(Default)]
pub struct Ran(Cell<Option<&'static str>>);

impl Ran {
    /// Notes where an outcome came from; all of a report must come from one platform.
    fn note(&self, platform: &'static str) -> Result<()> {
        match self.0.replace(Some(platform)) {
            Some(before) if before != platform => {
                bail!("a run came from {platform}, the one before from {before}")
            }
            _ => Ok(()),
        }
    }

    /// The platform of the runs since this was last asked.
    pub fn take(&self) -> Result<&'static dyn Platform> {
        let name = self.0.take().context("the experiment ran nothing")?;
        machine::platform(name).with_context(|| format!("there is no platform `{name}`"))
    }
}

/// What boots systems: the part that the emulator and the simulation have in common.
pub struct Setup {
    /// What the runs go by.
    pub asked: Asked,
    /// The platform of the runs so far.
    pub ran: Ran,
    machine: &'static dyn Machine,
    /// What it has booted.
    images: RefCell<BTreeMap<Build, Rc<Images>>>,
}

/// The setup of a machine that boots systems.
pub trait Boots: Deref<Target = Setup> {}

/// The setup of an emulated machine.
pub struct Emulated(Setup);

/// The setup of the simulation.
pub struct Simulated(Setup);

/// The setup of this host's own processors.
pub struct Hardware {
    /// What the runs go by.
    pub asked: Asked,
    /// The platform of the runs so far.
    pub ran: Ran,
    program: OnceCell<PathBuf>,
}

/// The setup of what the laboratory itself computes.
pub struct Computing {
    /// What the runs go by.
    pub asked: Asked,
    /// The platform of the runs so far.
    pub ran: Ran,
}

impl Boots for Emulated {}
impl Boots for Simulated {}

impl Deref for Emulated {
    type Target = Setup;
    fn deref(&self) -> &Setup {
        &self.0
    }
}

impl Deref for Simulated {
    type Target = Setup;
    fn deref(&self) -> &Setup {
        &self.0
    }
}

/// What a run with samples gave.
pub struct Sampled {
    /// What was sampled.
    pub samples: machine::Samples,
    /// Where the samples fell.
    pub profile: Profile,
    /// The memories that the host reads.
    pub memories: BTreeMap<String, Vec<u8>>,
}

impl Setup {
    fn new(machine: &'static dyn Machine, asked: Asked) -> Setup {
        Setup { asked, ran: Ran::default(), machine, images: RefCell::default() }
    }

    /// The machine.
    pub fn machine(&self) -> &'static dyn Machine {
        self.machine
    }

    /// The user's system that is measured, as the command line names it.
    pub fn user_system(&self) -> Result<&str> {
        self.asked.system.as_deref().context("the run was to name a user's system")
    }

    /// Programs, and an image that has a kernel, built so at the first use. Of a user's system its
    /// programs alone.
    pub fn images(&self, kernel: &str, build: impl Into<Build>) -> Result<Rc<Images>> {
        let is_built = self.machine.emulator().is_some();
        let build = if is_built { build.into().with(kernel) } else { Build::default() };
        if let Some(images) = self.images.borrow().get(&build) {
            return Ok(images.clone());
        }
        let images = Rc::new(match &self.asked.system {
            Some(system) => {
                let system = System { kernel: kernel.to_string(), ..systems::load(system)? };
                image::build_system(self.machine, &system, build)?
            }
            None => image::build(self.machine, build)?,
        });
        self.images.borrow_mut().insert(build, images.clone());
        Ok(images)
    }

    fn launch<'a>(&'a self, images: &'a Images, system: &'a System, kernel: &'a str) -> Boot<'a> {
        Boot::new(self.machine, images, system)
            .kernel(kernel)
            .seed(self.asked.seed)
            .timeout(TIMEOUT)
            // Programs that are measured wait or pause.
            .slices(false)
    }

    /// Boots a system by name under a kernel; it must end well under that very kernel.
    pub fn boot(&self, system: &str, kernel: &str) -> Result<Outcome> {
        self.boot_changed(system, kernel, &mut |_| {})
    }

    /// [`Setup::boot`] of a system that was changed after loading.
    pub fn boot_changed(
        &self,
        system: &str,
        kernel: &str,
        change: &mut dyn FnMut(&mut System),
    ) -> Result<Outcome> {
        let mut system = self.load(system)?;
        change(&mut system);
        self.checked(self.run(Build::of(&system), &system, kernel)?, &system, kernel)
    }

    /// [`Setup::boot_changed`] with a kernel that is built so, whatever the system says.
    pub fn boot_with(
        &self,
        build: impl Into<Build>,
        system: &str,
        kernel: &str,
        change: &mut dyn FnMut(&mut System),
    ) -> Result<Outcome> {
        let mut system = self.load(system)?;
        change(&mut system);
        self.checked(self.run(build, &system, kernel)?, &system, kernel)
    }

    /// [`Setup::boot_changed`]; it may end in any way.
    pub fn attempt_changed(
        &self,
        system: &str,
        kernel: &str,
        change: &mut dyn FnMut(&mut System),
    ) -> Result<Outcome> {
        let mut system = self.load(system)?;
        change(&mut system);
        self.attempt(&system, kernel)
    }

    /// Boots a system under a kernel; it may end in any way under that very kernel.
    pub fn attempt(&self, system: &System, kernel: &str) -> Result<Outcome> {
        let outcome = self.run(Build::of(system), system, kernel)?;
        self.ran.note(outcome.machine)?;
        as_asked(outcome, kernel)
    }

    fn run(&self, build: impl Into<Build>, system: &System, kernel: &str) -> Result<Outcome> {
        let images = self.images(kernel, build)?;
        machine::boot(&self.launch(&images, system, kernel))
    }

    /// A system by name, its programs with the seed of the run.
    fn load(&self, system: &str) -> Result<System> {
        let mut system = systems::load(system)?;
        let seeds = system.domains.iter_mut().flat_map(|domain| &mut domain.args);
        for (_, value) in seeds.filter(|(name, _)| name == "seed") {
            *value = self.asked.seed.to_string();
        }
        self.asked.apply(&mut system);
        Ok(system)
    }

    /// A run that ended well, under the very kernel that was asked for.
    fn checked(&self, outcome: Outcome, system: &System, kernel: &str) -> Result<Outcome> {
        self.ran.note(outcome.machine)?;
        if let Some(failure) = outcome.failure() {
            bail!("system `{}` under kernel `{kernel}`: {failure}", system.name);
        }
        as_asked(outcome, kernel)
    }
}

/// A run under the very kernel that was asked for.
fn as_asked(outcome: Outcome, kernel: &str) -> Result<Outcome> {
    if outcome.kernel != kernel {
        bail!("kernel `{kernel}` was asked for, but `{}` is running", outcome.kernel);
    }
    Ok(outcome)
}

impl Emulated {
    /// For the emulator.
    pub fn new(asked: Asked) -> Emulated {
        Emulated(Setup::new(EMULATOR, asked))
    }

    /// Boots a system by name under a kernel that takes samples.
    pub fn sample(&self, system: &str, kernel: &str, sampling: Sampling) -> Result<Sampled> {
        let system = self.load(system)?;
        let images = self.images(kernel, Watch::Samples)?;
        let launch = self.launch(&images, &system, kernel).sampling(Some(sampling));
        let outcome = self.checked(machine::boot(&launch)?, &system, kernel)?;
        let samples = outcome.samples.context("the run left no samples")?;
        let profile = Profile::new(&samples, &images, &system)?;
        Ok(Sampled { samples, profile, memories: outcome.memories })
    }

    /// Counts what one round trip of a system's client and server does, past the first `skip`.
    pub fn round_trip(&self, system: &str, kernel: &str, skip: usize) -> Result<Vec<Count>> {
        let system = systems::load(system)?;
        let images = self.images(kernel, Build::default())?;
        machine::round_trip(&self.launch(&images, &system, kernel), skip)
    }
}

impl Simulated {
    /// For the simulation.
    pub fn new(asked: Asked) -> Simulated {
        Simulated(Setup::new(&Twin, asked))
    }

    /// Runs a system under a kernel; also what the simulation has seen.
    pub fn simulate(
        &self,
        system: &System,
        kernel: &str,
        simulation: Simulation,
    ) -> Result<(Outcome, Seen)> {
        let images = self.images(kernel, Build::default())?;
        let launch = self.launch(&images, system, kernel).simulation(simulation);
        let (outcome, seen) = machine::simulate(&launch, &|_| ())?;
        Ok((self.checked(outcome, system, kernel)?, seen))
    }
}

impl Computing {
    /// For these runs.
    pub fn new(asked: Asked) -> Computing {
        Computing { asked, ran: Ran::default() }
    }

    /// Notes that something was computed.
    pub fn note(&self) -> Result<()> {
        self.ran.note(Computed.name())
    }
}

impl Hardware {
    /// For this host.
    pub fn new(asked: Asked) -> Hardware {
        Hardware { asked, ran: Ran::default(), program: OnceCell::new() }
    }

    /// Runs the program that measures here, built at the first use, and reads what it found.
    pub fn run<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<Host<T>> {
        let program = match self.program.get() {
            Some(program) => program,
            None => {
                let built = image::build_native()?;
                self.program.get_or_init(|| built)
            }
        };
        let host = native::run(program, arguments)?;
        self.ran.note(Native.name())?;
        Ok(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_one_platform() {
        let ran = Ran::default();
        assert!(ran.take().is_err(), "nothing ran");
        ran.note(EMULATOR.name()).unwrap();
        ran.note(EMULATOR.name()).unwrap();
        assert_eq!(ran.take().unwrap().name(), EMULATOR.name());
        ran.note(Twin.name()).unwrap();
        let error = ran.note(Native.name()).unwrap_err().to_string();
        assert_eq!(error, "a run came from native, the one before from twin");
    }

    #[test]
    fn runs_say_where_they_came_from() {
        let setup = Simulated::new(Asked::seed(1));
        setup.boot("hello", manifest::KERNELS[0]).unwrap();
        assert_eq!(setup.ran.take().unwrap().name(), Twin.name());
    }
}
