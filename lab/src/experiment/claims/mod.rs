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

use results::{Claim, Report, Verdict};
pub use spec::Spec;

/// Claims that are data, by experiment.
pub static SPECS: [(&str, &[Spec]); 3] = [
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

/// A claim that holds or not, with what the rows say; without the rows it is not observable.
fn judged(id: &str, statement: &str, judged: Option<(bool, String)>) -> Claim {
    let (verdict, evidence) = match judged {
        Some((true, evidence)) => (Verdict::Reproduced, evidence),
        Some((false, evidence)) => (Verdict::Contradicted, evidence),
        None => {
            let evidence = "the run lacks the rows that the claim is about".to_string();
            (Verdict::NotObservable, evidence)
        }
    };
    let (id, statement) = (id.to_string(), statement.to_string());
    Claim { id, statement, verdict, evidence, judged: Vec::new() }
}

/// A claim about what this machine does not have.
fn unobservable(id: &str, statement: &str, why: &str) -> Claim {
    Claim {
        id: id.to_string(),
        statement: statement.to_string(),
        verdict: Verdict::NotObservable,
        evidence: why.to_string(),
        judged: Vec::new(),
    }
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
    fn claims_about_locks_are_data() {
        let nothing = testing::report("", &[]);
        let claims = EXPERIMENTS.into_iter().flat_map(|experiment| (experiment.claims)(&nothing));
        for claim in claims.filter(|claim| !claim.id.starts_with("S0-")) {
            assert!(find(&claim.id).is_some(), "{} has no setting and no band", claim.id);
        }
    }
}
