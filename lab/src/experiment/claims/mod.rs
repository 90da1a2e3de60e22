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
pub mod start_stop;
mod tails;

use results::{Claim, Report, Verdict};

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
    Claim { id: id.to_string(), statement: statement.to_string(), verdict, evidence }
}

/// A claim about what this machine does not have.
fn unobservable(id: &str, statement: &str, why: &str) -> Claim {
    Claim {
        id: id.to_string(),
        statement: statement.to_string(),
        verdict: Verdict::NotObservable,
        evidence: why.to_string(),
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
