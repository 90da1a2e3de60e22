//! The command line.

mod compare;
mod cyclictest;
pub mod fault;
pub mod live;
pub mod model;
pub mod refusal;
mod rtsim;
mod test;
pub mod trace;
mod twin;
mod under;
mod values;

pub use compare::Compare;
pub use cyclictest::Cyclictest;
pub use live::{Ps, Sched, Top, Which};
pub use rtsim::{Rtsim, Scheduler as RtsimScheduler};
pub use test::{Group, Test};
pub use trace::Trace;
pub use twin::{Fuzz, Fuzzed, Replay, Speed, Twin};
pub use under::Under;

use crate::commands::Command;
use crate::experiment::{EVERYWHERE, EXPERIMENTS};
use crate::failure::Verdict;
use crate::machine::{Computed, MACHINES, MEASURED, Platform};
use abi::log::Level;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
pub use values::written;
use values::{duration, flame, period, plot, seed, threshold, wires};

const EXAMPLES: &str = "\
Examples:
  ./giusto demo                       the five-minute first run
  ./giusto run hello                  boot systems/hello.toml, show its console
  ./giusto run shell --kernel direct-lazy
  ./giusto lab run ping-pong --json   measure, and print the result as JSON
  ./giusto test                       everything that must hold

`./giusto --no-install COMMAND` installs nothing and prints what to run instead.

Exit status:";

pub const RUN_EXAMPLES: &str = "\
Examples:
  ./giusto run hello
  ./giusto run my/system.toml --board q35
  ./giusto run cyclictest --auto 50us    stop at a late wake-up, and say why
  ./giusto run crash --log debug         show all lines that programs log
  ./giusto run mixed-criticality --icount --runs 20 --plot responses.svg
  ./giusto run mixed-criticality --control    for ps, sched and top
  ./giusto run stress --kernel tree --machine twin --decisions 7    any policy's
  ./giusto run hello --gdb               wait for gdb; it has all symbols
  echo ps | ./giusto run shell";

pub const NEW_EXAMPLES: &str = "\
Examples:
  ./giusto new plant
  ./giusto run plant                  on the emulator
  ./giusto run plant --machine twin   in the simulation
  ./giusto test plant                 what plant/tests.toml says
  ./giusto new plant --c              with programs in C";

pub const PROFILE_EXAMPLES: &str = "\
Examples:
  ./giusto profile udpserver
  ./giusto profile udpserver --kernel strict-eager --flame out.svg
  ./giusto profile worst --exact              whose the longest section is
  ./giusto profile stress --exact             the same for each of four CPUs
  ./giusto profile udpserver --event branches";

