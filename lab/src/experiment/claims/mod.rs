//! The papers' claims, judged by the rows of a report.

pub mod elevator;
pub mod hot_potato;
pub mod ipc_chain;
pub mod ipc_queueing;
pub mod ipi_latency;
pub mod lock_cost;
pub mod lock_scaling;
pub mod ping_pong;
pub mod profile;
pub mod scheduler_stats;
pub mod spec;
pub mod start_stop;
mod tails;

use results::{Origin, Report};
pub use spec::Spec;

/// Claims that are data, by experiment.
pub static SPECS: [(&str, &[Spec]); 11] = [
    ("ping-pong", &ping_pong::CLAIMS),
    ("hot-potato", &hot_potato::CLAIMS),
    ("ipc-queueing", &ipc_queueing::CLAIMS),
    ("elevator", &elevator::CLAIMS),
    ("start-stop", &start_stop::CLAIMS),
    ("ipc-chain", &ipc_chain::CLAIMS),
    ("profile", &profile::CLAIMS),
    ("scheduler-stats", &scheduler_stats::CLAIMS),
    ("lock-cost", &lock_cost::CLAIMS),
    ("lock-scaling", &lock_scaling::CLAIMS),
    ("ipi-latency", &ipi_latency::CLAIMS),
];

/// The data of a claim or of a part of one, and the name of the experiment that decides it.
pub fn find(id: &str) -> Option<(&'static str, &'static Spec)> {
    let mut all =
        SPECS.into_iter().flat_map(|(name, all)| all.iter().map(move |spec| (name, spec)));
    all.find(|(_, spec)| spec.id == id)
}

/// The median of a case.
fn median(report: &Report, kernel: &str, metric: &str, case: &str) -> Option<f64> {
    report.median(kernel, metric, case).map(|figure| figure.as_f64())
}

/// By how many percent `a` is above `b`.
fn percent_above(a: f64, b: f64) -> f64 {
    (a / b - 1.0) * 100.0
}

/// What rests on the price of cold memory cannot be told where there are no caches.
fn cold(report: &Report) -> Option<String> {
    let why = "it rests on the price of cold memory, and there are no caches here: see `native`";
    (report.origin != Origin::HARDWARE).then(|| why.to_string())
}

#[cfg(test)]
pub mod testing {
    //! Made-up reports.

    use results::{Claim, Report, Samples, Verdict};
    use std::collections::BTreeMap;

    /// A report whose rows have one sample each: kernel, metric, case, value.
    pub fn report(machine: &str, rows: &[(&str, &str, &str, u64)]) -> Report {
        let mut samples = Samples::default();
        for (kernel, metric, case, value) in rows {
            samples.push(kernel, metric, case, vec![*value]);
        }
        Report {
            schema: results::SCHEMA,
            experiment: "made up".into(),
            machine: machine.into(),
            origin: results::Origin::EMULATED,
            unit: "instructions".into(),
            units: Default::default(),
            commit: String::new(),
            seed: 1,
            host: BTreeMap::new(),
            rows: samples.rows(),
            claims: Vec::new(),
            baselines: Vec::new(),
            facts: Vec::new(),
            limits: Vec::new(),
            curves: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The verdict on a claim.
    pub fn verdict(claims: &[Claim], id: &str) -> Verdict {
        claims.iter().find(|claim| claim.id == id).expect("the claim is judged").verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::EXPERIMENTS;

    #[test]
    fn settings_stand_beside_each_other() {
        for (name, spec) in
            SPECS.into_iter().flat_map(|(name, all)| all.iter().map(move |s| (name, s)))
        {
            let experiment = EXPERIMENTS.into_iter().find(|experiment| experiment.name == name);
            let experiment = experiment.expect("the experiment exists");
            let aspects = |setting: spec::Setting| setting.iter().map(|(aspect, _)| *aspect);
            assert!(!spec.paper.is_empty() && !spec.ours.is_empty(), "{}", spec.id);
            for (machine, ours) in spec.ours {
                assert!(experiment.runs_on(machine), "{}: {machine}", spec.id);
                assert!(aspects(spec.paper).eq(aspects(ours)), "{} on {machine}", spec.id);
            }
        }
    }

    #[test]
    fn claims_are_data() {
        let nothing = testing::report("", &[]);
        let claims = EXPERIMENTS.into_iter().flat_map(|experiment| (experiment.claims)(&nothing));
        for claim in claims {
            assert!(find(&claim.id).is_some(), "{} has no setting and no band", claim.id);
        }
    }
}
