//! `shootdown`: memory that is taken away where other CPUs have seen its domain, and threads and
//! domains that end on other CPUs (S1-04).

use super::super::{Cpus, Emulated, Experiment, Measure, Measured};
use super::{CHOICE, NOTE, cross};
use abi::results::Tag;
use anyhow::{Context, Result};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "shootdown",
    about: "What taking memory away and ending threads and domains take on several CPUs",
    ledger: &["S1-04"],
    machines: &[Measure::Emulated(measure)],
    cpus: Cpus::OneOf(&CHOICE),
    kernels: &["fastpath", "strict-eager"],
    metrics: &["protect", "unmap", "destroy-thread", "destroy-domain"],
    cases: &[],
    parameters: &[("CPUs", "4"), ("pages", "1"), ("samples", "100")],
    notes: &[
        NOTE,
        "Cases of protect and unmap are about the CPUs other than the caller's: `n idle` have run \
         a thread of the domain since it last lost a page, and idle; `n busy` run one that pauses \
         and never enters the kernel, a few instructions of which count while the call waits; \
         `unseen`: none has ever run the page's domain, all have run the caller's.",
        "A thread that ends gives back its message buffer, so where it ran on another CPU a \
         shoot-down is part of it.",
        "Kicks, interrupts to other CPUs, are counted in the trace of a run of its own.",
    ],
    golden: true,
    modelled: false,
    claims: |_| Vec::new(),
};

/// Numbers of metrics in recordings, in the order of their names.
const METRICS: [u16; 4] = [5, 4, 6, 7];
/// Cases of pages from here on: unseen by other CPUs, busy ones.
pub(super) const UNSEEN: u16 = 8;
pub(super) const BUSY: u16 = 16;

fn measure(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let facts = super::kicks::facts(setup, kernel)?;
    let mut measured = Measured { facts, ..Measured::default() };
    let recorded = cross(setup, kernel, "shootdown")?;
    for (metric, number) in EXPERIMENT.metrics.iter().zip(METRICS) {
        let spans = results::spans(&recorded, Tag::BEFORE, &recorded, Tag::AFTER, number)?;
        for (case, values) in spans.cases {
            let name = name(metric, case).with_context(|| format!("{metric}: case {case}"))?;
            measured.samples.push(kernel, metric, &name, values);
        }
    }
    Ok(measured)
}

/// What the number of a case means.
pub(super) fn name(metric: &str, case: u16) -> Option<String> {
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