pub const CHECK_EXAMPLES: &str = "\
Examples:
  ./giusto check hello
  ./giusto check my/system.toml --json
  ./giusto check systems/*.toml       status 1 if one does not fit
  ./giusto trace hello --overheads --json >costs.json
  ./giusto check my/system.toml --overheads costs.json";

pub const CYCLICTEST_EXAMPLES: &str = "\
Examples:
  ./giusto cyclictest -m -S -p 99 -i 1000 -D 10s -h 100 -q
  ./giusto cyclictest -t 4 -a 0-3 -p 99 -l 1000     on four CPUs
  ./giusto cyclictest -p 99 -l 1000 -N --icount     instructions as nanoseconds";

const LAB_EXAMPLES: &str = "\
Examples:
  ./giusto lab run ping-pong micro --json
  ./giusto lab run --all
  ./giusto lab run ping-pong --kernel fastpath --export csv,markdown
  ./giusto lab run start-stop --set threads=10..50:10 --samples 2000 --seed 3
  ./giusto lab run elevator --kernel fastpath --blame 2us    why one was late
  ./giusto lab run sections latency --system plant    a system of your own
  ./giusto lab run lock-cost lock-scaling    on this host's own CPUs
  ./giusto lab run schedulability --set policy=edf,windows --set sets=1000";

const LIST_EXAMPLES: &str = "\
Examples:
  ./giusto lab list
  ./giusto lab list elevator          all about one, also what can be set";

const COMPARE_EXAMPLES: &str = "\
Examples:
  ./giusto lab compare direct-lazy strict-eager
  ./giusto lab compare ipc-ordered ipc-heap --machine twin
  ./giusto lab compare big fine                        two lockings
  ./giusto lab compare HEAD~5 HEAD --experiment micro  two commits
  ./giusto lab compare ping-pong/1 ping-pong/2         two saved runs

Kernels, lockings, commits and saved runs are told by their names; where a name
may be several, write for example locking:big or commit:big. A commit is measured
in a work tree of its own under target/compare, which takes minutes at first.";

const CLAIMS_EXAMPLES: &str = "\
Examples:
  ./giusto lab claims                 every claim, as found here or as recorded
  ./giusto lab claims --run           measure first (some minutes)
  ./giusto lab claims S0-C05 S0-C07   these, with what decided";

pub const TWIN_EXAMPLES: &str = "\
Examples:
  ./giusto twin fuzz                  a million steps
  ./giusto twin fuzz --minutes 480    a night
  ./giusto twin replay 0x1f           one seed again, bit for bit
  ./giusto twin speed --check         events a second, every invariant checked";

pub const TEST_EXAMPLES: &str = "\
Examples:
  ./giusto test --quick               a minute and a half
  ./giusto test plant                 the tests of a system of your own
  ./giusto test selftest              what has that in its name
  ./giusto test kernel/hosted fuzz    tests of a package
  ./giusto test --deep                hours; again, it goes on where it was
  ./giusto test --mutants no-shootdown no-revalidation";

/// Giusto: a real-time microkernel with a laboratory.
#[derive(Debug, Parser)]
#[command(name = "giusto", bin_name = "./giusto", version, after_help = after_help())]
#[command(max_term_width = 80, disable_help_subcommand = true)]
pub struct Cli {
    /// Print one JSON document on standard output instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Examples, and what each exit status means.
fn after_help() -> String {
    let row = |verdict: Verdict| format!("\n  {:<5}{}", verdict.status(), verdict.meaning());
    EXAMPLES.to_string() + &Verdict::ALL.map(row).concat()
}

/// What to check.
#[derive(Debug, Args)]
pub struct Check {
    /// Manifests, their folders, or the names of some in systems/.
    #[arg(required = true, value_name = "SYSTEM")]
    pub systems: Vec<String>,
    /// What the kernel costs, as `trace SYSTEM --overheads --json` has written it.
    #[arg(long, value_name = "FILE")]
    pub overheads: Option<PathBuf>,
    /// Show all tables.
    #[arg(long)]
    pub verbose: bool,
}

/// How to boot a system.
#[derive(Debug, Default, Args)]
pub struct Run {
    /// A manifest, or the name of one in systems/.
    pub system: String,
    /// The machine.
    #[arg(long, value_name = "M", value_parser = machines(), default_value = MACHINES[0].name())]
    pub machine: String,
    /// The kernel; the manifest's by default.
    #[arg(long, value_name = "K", value_parser = all_kernels())]
    pub kernel: Option<String>,
    /// The machine's board.
    #[arg(long, value_name = "B", value_parser = boards())]
    pub board: Option<String>,
    /// Count instructions as time: exactly repeatable, but not at the pace of the clock.
    #[arg(long)]
    pub icount: bool,
    /// How many CPUs the machine has; the manifest's by default.
    #[arg(long, value_name = "N", value_parser = cpus())]
    pub cpus: Option<u32>,
    /// What guards the kernel; the manifest's by default: none on one CPU, big on several.
    #[arg(long, value_name = "L", value_parser = lockings())]
    pub locking: Option<String>,
    /// On the twin: what cache lines of other CPUs cost; nothing by default. A machine by its name
    /// in docs/twin.md, or figures: 2x14,115,218,185,265 are 2 sockets of 14 CPUs, within and
    /// across sockets, from memory within and across.
    #[arg(long, value_name = "T", value_parser = twin_protocol::Topology::parse)]
    pub topology: Option<twin_protocol::Topology>,
    /// Boot a kernel that keeps statistics.
    #[arg(long)]
    pub statistics: bool,
    /// The seed of the machine with --icount, and of what is injected on the twin; 1 by default.
    #[arg(long, value_name = "S", value_parser = seed)]
    pub seed: Option<u64>,
    /// What else it is under.
    #[command(flatten)]
    pub under: Under,
    /// On the twin: check the kernel's invariants after each step.
    #[arg(long)]
    pub check: bool,
    /// Under kernel tree: decide by chance, from this seed, instead of by the policies. For tests.
    #[arg(long, value_name = "SEED", value_parser = seed)]
    #[arg(conflicts_with_all = ["statistics", "auto"])]
    pub decisions: Option<u64>,
    /// Draw what the wires of the plant had into FILE.svg, or write it as a table: FILE.csv.
    #[arg(long, value_name = "FILE", value_parser = wires, conflicts_with_all = ["auto", "gdb"])]
    pub wires: Option<PathBuf>,
    /// Stop when a timer or a timeout wakes a thread later than this, and say why; exit status 3.
    /// Instructions count as time.
    #[arg(long, value_name = "SPAN", value_parser = threshold, conflicts_with = "statistics")]
    pub auto: Option<u64>,
    /// With --icount: hold the longest section with interrupts off and the wake-ups of the highest
    /// threads against the bounds of `check`; exit status 3 above one.
    #[arg(long, conflicts_with_all = ["auto", "statistics", "decisions", "plot", "runs"])]
    #[arg(conflicts_with_all = ["gdb", "control"])]
    pub latency: bool,
    /// Show lines of the logs down to this level; info by default.
    #[arg(long, value_name = "LEVEL", value_parser = levels())]
    pub log: Option<Level>,
    /// Stop before the first instruction, and print the command that starts gdb.
    #[arg(long, conflicts_with = "auto")]
    pub gdb: bool,
    /// Add a domain `control`, by which `ps`, `sched` and `top` watch and change the system.
    #[arg(long, conflicts_with = "auto")]
    pub control: bool,
    /// Draw the longest response of each reservation with a deadline against the bound of `check`
    /// into FILE.svg, and show it as a table.
    #[arg(long, value_name = "FILE", value_parser = plot, conflicts_with_all = ["auto", "gdb"])]
    pub plot: Option<PathBuf>,
    /// What the kernel costs, for bounds, as `trace SYSTEM --overheads --json` has written it.
    #[arg(long, value_name = "FILE")]
    pub overheads: Option<PathBuf>,
    /// Boot it so many times, under successive seeds, and show how the longest responses are
    /// distributed; with --plot in a picture, too.
    #[arg(long, value_name = "N", conflicts_with_all = ["auto", "gdb", "control"])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: Option<u32>,
    /// Give up after so many seconds (on the twin, 5 million steps for each); by default 60, or
    /// never with typed input or --gdb.
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
}

/// What to profile, and how.
#[derive(Debug, Args)]
pub struct Profile {
    /// A manifest, or the name of one in systems/.
    pub system: String,
    /// The machine.
    #[arg(long, value_name = "M", value_parser = machines(), default_value = MACHINES[0].name())]
    pub machine: String,
    /// The kernel; the manifest's by default.
    #[arg(long, value_name = "K", value_parser = all_kernels())]
    pub kernel: Option<String>,
    /// The machine's board.
    #[arg(long, value_name = "B", value_parser = boards())]
    pub board: Option<String>,
    /// One sample is taken at a random instant in each block of this length, 10us to 25ms.
    #[arg(long, default_value = "25us", value_name = "TIME", value_parser = period)]
    pub period: u64,
    /// The seed of these instants and of the machine.
    #[arg(long, default_value = "1", value_name = "S", value_parser = seed)]
    pub seed: u64,
    /// Draw a flame graph into this file, FILE.svg or, as text for other tools, FILE.folded.
    #[arg(long, value_name = "FILE", value_parser = flame)]
    pub flame: Option<PathBuf>,
    /// Instead of samples: each instruction of the longest section with interrupts off, and of the
    /// worst wake-up of each CPU.
    #[arg(long)]
    pub exact: bool,
    /// Count all events of this kind instead, with --exact those there: instructions, branches,
    /// loads, stores or memory-accesses.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// End the system after so many seconds of the host's time and show what there is.
    #[arg(long, default_value_t = 60, value_name = "S")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
}

/// What to do with experiments.
#[derive(Debug, Subcommand)]
pub enum Lab {
    /// List the experiments, what they measure and where.
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Tell all about these, such as what `lab run --set` can change.
        #[arg(value_name = "EXPERIMENT", value_parser = experiments(), hide_possible_values = true)]
        names: Vec<String>,
        /// Tell all about each.
        #[arg(long)]
        long: bool,
    },
    /// Run experiments and keep their results under target/lab/EXPERIMENT/RUN/.
    #[command(after_help = LAB_EXAMPLES)]
    Run(LabRun),
    /// Compare two kernels, lockings, commits or saved runs case by case: exactly, or with
    /// confidence interval and effect size.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(Compare),
    /// Run a task set of RTSim's language on the kernel: response times, and who ran when.
    #[command(after_help = rtsim::EXAMPLES)]
    Rtsim(Rtsim),
    /// Queueing models that predict what experiments measure.
    #[command(subcommand)]
    Model(model::Model),
    /// The papers' claims with their verdicts; fails if one differs from the recorded verdict.
    #[command(after_help = CLAIMS_EXAMPLES)]
    Claims(Claims),
    /// Write one page with the latest run of every experiment, and print its path.
    Report {
        /// Also show it in the desktop's browser.
        #[arg(long)]
        open: bool,
    },
}

/// What to show of the scoreboard.
#[derive(Debug, Args)]
pub struct Claims {
    /// Only these claims, by the identities that the list shows, with all evidence; without any,
    /// all of them.
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Only this machine.
    #[arg(long, value_name = "M", value_parser = measured())]
    pub machine: Option<String>,
    /// First run the experiments that decide claims.
    #[arg(long)]
    pub run: bool,
    /// Record the verdicts that were found in tests/claims.toml.
    #[arg(long)]
    pub update: bool,
}

/// How to run experiments.
#[derive(Debug, Args)]
pub struct LabRun {
    /// Experiments; see `./giusto lab list`.
    #[arg(required_unless_present = "all", value_name = "EXPERIMENT", value_parser = experiments())]
    #[arg(hide_possible_values = true)]
    pub experiments: Vec<String>,
    /// All experiments, each on its usual machine. Those that this commit has finished with the
    /// same seed are skipped: after an interruption the same command goes on.
    #[arg(long, conflicts_with_all = [
        "experiments", "machine", "kernel", "cpus", "blame", "set", "samples", "export",
    ])]
    pub all: bool,
    /// With --all: skip nothing.
    #[arg(long, requires = "all", conflicts_with = "experiments")]
    pub restart: bool,
    /// The machine; each experiment's usual one by default. `all`: every one that an experiment
    /// runs on.
    #[arg(long, value_name = "M", value_parser = running())]
    pub machine: Option<String>,
    /// Measure this system instead of the experiment's own: a manifest, its folder, or the name of
    /// one in systems/. It has to end by itself, with status 0.
    #[arg(long, value_name = "SYSTEM", conflicts_with_all = ["all", "cpus", "blame"])]
    pub system: Option<String>,
    /// Only these kernels, such as fastpath,direct-lazy; may be given several times.
    #[arg(long, value_name = "K", value_parser = all_kernels(), value_delimiter = ',')]
    pub kernel: Vec<String>,
    /// Give a parameter of the experiment other values than the usual ones: one, several
    /// (threads=50,250) or a range with both its ends (threads=50..250:50). `lab list EXPERIMENT`
    /// names what can be set.
    #[arg(long, value_name = "NAME=VALUES")]
    pub set: Vec<String>,
    /// The same as --set samples=N.
    #[arg(long, value_name = "N")]
    pub samples: Option<u64>,
    /// Also write the rows as files for other tools, beside the results.
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub export: Vec<Format>,
    /// The seed of the machine.
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub seed: u64,
    /// Numbers of CPUs, such as 2, 1,2,4 or 1..28, where an experiment has a choice.
    #[arg(long, value_name = "N", value_parser = model::cpus)]
    pub cpus: Option<model::Cpus>,
    /// Record the medians as golden figures in tests/golden.toml.
    #[arg(long, conflicts_with_all = ["system", "kernel", "cpus", "all", "set", "samples"])]
    pub update_golden: bool,
    /// Also trace the experiments on latency up to the first wake-up that is later than this, such
    /// as 2us, and say what made it late.
    #[arg(long, value_name = "THRESHOLD", value_parser = threshold)]
    pub blame: Option<u64>,
}

/// A form of rows that other tools read.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Format {
    /// Comma-separated values.
    Csv,
    /// One object a row.
    Json,
    /// A table.
    Markdown,
}

fn machines() -> PossibleValuesParser {
    PossibleValuesParser::new(MACHINES.iter().map(|machine| machine.name()))
}

fn measured() -> PossibleValuesParser {
    PossibleValuesParser::new(MEASURED.iter().map(|machine| machine.name()))
}

/// Those, where nothing boots, and all.
fn running() -> PossibleValuesParser {
    let names = MEASURED.iter().map(|machine| machine.name());
    PossibleValuesParser::new(names.chain([Computed.name(), EVERYWHERE]))
}

pub fn boards() -> PossibleValuesParser {
    PossibleValuesParser::new(MACHINES.iter().flat_map(|machine| machine.boards().iter().copied()))
}

/// Those of one image, which experiments compare.
pub fn all_kernels() -> PossibleValuesParser {
    PossibleValuesParser::new(manifest::ALL_KERNELS)
}

fn lockings() -> PossibleValuesParser {
    PossibleValuesParser::new(manifest::LOCKINGS)
}

fn levels() -> impl TypedValueParser<Value = Level> {
    let level = |name: String| Level::ALL.into_iter().find(|level| level.name() == name);
    PossibleValuesParser::new(Level::ALL.map(Level::name))
        .map(move |name| level(name).expect("a possible value"))
}

/// As many CPUs as a manifest may ask for.
fn cpus() -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(1..=64)
}

fn experiments() -> PossibleValuesParser {
    PossibleValuesParser::new(EXPERIMENTS.iter().map(|experiment| experiment.name))
}

fn repeats() -> clap::builder::RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=1000)
}

#[cfg(test)]
mod tests;
