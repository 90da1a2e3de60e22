//! The command line of `trace`.

use super::values::{duration, plot, seed, threshold, written};
use super::{Under, all_kernels, lockings, machines};
use crate::machine::MACHINES;
use clap::Args;
use std::path::PathBuf;

pub const EXAMPLES: &str = "\
Examples:
  ./giusto trace hello --timeline                  draw it in the terminal
  ./giusto trace hello --perfetto hello.pftrace    for https://ui.perfetto.dev
  ./giusto trace shared-bus --csv jobs.csv --gantt gantt.svg
  ./giusto trace selftest --cpus 4 --locks         CPUs, and their lock
  ./giusto trace shared-bus --waits                which threads wait for which
  ./giusto trace elevator --auto 5us               why a wake-up was late
  ./giusto trace selftest --cpus 4 --locks --machine twin --locking elided
  ./giusto trace shell --last --size 64            the last 64 MiB of a long run";

/// What to trace, and what to do with it.
#[derive(Debug, Args)]
pub struct Trace {
    /// A manifest, or the name of one in systems/; or a file that `--raw` has written.
    pub system: String,
    /// The machine.
    #[arg(long, value_name = "M", value_parser = machines(), default_value = MACHINES[0].name())]
    pub machine: String,
    /// The kernel; the manifest's by default.
    #[arg(long, value_name = "K", value_parser = all_kernels())]
    pub kernel: Option<String>,
    /// The seed of the machine.
    #[arg(long, default_value = "1", value_name = "S", value_parser = seed)]
    pub seed: u64,
    /// What else it is under.
    #[command(flatten)]
    pub under: Under,
    /// How many CPUs the machine has; the manifest's by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub cpus: Option<u32>,
    /// What guards the kernel; the manifest's by default: none on one CPU, big on several.
    #[arg(long, value_name = "L", value_parser = lockings())]
    pub locking: Option<String>,
    /// Room for the trace, in MiB: 65,280 records each. Several CPUs share it.
    #[arg(long, default_value_t = 32, value_name = "MIB",
          value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub size: u64,
    /// Keep the last records instead of the first.
    #[arg(long, conflicts_with = "auto")]
    pub last: bool,
    /// Stop when a timer or a timeout wakes a thread later than this, and say why; exit status 3.
    #[arg(long, value_name = "SPAN", value_parser = threshold)]
    pub auto: Option<u64>,
    /// Draw it; this is the default.
    #[arg(long)]
    pub timeline: bool,
    /// Draw, and tell jobs that end, from this instant on, such as 1.5ms after boot.
    #[arg(long, value_name = "T", value_parser = duration)]
    pub from: Option<u64>,
    /// Draw, and tell jobs that are released, up to this instant.
    #[arg(long, value_name = "T", value_parser = duration)]
    pub to: Option<u64>,
    /// Write a file for https://ui.perfetto.dev.
    #[arg(long, value_name = "FILE", value_parser = written)]
    pub perfetto: Option<PathBuf>,
    /// Write the jobs of all threads, a row each: release, start, end, deadline, CPU time.
    #[arg(long, value_name = "FILE", value_parser = written)]
    pub csv: Option<PathBuf>,
    /// Draw when each thread ran, and which jobs were late, as a Gantt chart into FILE.svg.
    #[arg(long, value_name = "FILE", value_parser = plot)]
    pub gantt: Option<PathBuf>,
    /// What scheduling, switches, releases, ticks and system calls cost, by statistics.
    #[arg(long)]
    pub overheads: bool,
    /// The kernel's non-preemptible sections, by operation: how long no interrupt is served.
    #[arg(long)]
    pub sections: bool,
    /// What each CPU did, and how long the kernel's lock was waited for and held, by operation.
    #[arg(long)]
    pub locks: bool,
    /// How long each thread waited for mutexes, conditions and answers, and for whom.
    #[arg(long)]
    pub waits: bool,
    /// Write the trace as the kernel left it; `trace FILE` shows it again.
    #[arg(long, value_name = "FILE", value_parser = written)]
    pub raw: Option<PathBuf>,
    /// Give up after so many seconds; 60 by default.
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
}
