//! An experiment on one of the platforms that it lists: nothing else can be run.

use super::setup::{Asked, Computing, Emulated, Hardware, Ran, Setup, Simulated};
use super::{Experiment, Measure, Measured};
use crate::failure::usage;
use crate::machine::native::Native;
use crate::machine::{Computed, EMULATOR, Platform, Twin};
use anyhow::Result;
use manifest::TREE;

impl Measure {
    /// The platform that it is for.
    pub fn platform(&self) -> &'static dyn Platform {
        match self {
            Measure::Emulated(_) => EMULATOR,
            Measure::Simulated(_) => &Twin,
            Measure::Hardware(_) => &Native,
            Measure::Computed(_) => &Computed,
        }
    }
}

/// What a command line says instead of a platform for all that an experiment lists.
pub const EVERYWHERE: &str = "all";

/// An experiment and one of its entries; only [`Experiment::on`] and [`Experiment::usual`] make it.
#[derive(Clone, Copy)]
pub struct Listed {
    experiment: &'static Experiment,
    measure: &'static Measure,
}

impl Experiment {
    /// The platforms that it lists, the usual one first.
    pub fn platforms(&self) -> impl Iterator<Item = &'static str> {
        self.machines.iter().map(|measure| measure.platform().name())
    }

    /// Whether it lists a platform.
    pub fn runs_on(&self, platform: &str) -> bool {
        self.platforms().any(|name| name == platform)
    }

    /// It, on a platform that it lists.
    pub fn on(&'static self, platform: &str) -> Result<Listed> {
        let is_wanted = |measure: &&Measure| measure.platform().name() == platform;
        match self.machines.iter().find(is_wanted) {
            Some(measure) => Ok(Listed { experiment: self, measure }),
            None => {
                let known = self.platforms().collect::<Vec<_>>().join(", ");
                let name = self.name;
                Err(usage(format!("`{name}` does not run on {platform}, only on {known}")))
            }
        }
    }

    /// It, on each platform that it lists, the usual one first.
    pub fn everywhere(&'static self) -> Vec<Listed> {
        self.machines.iter().map(|measure| Listed { experiment: self, measure }).collect()
    }

    /// It, on its usual platform.
    pub fn usual(&'static self) -> Listed {
        Listed { experiment: self, measure: &self.machines[0] }
    }

    /// It, measuring a user's system: on this platform, on all that can, or on the usual one.
    pub fn on_user_system(&'static self, platform: Option<&str>) -> Result<Vec<Listed>> {
        let known = self.of_user_system()?;
        if platform == Some(EVERYWHERE) {
            let listed = known.machines.iter();
            return Ok(listed.map(|measure| Listed { experiment: self, measure }).collect());
        }
        let wanted = platform.unwrap_or_else(|| known.machines[0].platform().name());
        match known.machines.iter().find(|measure| measure.platform().name() == wanted) {
            Some(measure) => Ok(vec![Listed { experiment: self, measure }]),
            None => {
                let (name, known) = (self.name, known.platforms().collect::<Vec<_>>().join(", "));
                let message = format!("does not measure a user's system on {wanted}");
                Err(usage(format!("`{name}` {message}, only on {known}")))
            }
        }
    }
}

impl Listed {
    /// The experiment.
    pub fn experiment(&self) -> &'static Experiment {
        self.experiment
    }

    /// The platform.
    pub fn platform(&self) -> &'static dyn Platform {
        self.measure.platform()
    }

    /// The kernels that it compares there: the one with a scheduling tree is not on the host.
    pub fn kernels(&self) -> Vec<&'static str> {
        let on_host = matches!(self.measure, Measure::Hardware(_));
        let kernels = self.experiment.kernels.iter().copied();
        kernels.filter(|kernel| !on_host || *kernel != TREE).collect()
    }
}

/// The setups of the platforms; each builds what it needs at the first use.
pub struct Session {
    emulated: Emulated,
    simulated: Simulated,
    hardware: Hardware,
    computing: Computing,
}

impl Session {
    /// For these runs.
    pub fn new(asked: Asked) -> Session {
        Session {
            emulated: Emulated::new(asked.clone()),
            simulated: Simulated::new(asked.clone()),
            hardware: Hardware::new(asked.clone()),
            computing: Computing::new(asked),
        }
    }

    /// Measures one kernel.
    pub fn measure(&self, listed: Listed, kernel: &str) -> Result<Measured> {
        match listed.measure {
            Measure::Emulated(measure) => measure(&self.emulated, kernel),
            Measure::Simulated(measure) => measure(&self.simulated, kernel),
            Measure::Hardware(measure) => measure(&self.hardware, kernel),
            Measure::Computed(measure) => measure(&self.computing, kernel),
        }
    }

    /// The setup that boots systems where an experiment is measured, if it boots any.
    pub fn boots(&self, listed: Listed) -> Option<&Setup> {
        match listed.measure {
            Measure::Emulated(_) => Some(&self.emulated),
            Measure::Simulated(_) => Some(&self.simulated),
            Measure::Hardware(_) | Measure::Computed(_) => None,
        }
    }

    /// The emulator's setup.
    pub fn emulated(&self) -> &Emulated {
        &self.emulated
    }

    /// Where an experiment's runs came from.
    pub(super) fn ran(&self, listed: Listed) -> &Ran {
        match (self.boots(listed), listed.measure) {
            (Some(setup), _) => &setup.ran,
            (None, Measure::Computed(_)) => &self.computing.ran,
            (None, _) => &self.hardware.ran,
        }
    }

    /// What the runs go by.
    pub(super) fn asked(&self) -> &Asked {
        &self.hardware.asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::EXPERIMENTS;
    use crate::failure::Usage;
    use crate::machine::MEASURED;

    #[test]
    fn an_experiment_runs_where_it_says_and_nowhere_else() {
        for experiment in EXPERIMENTS {
            for platform in MEASURED.map(|platform| platform.name()) {
                match experiment.on(platform) {
                    Ok(listed) => {
                        assert!(experiment.runs_on(platform));
                        assert_eq!(listed.platform().name(), platform, "{}", experiment.name);
                    }
                    Err(error) => {
                        assert!(error.is::<Usage>() && !experiment.runs_on(platform));
                        let known: Vec<&str> = experiment.platforms().collect();
                        let known = format!("only on {}", known.join(", "));
                        assert!(error.to_string().ends_with(&known), "{error}");
                    }
                }
            }
            assert_eq!(Some(experiment.usual().platform().name()), experiment.platforms().next());
            let everywhere = experiment.everywhere();
            let everywhere = everywhere.iter().map(|listed| listed.platform().name());
            assert!(everywhere.eq(experiment.platforms()), "{}", experiment.name);
        }
    }

    #[test]
    fn all_ten_kernels_are_measured_but_the_tree_on_the_host() {
        for name in ["latency", "profile", "scheduler-stats"] {
            let experiment = crate::experiment::find(name).expect("it is an experiment");
            for listed in experiment.everywhere() {
                let host = listed.platform().name() == Native.name();
                assert_eq!(listed.kernels().contains(&TREE), !host, "{name}");
                assert_eq!(listed.kernels().len(), if host { 9 } else { 10 }, "{name}");
            }
        }
    }

    #[test]
    fn what_measures_locks_and_lines_does_not_run_on_the_emulator() {
        for name in ["lock-cost", "lock-scaling", "cache-lines"] {
            let experiment = crate::experiment::find(name).expect("it is an experiment");
            assert!(experiment.on(EMULATOR.name()).is_err(), "{name}");
        }
    }
}
