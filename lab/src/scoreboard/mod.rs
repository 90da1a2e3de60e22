//! The scoreboard: every claim of the ledger with what became of it on each machine.

mod recorded;

pub use recorded::Recorded;

use crate::experiment::EXPERIMENTS;
use crate::machine::MACHINES;
use results::{Claim, Report, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const LEDGER: &str = include_str!("ledger.toml");

#[derive(Deserialize)]
struct Ledger {
    claims: BTreeMap<String, String>,
}

/// A claim, or a part of one, on one machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its ID; a part has a letter behind its claim's.
    pub id: String,
    /// The claim in a sentence.
    pub statement: String,
    /// The machine; empty while no experiment decides it.
    pub machine: String,
    /// What a result on disk says.
    pub found: Option<Verdict>,
    /// What the repository records.
    pub recorded: Option<Verdict>,
    /// What the result says about it.
    pub evidence: String,
}

impl Entry {
    /// Whether the result differs from what is recorded.
    pub fn differs(&self) -> bool {
        self.found.is_some() && self.found != self.recorded
    }
}

/// All claims of the ledger, in its order: first documents, then numbers.
pub fn ledger() -> Vec<(String, String)> {
    let ledger: Ledger = toml::from_str(LEDGER).expect("the ledger in this crate is well-formed");
    ledger.claims.into_iter().collect()
}

/// Verdicts on claims and their parts, by machine.
pub type Found = BTreeMap<String, Vec<Claim>>;

/// Collects what reports say, the later ones counting.
pub fn found(reports: &[Report]) -> Found {
    let mut found = Found::new();
    for report in reports {
        let claims = found.entry(report.machine.clone()).or_default();
        for claim in &report.claims {
            claims.retain(|other| other.id != claim.id);
            claims.push(claim.clone());
        }
    }
    found
}

/// The scoreboard: for each claim a line, or a line for each of its parts on each machine.
pub fn entries(found: &Found, recorded: &Recorded) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (id, statement) in ledger() {
        let before = entries.len();
        for machine in MACHINES.iter().map(|machine| machine.name()) {
            let claims = found.get(machine).map(Vec::as_slice).unwrap_or_default();
            let is_part =
                |part: &str| part.trim_end_matches(|c: char| c.is_ascii_lowercase()) == id;
            let mut parts: Vec<&str> = claims
                .iter()
                .map(|claim| claim.id.as_str())
                .chain(recorded.ids(machine))
                .filter(|part| is_part(part))
                .collect();
            parts.sort_unstable();
            parts.dedup();
            for part in parts {
                let claim = claims.iter().find(|claim| claim.id == part);
                entries.push(Entry {
                    id: part.to_string(),
                    statement: claim.map_or_else(|| statement.clone(), |c| c.statement.clone()),
                    machine: machine.to_string(),
                    found: claim.map(|claim| claim.verdict),
                    recorded: recorded.verdict(machine, part),
                    evidence: claim.map(|claim| claim.evidence.clone()).unwrap_or_default(),
                });
            }
        }
        if entries.len() == before {
            entries.push(Entry {
                id,
                statement,
                machine: String::new(),
                found: None,
                recorded: None,
                evidence: String::new(),
            });
        }
    }
    entries
}

/// Names of the experiments that decide claims and run on a machine.
pub fn experiments(machine: &str) -> Vec<&'static str> {
    let deciding = EXPERIMENTS.into_iter().filter(|experiment| {
        experiment.machines.contains(&machine)
            && experiment.ledger.iter().any(|entry| entry.contains("-C"))
    });
    deciding.map(|experiment| experiment.name).collect()
}

#[cfg(test)]
mod tests;
