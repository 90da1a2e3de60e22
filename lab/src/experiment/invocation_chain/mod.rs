//! `invocation-chain`: how long a thread takes through a chain of domains, by its length (S2F-05).

mod measure;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::{Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "invocation-chain",
    about: "Latency of a chain of domains by its length, beside load",
    ledger: &["S2F-05", "S4-10", "X-08"],
    machines: &[Measure::Emulated(measure::measure), Measure::Simulated(measure::measure)],
    kernels: &["fastpath", manifest::TREE],
    metrics: &[LATENCY, WORST],
    cases: &[],
    parameters: &[
        Parameter::count("length", [1, LONGEST], &LENGTHS, "domains of a chain").sets("lengths"),
        Parameter::samples(&[100], "rounds"),
    ],
    conditions: &[
        ("train", "the caller's thread goes through all domains"),
        ("endpoint", "each domain asks the next one by a typed call"),
        ("reservation", "under tree the caller has 1 ms in each 2 ms before what has none"),
        ("lower, same", "a program that never waits, of lower priority and of the caller's"),
        ("time slices", "1 ms; the caller comes anew each 2.3 ms"),
    ],
    notes: &[
        "From the caller's question to its answer, without its wait for the CPU before.",
        "Lines are of the medians; a residual is what a median is off its line, in percent of what \
         a domain more adds.",
        "Under tree a server without a reservation runs on that of its caller, 8 callers deep: a \
         longer chain of calls goes on at the servers' own priority. Each call there walks along \
         its callers, so that such a chain has no line; it is drawn, and has no limits.",
    ],
    deep: true,
    ..Experiment::USUAL
};

/// From the question to the answer.
const LATENCY: &str = "latency";
/// The longest.
const WORST: &str = "latency-worst";
/// Domains of the longest chain.
const LONGEST: u64 = 16;
/// Usual lengths.
const LENGTHS: [u64; LONGEST as usize] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
/// How domains are gone through.
const FORMS: [&str; 2] = ["train", "endpoint"];
/// What runs beside: nothing, or the program of this name.
const LOADS: [&str; 3] = ["none", "lower", "same"];

/// A case.
fn case(form: &str, load: &str, length: u64) -> String {
    format!("form={form} load={load} length={length}")
}
