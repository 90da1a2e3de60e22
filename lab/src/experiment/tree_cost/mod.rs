//! `tree-cost`: what operations of the scheduling tree cost, by policy, leaves and levels.

mod measure;
mod overrun;
mod taken;

use super::parameter::Parameter;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "tree-cost",
    about: "What operations of the scheduling tree cost, by policy and size",
    ledger: &["S2B-01", "S2C-07"],
    golden: true,
    machines: &[Measure::Emulated(measure::measure)],
    kernels: &KERNELS,
    metrics: &METRICS,
    cases: &[],
    parameters: &[
        Parameter::count("rounds", [1, 200], &[199], "of each operation of a case").sets("rounds")
    ],
    conditions: &[
        ("leaves", "all ready but the one that the operation is about, which is any of them"),
        ("nodes", "the leaves, evenly in the lowest classes; a class has 10 classes"),
        ("depth", "levels of classes of the policy below the root"),
        ("budgets", "500 us in each 10 ms, of programs that never wait; 31 periods"),
    ],
    notes: &[
        "Beside `pair` the counts are of the kernel's tree as a program runs it, with nodes of its \
         own: no kernel entry and no thread has a part in them.",
        "`decision` follows the wake-up of a leaf, and takes the tree's account; `charge` is 100 \
         us of the leaf that runs; `replenish` is a decision at which one \
         server's budget comes back, that of the leaf that ran last, while all others are ready.",
        "`pair` is a call and its answer of ping-pong across domains, without words.",
        "`overrun` is what a program had by the middle of a period beyond the budgets of all \
         periods until then, in nanoseconds, which are instructions here; `timer-latency` is how \
         late the thread woke that looked, in the same run.",
        "`taken` is what a program that never waits was charged beside what it executed, for each \
         budget of the least size; `depth=7` is below six classes of service curves.",
    ],
    ..Experiment::USUAL
};

/// The kernel with a tree, and the one that keeps a plain ready queue as exactly.
const KERNELS: [&str; 2] = [manifest::TREE, PLAIN];
/// A kernel with a plain ready queue, which holds exactly the ready threads too.
const PLAIN: &str = "strict-eager";
/// A call and its answer.
const PAIR: &str = "pair";
/// A decision.
const DECISION: &str = "decision";
/// Operations of the tree, which the program records by their numbers from 1.
const OPERATIONS: [&str; 5] = [DECISION, "enqueue", "dequeue", "charge", "replenish"];
const METRICS: [&str; 11] = [
    PAIR,
    OPERATIONS[0],
    OPERATIONS[1],
    OPERATIONS[2],
    OPERATIONS[3],
    OPERATIONS[4],
    OVERRUN,
    OVERRUN_WORST,
    LATENCY,
    LATENCY_WORST,
    TAKEN,
];
/// What a program had beyond its budgets.
const OVERRUN: &str = "overrun";
/// The most.
const OVERRUN_WORST: &str = "overrun-worst";
/// From the instant of a timeout to the thread that waits for it.
const LATENCY: &str = "timer-latency";
/// The longest.
const LATENCY_WORST: &str = "timer-latency-worst";
/// What the kernel takes of a budget.
const TAKEN: &str = "taken";
/// Policies, as cases call them.
const POLICIES: [&str; 3] = ["fixed-priority", "edf", "service-curves"];
const DEPTHS: [u64; 2] = [1, 3];
const NODES: [u64; 4] = [10, 100, 1_000, 4_000];

/// A case.
fn case(policy: &str, nodes: u64, depth: u64) -> String {
    format!("policy={policy} nodes={nodes} depth={depth}")
}
