//! Experiments: each a folder with its description (`mod.rs`), what measures it (`measure.rs`),
//! and the papers' claims that it decides (`claims.rs`), so far as it has them.
//!
//! ```text
//! Experiment + Asked -> Session (a Setup for each kind of machine) -> Measured -> Report
//!                                                    claims: Report -> verdicts
//! ```

mod adaptive_budgets;
pub mod cache_lines;
pub mod claim;
mod cpus;
mod futex_cost;
mod herd;
mod hot_potato;
mod inheritance_approaches;
mod invocation_chain;
mod ipc_queueing;
pub mod latency;
mod listed;
mod lock_cost;
mod lock_scaling;
mod measured;
mod micro;
mod mixed_criticality;
mod native_series;
pub mod parameter;
mod partitions;
mod pi_cv;
mod ping_pong;
mod plugins;
mod profile;
mod restart;
mod run;
mod schedulability;
mod scheduler_stats;
pub mod sections;
mod service_curves;
mod setup;
#[cfg(test)]
pub mod testing;
mod tickless;
mod trace_cost;
pub mod traced;
mod train_cost;
mod train_display;
mod tree_cost;
pub mod user_system;

pub use listed::{EVERYWHERE, Listed, Session};
pub use measured::Measured;
pub use profile::round_trip_by_samples;
pub use run::{is_listed, run};
pub use sections::bounded_parts;
pub use setup::{Asked, Boots, Computing, Emulated, Hardware, Setup, Simulated};

use anyhow::Result;
use claim::Spec;
use parameter::Parameter;
use results::{Claim, Report};
use user_system::UserSystem;

/// An experiment.
pub struct Experiment {
    /// Its name.
    pub name: &'static str,
    /// What it measures, in a short sentence.
    pub about: &'static str,
    /// Ledger entries that it reproduces.
    pub ledger: &'static [&'static str],
    /// The platforms that it runs on with what measures there, the usual one first.
    pub machines: &'static [Measure],
    /// How many CPUs it can run on.
    pub cpus: Cpus,
    /// Kernels that it compares.
    pub kernels: &'static [&'static str],
    /// What it measures.
    pub metrics: &'static [&'static str],
    /// Under which circumstances, beside its parameters; empty if there is only one.
    pub cases: &'static [&'static str],
    /// What can be set.
    pub parameters: &'static [Parameter],
    /// What is always the same.
    pub conditions: &'static [(&'static str, &'static str)],
    /// Whether the host's caches are warm or cold, on machines that have some.
    pub caches: &'static str,
    /// Sentences on how to read its figures.
    pub notes: &'static [&'static str],
    /// Whether each figure is golden. Worst cases of samples and shares by sampling move with any
    /// change of the kernel: they have limits and claims only.
    pub golden: bool,
    /// Whether it takes so long that only a deep run of the tests has its figures.
    pub deep: bool,
    /// Whether the simulation's costs are fitted to it, so that its figures must be near.
    pub modelled: bool,
    /// The claims that its report decides.
    pub claims: fn() -> Vec<Spec>,
    /// How it measures a user's system, if that makes sense: its own systems have a part in what
    /// other experiments are about.
    pub user_system: Option<UserSystem>,
}

impl Experiment {
    /// What fields are that an experiment does not state: nothing to set, to say or to claim, on
    /// one CPU under all kernels.
    const USUAL: Experiment = Experiment {
        name: "",
        about: "",
        ledger: &[],
        machines: &[],
        cpus: Cpus::One,
        kernels: &manifest::KERNELS,
        metrics: &[],
        cases: &[],
        parameters: &[],
        conditions: &[],
        caches: "warm",
        notes: &[],
        golden: false,
        deep: false,
        modelled: false,
        claims: Vec::new,
        user_system: None,
    };

    /// The claims of the ledger that it decides.
    pub fn decides(&self) -> impl Iterator<Item = &'static str> {
        self.ledger.iter().copied().filter(|entry| entry.contains("-C"))
    }

    /// Judges a report by all claims.
    pub fn judge(&self, report: &Report) -> Vec<Claim> {
        (self.claims)().iter().map(|spec| spec.judge(report)).collect()
    }
}

/// A kind of platform, with what measures one kernel there.
pub enum Measure {
    /// The emulator.
    Emulated(fn(&Emulated, kernel: &str) -> Result<Measured>),
    /// The simulation.
    Simulated(fn(&Simulated, kernel: &str) -> Result<Measured>),
    /// This host's processors.
    Hardware(fn(&Hardware, kernel: &str) -> Result<Measured>),
    /// The laboratory itself, in virtual time.
    Computed(fn(&Computing, kernel: &str) -> Result<Measured>),
}

/// Numbers of CPUs that an experiment can run on.
pub enum Cpus {
    /// One CPU.
    One,
    /// One of these numbers, the usual one first.
    OneOf(&'static [usize]),
    /// Any numbers, one after the other.
    Any,
}

impl Cpus {
    /// Why an experiment cannot run on these numbers of CPUs, if it cannot.
    pub fn refuse(&self, asked: &[usize]) -> Option<String> {
        match (self, asked) {
            (Cpus::Any, _) => None,
            (Cpus::One, [1]) => None,
            (Cpus::One, _) => Some("it runs on one CPU".to_string()),
            (Cpus::OneOf(known), [one]) if known.contains(one) => None,
            (Cpus::OneOf(known), _) => {
                let known: Vec<String> = known.iter().map(usize::to_string).collect();
                Some(format!("give one of {}", known.join(", ")))
            }
        }
    }
}

/// All experiments.
pub static EXPERIMENTS: [&Experiment; 36] = [
    &ping_pong::EXPERIMENT,
    &hot_potato::EXPERIMENT,
    &ipc_queueing::EXPERIMENT,
    &micro::EXPERIMENT,
    &latency::elevator::EXPERIMENT,
    &latency::start_stop::EXPERIMENT,
    &latency::ipc_chain::EXPERIMENT,
    &latency::EXPERIMENT,
    &sections::EXPERIMENT,
    &herd::EXPERIMENT,
    &trace_cost::EXPERIMENT,
    &restart::EXPERIMENT,
    &profile::EXPERIMENT,
    &scheduler_stats::EXPERIMENT,
    &lock_cost::EXPERIMENT,
    &lock_scaling::EXPERIMENT,
    &cache_lines::EXPERIMENT,
    &cpus::ipc::EXPERIMENT,
    &cpus::ipi::EXPERIMENT,
    &cpus::shootdown::EXPERIMENT,
    &service_curves::sharing::EXPERIMENT,
    &service_curves::delay::EXPERIMENT,
    &tickless::EXPERIMENT,
    &train_cost::EXPERIMENT,
    &invocation_chain::EXPERIMENT,
    &train_display::EXPERIMENT,
    &inheritance_approaches::EXPERIMENT,
    &tree_cost::EXPERIMENT,
    &futex_cost::EXPERIMENT,
    &futex_cost::across::EXPERIMENT,
    &schedulability::EXPERIMENT,
    &partitions::EXPERIMENT,
    &mixed_criticality::EXPERIMENT,
    &adaptive_budgets::EXPERIMENT,
    &plugins::EXPERIMENT,
    &pi_cv::EXPERIMENT,
];

/// The experiment with this name.
pub fn find(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.into_iter().find(|experiment| experiment.name == name)
}
