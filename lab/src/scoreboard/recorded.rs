//! The verdicts that the repository records: what a later run must find again.

use super::claim_of;
use crate::experiment::{Experiment, find, is_listed};
use crate::workspace;
use anyhow::{Context, Result};
use results::{Claim, Origin, Report, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

const HEAD: &str = "# Verdicts on the papers' claims, by machine. `./giusto lab claims` compares; \
                    `--update` records.\n";

/// Verdicts by machine and claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded(BTreeMap<String, BTreeMap<String, Verdict>>);

/// Where they stand.
pub fn path() -> PathBuf {
    workspace::root().join("tests/claims.toml")
}

impl Recorded {
    /// Reads them.
    pub fn load() -> Result<Recorded> {
        let path = path();
        let text = fs_err::read_to_string(&path)?;
        Recorded::parse(&text).with_context(|| format!("{} is damaged", path.display()))
    }

    /// Reads them from text.
    pub fn parse(text: &str) -> Result<Recorded> {
        Ok(Recorded(toml::from_str(text)?))
    }

    /// What is recorded of a claim.
    pub fn verdict(&self, machine: &str, id: &str) -> Option<Verdict> {
        self.0.get(machine)?.get(id).copied()
    }

    /// The claims that something is recorded of.
    pub fn ids(&self, machine: &str) -> impl Iterator<Item = &str> {
        self.0.get(machine).into_iter().flat_map(|claims| claims.keys().map(String::as_str))
    }

    /// Records a verdict.
    pub fn record(&mut self, machine: &str, id: &str, verdict: Verdict) {
        self.0.entry(machine.to_string()).or_default().insert(id.to_string(), verdict);
    }

    /// Records all verdicts of a report, and forgets parts that its claims no longer have. One of a
    /// machine on which its experiment does not run is no result, and what was not judged leaves
    /// the recorded verdict as it is.
    pub fn update(&mut self, report: &Report) {
        if !is_listed(report) {
            return;
        }
        let judged = |claim: &&Claim| claim.verdict != Verdict::NotJudged;
        let of_report =
            |id: &str| report.claims.iter().any(|claim| claim_of(&claim.id) == claim_of(id));
        let skipped = |id: &str| report.claims.iter().any(|c| c.id == id && !judged(&c));
        self.0
            .entry(report.machine.clone())
            .or_default()
            .retain(|id, _| !of_report(id) || skipped(id));
        for claim in report.claims.iter().filter(judged) {
            self.record(&report.machine, &claim.id, claim.verdict);
        }
    }

    /// In which verdicts a report and the record differ, both ways: a claim of the report's
    /// experiment that is recorded and was not judged is one, too. On real hardware, which differs
    /// from host to host, claims count that both have decided.
    pub fn differences(&self, report: &Report) -> Vec<String> {
        let machine = report.machine.as_str();
        let hardware = report.origin == Origin::HARDWARE;
        let differs = |claim: &&Claim| {
            let recorded = self.verdict(machine, &claim.id);
            let both = is_decided(Some(claim.verdict)) && is_decided(recorded);
            recorded != Some(claim.verdict) && (!hardware || both)
        };
        let found = report.claims.iter().filter(differs).map(|claim| {
            let recorded = self.verdict(machine, &claim.id).map_or("nothing", Verdict::name);
            let Claim { id, verdict, evidence, .. } = claim;
            format!("{id} is now {}, recorded is {recorded}: {evidence}", verdict.name())
        });
        let judged = |id: &&str| report.claims.iter().any(|claim| claim.id == **id);
        let vanished = self.ids_of(machine, &report.experiment).filter(|id| !judged(id));
        let vanished = vanished.map(|id| format!("{id} is recorded, and was not judged"));
        found.chain(vanished).collect()
    }

    /// Whether a claim of an experiment is recorded as reproduced or contradicted on a machine.
    pub fn decides(&self, machine: &str, experiment: &str) -> bool {
        self.ids_of(machine, experiment).any(|id| is_decided(self.verdict(machine, id)))
    }

    /// What is recorded of the claims of an experiment; it may judge them no longer.
    fn ids_of<'a>(&'a self, machine: &'a str, experiment: &str) -> impl Iterator<Item = &'a str> {
        let own: Vec<&str> = find(experiment).into_iter().flat_map(Experiment::decides).collect();
        self.ids(machine).filter(move |id| own.contains(&claim_of(id)))
    }

    /// The text of the file.
    pub fn spell(&self) -> String {
        let mut text = HEAD.to_string();
        for (machine, claims) in &self.0 {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\n[{machine}]");
            for (id, verdict) in claims {
                let _ = writeln!(text, "{id} = \"{}\"", verdict.name());
            }
        }
        text
    }

    /// Writes them.
    pub fn save(&self) -> Result<()> {
        Ok(fs_err::write(path(), self.spell())?)
    }
}

/// Whether a verdict says that a claim holds or that it does not.
fn is_decided(verdict: Option<Verdict>) -> bool {
    matches!(verdict, Some(Verdict::Reproduced | Verdict::Contradicted))
}
