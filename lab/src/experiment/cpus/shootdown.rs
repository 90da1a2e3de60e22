//! `shootdown`: memory that is taken away where other CPUs have seen its domain, and threads and
//! domains that end on other CPUs (S1-04).

use super::super::{Experiment, Measured, Setup};
use super::{NOTE, cross};
use abi::results::Tag;
use anyhow::{Context, Result};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "shootdown",
    about: "What taking memory away and ending threads and domains take on several CPUs",
    ledger: &["S1-04"],
    machines: &["qemu-x86_64"],
    cpus: &[4, 2, 8],
    kernels: &["fastpath", "strict-eager"],
    metrics: &["protect", "unmap", "destroy-thread", "destroy-domain"],
    cases: &[],
    parameters: &[("CPUs", "4"), ("pages", "1"), ("samples", "200")],
    notes: &[
        NOTE,
        "`seen by 1 CPU` is the caller's own. The CPUs that have seen the domain idle; `n busy` \
         run a thread of it that pauses and never enters the kernel: its instructions while the \
         call waits count too.",
        "`unseen`: the page is in a domain that ran on no CPU, while all have seen the caller's.",
    ],
    golden: true,
    modelled: false,
    claims: |_| Vec::new(),
    measure,
};

/// Numbers of metrics in recordings, in the order of their names.
const METRICS: [u16; 4] = [5, 4, 6, 7];
/// Cases of pages from here on: unseen by other CPUs, busy ones.
const UNSEEN: u16 = 8;
const BUSY: u16 = 16;

fn measure(setup: &Setup, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
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
fn name(metric: &str, case: u16) -> Option<String> {
    let plain = |name: &str| Some(name.to_string());
    match (metric, case) {
        ("protect" | "unmap", 0) => plain("seen by 1 CPU"),
        ("protect" | "unmap", UNSEEN) => plain("unseen"),
        ("protect" | "unmap", 1..UNSEEN) => Some(format!("seen by {} CPUs", case + 1)),
        ("protect" | "unmap", BUSY..) => Some(format!("seen by all, {} busy", case - BUSY)),
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
        assert_eq!(name("unmap", 3), "seen by 4 CPUs");
        assert_eq!(name("protect", UNSEEN), "unseen");
        assert_eq!(name("unmap", BUSY + 7), "seen by all, 7 busy");
        assert_eq!(name("destroy-domain", 2), "");
    }
}
