//! `sections`: the longest time for which the kernel keeps interrupts off, by operation.

pub mod loads;
mod made;
mod measure;

pub use measure::{bounded_parts, longest_section};

use super::parameter::Parameter;
use super::user_system::UserSystem;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "sections",
    about: "How long the kernel keeps interrupts off, by operation",
    ledger: &["S0-35", "X-12", "X-13"],
    machines: &[Measure::Emulated(measure::measure)],
    kernels: &manifest::ALL_KERNELS,
    metrics: &[LONGEST, MEDIAN, LENDING, LOAD, PATH],
    parameters: &[Parameter::count("samples", [1, 500], &[30], "of a case of the storm")],
    conditions: &[
        ("storm", "that of `latency`, all kinds"),
        ("worst", "512 pages, 124 words, 80 deadlines at once, 100 callers queued, large domains"),
        ("worst-train", "trains, futexes and conditions with helpers, among 80 deadlines"),
        ("suites", "the self-test, and 20,000 random calls of a hostile program"),
        ("senders in a queue", "100, with random priorities"),
        ("chain of transfers", "100 threads, with preemption points"),
        ("under tree", "40 budgets that come back together, deep and large classes, monitors"),
        ("lending", "waits that many threads follow, behind calls, each awaited by 64"),
    ],
    notes: &[STRETCH, OUTSIDE],
    user_system: Some(UserSystem {
        machines: &[Measure::Emulated(measure::of_user_system)],
        parameters: &[],
        notes: &[STRETCH, "Of one run of the system: no bound.", OUTSIDE],
    }),
    ..Experiment::USUAL
};

const STRETCH: &str = "From the entry of the kernel or a preemption point to the next preemption \
     point or the exit, less what writing the trace took. `longest` is the worst of all runs, \
     `median` that of the longest stretches of each section, `any` the worst of all operations \
     but fault-unhandled, which tells the console. `lending` is the longest while leaves \
     are lent along waits. `load` is the longest of the loads of a group; `path` is the whole \
     section that wakes a thread by the clock that is above all others, up to its exit to it.";
const OUTSIDE: &str =
    "The entry and exit code itself is outside: it takes about as much again as a null call.";

pub const LONGEST: &str = "longest";
const MEDIAN: &str = "median";
/// As the longest, while leaves are lent along waits.
pub const LENDING: &str = "lending";
/// The longest of the loads of a group.
pub const LOAD: &str = "load";
/// The section that wakes a thread above all others, up to its exit to that.
pub const PATH: &str = "path";
