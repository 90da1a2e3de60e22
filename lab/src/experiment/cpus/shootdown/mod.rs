//! `shootdown`: memory that is taken away where other CPUs have seen its domain, and threads and
//! domains that end on other CPUs (S1-04).

mod ipis;
mod measure;

pub use ipis::traced_part;

use super::{CHOICE, NOTE};
use crate::experiment::parameter::Parameter;
use crate::experiment::{Cpus, Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "shootdown",
    about: "Taking memory away, and ending threads, on several CPUs",
    ledger: &["S1-04"],
    machines: &[Measure::Emulated(measure::measure)],
    cpus: Cpus::OneOf(&CHOICE),
    kernels: &["fastpath", "strict-eager"],
    metrics: &["protect", "unmap", "destroy-thread", "destroy-domain"],
    cases: &["none", "n idle", "n busy", "unseen", "waits or runs on a CPU"],
    parameters: &[Parameter::count("samples", [1, 500], &[100], "of a case").sets("rounds")],
    conditions: &[("CPUs", "4"), ("pages", "1")],
    notes: &[
        NOTE,
        "Cases of protect and unmap are about the CPUs other than the caller's: `n idle` have run \
         a thread of the domain since it last lost a page, and idle; `n busy` run one that pauses \
         and never enters the kernel, a few instructions of which count while the call waits; \
         `unseen`: none has ever run the page's domain, all have run the caller's.",
        "A thread that ends gives back its message buffer, so where it ran on another CPU a \
         shootdown is part of it.",
        "IPIs are counted in the trace of a run of its own.",
    ],
    golden: true,
    deep: true,
    ..Experiment::USUAL
};

/// Cases of pages from here on: unseen by other CPUs, busy ones.
const UNSEEN: u16 = 8;
const BUSY: u16 = 16;

/// What the number of a case means.
fn name(metric: &str, case: u16) -> Option<String> {
    let plain = |name: &str| Some(name.to_string());
    match (metric, case) {
        ("protect" | "unmap", 0) => plain("none"),
        ("protect" | "unmap", UNSEEN) => plain("unseen"),
        ("protect" | "unmap", 1..UNSEEN) => Some(format!("{case} idle")),
        ("protect" | "unmap", BUSY..) => Some(format!("{} busy", case - BUSY)),
        ("destroy-thread", 2) => plain("runs on another CPU"),
        ("destroy-thread" | "destroy-domain", 0) => plain("waits on the same CPU"),
        ("destroy-thread" | "destroy-domain", 1) => plain("waits on another CPU"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_have_names() {
        let name = |metric, case| name(metric, case).unwrap_or_default();
        assert_eq!(name("unmap", 3), "3 idle");
        assert_eq!(name("protect", UNSEEN), "unseen");
        assert_eq!(name("unmap", BUSY + 7), "7 busy");
        assert_eq!(name("destroy-domain", 2), "");
    }
}
