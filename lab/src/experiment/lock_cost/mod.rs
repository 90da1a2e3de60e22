//! `lock-cost`: what locks of the kernel add to a message, uncontended (S1-E01).

mod claims;
mod measure;
mod simulated;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::{Cpus, Experiment, Measure};
use manifest::LOCKINGS;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "lock-cost",
    about: "What each locking adds to a message on one CPU",
    ledger: &["S1-E01", "S1-C01", "S1-C02"],
    machines: &[Measure::Hardware(measure::measure), Measure::Simulated(simulated::measure)],
    cpus: Cpus::Any,
    metrics: &[METRIC],
    parameters: &[
        Parameter::choice("locking", &LOCKINGS, "of the kernel"),
        Parameter::count("batches", [10, 10_000], &[400], "of each locking in a start; on native"),
    ],
    conditions: &[
        ("CPUs", "one, whatever is asked for, so that it can stand beside `lock-scaling`"),
        ("batch", "100 round trips"),
        ("starts", "5, lockings taking turns"),
    ],
    notes: &[
        "One-way messages of one word between two domains on one CPU: mean ticks of a batch. There \
         is no trap and no page-table load.",
        "`none` is a kernel for one CPU. `none-several` is a kernel with the code for several CPUs \
         and no lock: what it adds is not the lock's. What a locking adds is the median over \
         starts of the differences of medians within a start.",
        "On the twin ticks are modelled instructions: what a locking adds is its atomic exchanges \
         and transactions, at what the table of costs says. Barriers are those that a processor \
         with weakly ordered memory needs, counted in a run of its own.",
    ],
    claims: claims::claims,
    ..Experiment::USUAL
};

/// The metric.
const METRIC: &str = "message";
/// The locking that the others are compared with.
const BASE: &str = "none";
/// What trap, return and page-table load of a message take, as a fact of machines that have them.
const ENTRY: &str = "trap and page-table load";
/// Memory barriers of a round trip under a locking, as a fact of machines that count them.
fn barriers(locking: &str) -> String {
    format!("barriers of a round trip, {locking}")
}
/// Whether the processor has transactions, as a fact.
const TRANSACTIONS: &str = "transactions of the processor";

/// The case of a locking.
fn case(locking: &str) -> String {
    format!("locking={locking}")
}
