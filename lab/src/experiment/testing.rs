//! Made-up reports, and what claims say of them.

use super::Experiment;
use results::{Fact, Origin, Report, Samples, Verdict};

/// A row that has one sample: kernel, metric, case, value.
pub type Row<'a> = (&'a str, &'a str, &'a str, u64);

/// A report of such rows.
pub fn report(machine: &str, rows: &[Row]) -> Report {
    let mut samples = Samples::default();
    for (kernel, metric, case, value) in rows {
        samples.push(kernel, metric, case, vec![*value]);
    }
    Report {
        rows: samples.rows(),
        ..Report::new("made up", machine, Origin::EMULATED, "instructions")
    }
}

/// A report of one kernel's figures: metric, case, value; of one of them with another value.
pub fn report_but<'a>(
    machine: &str,
    kernel: &'a str,
    figures: &'a [(&'a str, String, u64)],
    change: Option<(&str, &str, u64)>,
) -> Report {
    let is_it = |(metric, case, _): &&(&str, String, u64)| {
        change.is_some_and(|(own, is, _)| own == *metric && is == case)
    };
    let found = figures.iter().filter(is_it).count();
    assert_eq!(found, usize::from(change.is_some()), "the case is among them, once");
    let row = |figure @ (metric, case, value): &'a (&'a str, String, u64)| {
        let changed = change.filter(|_| is_it(&figure)).map(|(.., value)| value);
        (kernel, *metric, case.as_str(), changed.unwrap_or(*value))
    };
    let rows: Vec<Row> = figures.iter().map(row).collect();
    report(machine, &rows)
}

/// A fact.
pub fn fact(name: &str, value: u64) -> Fact {
    Fact { name: name.into(), value, unit: String::new(), note: String::new() }
}

/// The verdict of an experiment on a claim.
pub fn verdict(experiment: &Experiment, report: &Report, id: &str) -> Verdict {
    let claims = experiment.judge(report);
    claims.iter().find(|claim| claim.id == id).expect("the claim is judged").verdict
}

/// Checks that claims have a verdict.
pub fn expect(experiment: &Experiment, report: &Report, expected: Verdict, ids: &[&str]) {
    let claims = experiment.judge(report);
    for id in ids {
        let claim = claims.iter().find(|claim| claim.id == *id).expect("the claim is judged");
        assert_eq!(claim.verdict, expected, "{id}: {}", claim.evidence);
    }
}

/// Checks that all claims of an experiment but some are reproduced.
pub fn all_hold(experiment: &Experiment, report: &Report, but: &[&str]) {
    let own = experiment.judge(report);
    let ids: Vec<&str> =
        own.iter().map(|claim| &*claim.id).filter(|id| !but.contains(id)).collect();
    assert!(!ids.is_empty());
    expect(experiment, report, Verdict::Reproduced, &ids);
}
