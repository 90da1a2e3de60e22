//! The command line of `twin`.

use super::{all_kernels, cpus, lockings, seed};
use clap::{Args, Subcommand};

/// What to do with the simulation.
#[derive(Debug, Subcommand)]
pub enum Twin {
    /// System calls with arbitrary arguments, every invariant checked after each step.
    Fuzz(Fuzz),
    /// Repeat the run of a seed and show where it ended.
    Replay(Replay),
    /// Kernel events a second of host time.
    Speed(Speed),
}

/// How long to fuzz.
#[derive(Debug, Args)]
pub struct Fuzz {
    /// Least number of steps.
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: u64,
    /// Minutes to go on for, instead of a number of steps.
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..))]
    pub minutes: Option<u64>,
    /// The first seed.
    #[arg(long, default_value = "1", value_name = "S", value_parser = seed)]
    pub seed: u64,
    /// On what.
    #[command(flatten)]
    pub on: Fuzzed,
}

/// The machine that a seed is run on.
#[derive(Debug, Args)]
pub struct Fuzzed {
    /// How many CPUs the machine has; the domains are spread over them.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = cpus())]
    pub cpus: u32,
    /// What guards the kernel; by default none on one CPU, on several it goes by the seed.
    #[arg(long, value_name = "L", value_parser = lockings())]
    pub locking: Option<String>,
    /// Only this kernel; by default it goes by the seed, and is not `tree`.
    #[arg(long, value_name = "K", value_parser = all_kernels())]
    pub kernel: Option<String>,
    /// Inject something once in so many places; by default it goes by the seed. 1: each poll for
    /// interrupts finds one, or a delay.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub chaos: Option<u64>,
}

/// Which run to repeat.
#[derive(Debug, Args)]
pub struct Replay {
    /// Its seed.
    #[arg(value_parser = seed)]
    pub seed: u64,
    /// On what: the same as then.
    #[command(flatten)]
    pub on: Fuzzed,
}

/// What to measure.
#[derive(Debug, Args)]
pub struct Speed {
    /// Only this kernel.
    #[arg(long, value_name = "K", value_parser = all_kernels())]
    pub kernel: Option<String>,
    /// Check every invariant after each step.
    #[arg(long)]
    pub check: bool,
    /// How many CPUs the machine has; with several the system is the fuzzer's.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = cpus())]
    pub cpus: u32,
}
