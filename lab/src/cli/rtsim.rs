//! The command line of `lab rtsim`.

use super::{Format, duration, machines};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub const EXAMPLES: &str = "\
Examples:
  ./giusto lab rtsim tests/rtsim/client-server.rts
  ./giusto lab rtsim tests/rtsim/mutex.rts --to 150        with a Gantt chart
  ./giusto lab rtsim tests/rtsim/mutex.rts --pi --to 150   owners inherit
  ./giusto lab rtsim tests/rtsim/client-server.rts --pi --pi-cv
  ./giusto lab rtsim my.rts --scheduler edf --json
  ./giusto lab rtsim my.rts --export csv
  ./giusto lab rtsim my.rts --manifest my.toml    the system that it becomes

docs/rtsim.md tells the language, and what is assumed.";

/// Which task set to run, and how.
#[derive(Debug, Args)]
pub struct Rtsim {
    /// A task set in RTSim's language.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Who runs: the most urgent task, or on each CPU the one with the earliest deadline.
    #[arg(long, value_name = "S", default_value = "fp")]
    pub scheduler: Scheduler,
    /// Mutexes lend the priorities of tasks that wait to their owners; without it they do not.
    #[arg(long)]
    pub pi: bool,
    /// Conditions lend them to their helpers too; without it they do not.
    #[arg(long, requires = "pi")]
    pub pi_cv: bool,
    /// How long a unit of time of the file takes.
    #[arg(long, value_name = "TIME", default_value = "100us", value_parser = unit)]
    pub unit: u64,
    /// The machine.
    #[arg(long, value_name = "M", value_parser = machines(), default_value = "twin")]
    pub machine: String,
    /// The seed of random times, instead of the file's.
    #[arg(long, value_name = "S", value_parser = super::seed)]
    pub seed: Option<u64>,
    /// Draw a Gantt chart in the terminal, from this unit of time on.
    #[arg(long, value_name = "UNIT")]
    pub from: Option<u64>,
    /// Draw it up to this unit.
    #[arg(long, value_name = "UNIT")]
    pub to: Option<u64>,
    /// Room for the trace, in MiB.
    #[arg(long, default_value_t = 32, value_name = "MIB",
          value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub size: u64,
    /// Also write the rows as files for other tools, beside the results.
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub export: Vec<Format>,
    /// Write the manifest of the system that the task set becomes, and run nothing.
    #[arg(long, value_name = "FILE", value_parser = super::written)]
    pub manifest: Option<PathBuf>,
}

/// Who runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scheduler {
    /// Fixed priorities.
    Fp,
    /// The earliest deadline first.
    Edf,
}

/// A unit of time: long against what the kernel takes, and no sum of times passes 2^64 ns.
fn unit(text: &str) -> Result<u64, String> {
    let unit = duration(text)?;
    let fits = (1_000..=1_000_000_000).contains(&unit) && unit.is_multiple_of(1_000);
    let wrong = || "give whole microseconds from 1us to 1s, such as 100us".to_string();
    fits.then_some(unit).ok_or_else(wrong)
}
