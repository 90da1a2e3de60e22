//! `adaptive-budgets`: budgets that follow demand beside fixed ones, in the case study of S2B-E01.

mod claims;
mod decisions;
mod measure;
mod overhead;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "adaptive-budgets",
    about: "Deadlines missed with budgets that are fixed and that follow demand",
    ledger: &[
        "S2B-12", "S2B-E01", "S2B-E02", "S2B-E03", "S2B-C01", "S2B-C02", "S2B-C03", "S2B-C04",
        "S2B-C05",
    ],
    machines: &[Measure::Simulated(measure::simulated), Measure::Emulated(measure::emulated)],
    kernels: &[manifest::TREE],
    metrics: &[
        MISSED,
        LATE,
        HARD_MISSED,
        ASKED,
        PEAK,
        HELD,
        SCHEDULING,
        ADAPTATION,
        CALLS,
        REPORTING,
    ],
    cases: &BUDGETS,
    parameters: &[
        Parameter::time(
            "time",
            [SECOND, 300 * SECOND],
            &[60 * SECOND],
            "of each run; emulated 10s",
        ),
        Parameter::time(
            "hold",
            [SECOND / 10, 60 * SECOND],
            &HOLDS,
            "that a load's level lasts in the mean; emulated 1s",
        ),
        Parameter::count("loads", [1, 20], &[5], "by seed, counted together; emulated 1"),
    ],
    conditions: &[
        ("fixed", "each soft server has what its load asks for in the mean of the run"),
        ("filled", "the same, raised alike until the class has nothing left"),
        (
            "adaptive",
            "both levels follow demand (S2B-12): from the mean on, 1 ms at least; 16 decisions",
        ),
        ("kept", "the same, but no server falls below the mean"),
        ("flat", "as adaptive, in a class that always has all that the hard server leaves"),
        ("load", "each level twice the one below, 4 of them; a level lasts `hold` in the mean"),
    ],
    notes: &[
        "A ratio is of late jobs to finished ones, in millionths; a release that comes while the \
         job before it still runs is skipped.",
        "`scheduling` is time inside the kernel and in the controller; parts of it are \
         `adaptation`, the controller alone, of which `adaptation-calls` is inside its calls on \
         reservations, and `reporting`, tasks that look at the clock. All \
         are of one run of 5 s under the kernel with a trace, whose own cost they contain.",
    ],
    claims: claims::claims,
    deep: true,
    ..Experiment::USUAL
};

const SECOND: u64 = 1_000_000_000;
/// Late jobs of all that ended.
const MISSED: &str = "miss-ratio";
/// Late jobs of all soft servers.
const LATE: &str = "late";
/// Late jobs of the hard tasks.
const HARD_MISSED: &str = "hard-missed";
/// What the load of a server asks for in the mean.
const ASKED: &str = "load-mean";
/// What the longest jobs of a server's tasks ask for together.
const PEAK: &str = "load-peak";
/// What the class of the soft servers has in the mean.
const HELD: &str = "class-budget";
/// Time inside the kernel and in the controller.
const SCHEDULING: &str = "scheduling";
/// The part of it that the controller takes.
const ADAPTATION: &str = "adaptation";
/// The part of that inside the calls by which the controller looks at reservations and sets them.
const CALLS: &str = "adaptation-calls";
/// What tasks take of it to know how late they are.
const REPORTING: &str = "reporting";
/// How budgets are set: from the third on by the controller.
const BUDGETS: [&str; 5] = ["fixed", "filled", "adaptive", "kept", "flat"];
/// The class of the soft servers.
const CLASS: &str = "soft";
/// Soft servers, the most important first.
const SERVERS: [&str; 3] = ["s3", "s4", "s5"];

/// How long a level of the load lasts in the mean, which the paper does not say: from a few control
/// periods, within which no controller can follow, to many.
const HOLDS: [u64; 4] = [3 * SECOND / 10, SECOND, 3 * SECOND, 10 * SECOND];
/// The ends of that.
const ENDS: [u64; 2] = [HOLDS[0], HOLDS[3]];

/// The case of a server, or of the sum over all.
fn case(hold: u64, budgets: &str, server: &str) -> String {
    format!("{} server={server}", of(hold, budgets))
}

/// The case of all servers.
fn of(hold: u64, budgets: &str) -> String {
    format!("hold={}ms budgets={budgets}", hold / 1_000_000)
}

/// The case of a load, whatever the budgets.
fn load_of(hold: u64, server: &str) -> String {
    format!("hold={}ms server={server}", hold / 1_000_000)
}
