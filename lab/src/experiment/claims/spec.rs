//! Claims as data: the paper's setting, ours on each machine, and the bands that decide.
//!
//! A claim holds if each of its figures lies within its band. There is no other way to a verdict,
//! so the band that is printed is the one that judged.

use results::{Bound, Claim, Judged, Report, Verdict};
use serde::Serialize;

/// What was measured on what: aspects with their values.
pub type Setting = &'static [(&'static str, &'static str)];

/// A claim of a paper.
#[derive(Serialize)]
pub struct Spec {
    /// Its identity in the ledger, with a letter if it is a part of a claim.
    pub id: &'static str,
    /// What it says, in a sentence.
    #[serde(skip)]
    pub statement: &'static str,
    /// What the paper measured on what.
    pub paper: Setting,
    /// What we measure on what, by machine: a value for each of the paper's aspects.
    pub ours: &'static [(&'static str, Setting)],
    /// Why a report cannot tell whether the claim holds, if it cannot.
    #[serde(skip)]
    pub hidden: fn(&Report) -> Option<String>,
    /// The figures that decide, with their bands.
    pub bands: &'static [Band],
    /// What else there is to say about the figures.
    #[serde(skip)]
    pub remark: fn(&Report) -> Option<String>,
}

/// A figure and where it must lie for the claim to hold.
#[derive(Serialize)]
pub struct Band {
    /// What is measured.
    pub quantity: &'static str,
    /// Of what; empty for plain numbers.
    pub unit: &'static str,
    /// Where it must lie.
    pub bound: Bound,
    /// What the band rests on.
    pub from: &'static str,
    /// The figure of a report; none if the report lacks its rows.
    #[serde(skip)]
    pub figure: fn(&Report) -> Option<f64>,
}

/// What is nearer to 0 is what rounding leaves of a difference.
const NOISE: f64 = 1e-9;

impl Spec {
    /// Judges a report.
    pub fn judge(&self, report: &Report) -> Claim {
        let judged = match (self.hidden)(report) {
            Some(why) => Err(why),
            None => self.figures(report),
        };
        let (verdict, evidence, judged) = match judged {
            Err(why) => (Verdict::NotObservable, why, Vec::new()),
            Ok(judged) => {
                let held = judged.iter().all(Judged::holds);
                let verdict = if held { Verdict::Reproduced } else { Verdict::Contradicted };
                (verdict, self.evidence(report, &judged), judged)
            }
        };
        let (id, statement) = (self.id.to_string(), self.statement.to_string());
        Claim { id, statement, verdict, evidence, judged }
    }

    fn figures(&self, report: &Report) -> Result<Vec<Judged>, String> {
        let judge = |band: &Band| {
            let value = (band.figure)(report).filter(|value| value.is_finite());
            let value = value.ok_or_else(|| format!("the run does not tell: {}", band.quantity))?;
            let value = if value.abs() < NOISE { 0.0 } else { value };
            let (quantity, unit) = (band.quantity.to_string(), band.unit.to_string());
            Ok(Judged { quantity, value, unit, bound: band.bound })
        };
        if self.bands.is_empty() {
            return Err("no band is stated".to_string());
        }
        self.bands.iter().map(judge).collect()
    }

    fn evidence(&self, report: &Report, judged: &[Judged]) -> String {
        let figures = judged.iter().map(ToString::to_string);
        figures.chain((self.remark)(report)).collect::<Vec<_>>().join("; ")
    }
}

/// Judges a report by each of these.
pub fn judge(specs: &[Spec], report: &Report) -> Vec<Claim> {
    specs.iter().map(|spec| spec.judge(report)).collect()
}

/// Nothing hides the claim.
pub fn visible(_: &Report) -> Option<String> {
    None
}

/// There is nothing more to say.
pub fn silent(_: &Report) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::super::testing::report;
    use super::*;

    const SPEC: Spec = Spec {
        id: "S9-C01",
        statement: "A message takes its time",
        paper: &[],
        ours: &[],
        hidden: |report| (report.unit != "instructions").then(|| "no instructions".to_string()),
        bands: &[
            Band {
                quantity: "a message",
                unit: "instructions",
                bound: Bound::AtMost(100.0),
                from: "this test",
                figure: |report| super::super::median(report, "fastpath", "message", ""),
            },
            Band {
                quantity: "the inverse of the other",
                unit: "",
                bound: Bound::Above(0.1),
                from: "this test",
                figure: |report| Some(1.0 / super::super::median(report, "fastpath", "other", "")?),
            },
        ],
        remark: |report| (report.seed == 1).then(|| "of seed 1".to_string()),
    };

    fn judge(message: u64, other: u64) -> Claim {
        let rows = [("fastpath", "message", "", message), ("fastpath", "other", "", other)];
        SPEC.judge(&report("twin", &rows))
    }

    #[test]
    fn a_claim_holds_if_each_figure_lies_within_its_band() {
        let claim = judge(100, 4);
        assert_eq!(claim.verdict, Verdict::Reproduced);
        let evidence = "a message: 100 instructions (at most 100); the inverse of the other: \
                        0.250 (above 0.1); of seed 1";
        assert_eq!(claim.evidence, evidence);
        let claim = judge(101, 4);
        assert_eq!(claim.verdict, Verdict::Contradicted);
        assert_eq!([claim.judged[0].holds(), claim.judged[1].holds()], [false, true]);
        let claim = judge(100, 20);
        assert_eq!(claim.verdict, Verdict::Contradicted);
        assert_eq!([claim.judged[0].holds(), claim.judged[1].holds()], [true, false]);
    }

    #[test]
    fn what_has_no_figure_is_not_judged() {
        let claim = judge(100, 0);
        assert_eq!(claim.verdict, Verdict::NotObservable);
        assert_eq!(claim.evidence, "the run does not tell: the inverse of the other");
        let mut report = report("twin", &[("fastpath", "message", "", 1)]);
        assert_eq!(SPEC.judge(&report).verdict, Verdict::NotObservable);
        report.unit = "ticks".into();
        assert_eq!(SPEC.judge(&report).evidence, "no instructions");
        let bare = Spec { bands: &[], hidden: visible, remark: silent, ..SPEC };
        assert_eq!(bare.judge(&report).evidence, "no band is stated");
    }
}
