//! The scoreboard: every claim of the ledger with what became of it on each machine.

mod recorded;

pub use recorded::Recorded;

use crate::experiment::EXPERIMENTS;
use crate::machine::MEASURED;
use results::{Report, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

const LEDGER: &str = include_str!("ledger.toml");

/// A claim as the ledger has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its ID.
    pub id: String,
    /// The experiment or rule that it belongs to.
    pub from: String,
    /// What it says, in a sentence.
    pub statement: String,
}

/// All claims of the ledger: first by document, then by number.
pub fn ledger() -> Vec<Known> {
    type Ledger = BTreeMap<String, BTreeMap<String, String>>;
    let ledger: Ledger = toml::from_str(LEDGER).expect("the ledger in this crate is well-formed");
    let mut claims: Vec<Known> = ledger
        .into_iter()
        .flat_map(|(from, claims)| {
            claims.into_iter().map(move |(id, statement)| {
                let from = from.clone();
                Known { id, from, statement }
            })
        })
        .collect();
    claims.sort_by(|a, b| a.id.cmp(&b.id));
    claims
}

/// A claim, or a part of one, on one machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// The machine.
    pub machine: String,
    /// What a result on disk says.
    pub found: Option<Verdict>,
    /// What the repository records.
    pub recorded: Option<Verdict>,
    /// The figures that decided, in words.
    pub evidence: String,
    /// The same with their bands.
    pub judged: Vec<results::Judged>,
    /// The commit that was measured.
    pub commit: String,
}

impl Standing {
    /// The verdict: what was found, else what is recorded.
    pub fn verdict(&self) -> Option<Verdict> {
        self.found.or(self.recorded)
    }

    /// Whether the result differs from what is recorded.
    pub fn differs(&self) -> bool {
        self.found.is_some() && self.found != self.recorded
    }
}

/// A claim or a part of one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// Its ID; a part has a letter behind its claim's.
    pub id: String,
    /// What it says, in a sentence.
    pub statement: String,
    /// What became of it; machines on which nothing did are left out.
    pub machines: Vec<Standing>,
}

impl Judged {
    /// What it says, with its ID behind.
    pub fn cited(&self) -> String {
        format!("{} ({})", self.statement.trim_end_matches('.'), self.id)
    }
}

/// A line of the scoreboard.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// The claim as a whole; its verdicts are those of its parts if it has some.
    #[serde(flatten)]
    pub claim: Judged,
    /// The experiment or rule of the ledger that it belongs to.
    pub from: String,
    /// Its parts, where it has some.
    pub parts: Vec<Judged>,
}

impl Line {
    /// What is judged by itself: the parts, or the claim if it has none.
    pub fn judged(&self) -> &[Judged] {
        if self.parts.is_empty() { std::slice::from_ref(&self.claim) } else { &self.parts }
    }

    /// Standings of what is judged by itself on a machine.
    pub fn on<'a>(&'a self, machine: &'a str) -> impl Iterator<Item = &'a Standing> {
        let standings = self.judged().iter().flat_map(|judged| &judged.machines);
        standings.filter(move |standing| standing.machine == machine)
    }

    /// Verdicts on a machine.
    pub fn verdicts(&self, machine: &str) -> Vec<Verdict> {
        self.on(machine).filter_map(Standing::verdict).collect()
    }
}

/// A claim is what its parts are: contradicted if one is, and reproduced if each that can be seen
/// is.
pub fn combined(verdicts: &[Verdict]) -> Option<Verdict> {
    let order =
        [Verdict::Contradicted, Verdict::Reproduced, Verdict::NotObservable, Verdict::NotJudged];
    order.into_iter().find(|verdict| verdicts.contains(verdict))
}

/// Joins the ledger, the reports (the later ones count) and the record.
pub fn board(reports: &[Report], recorded: &Recorded) -> Vec<Line> {
    let statements = statements();
    let line = |known: Known| {
        let whole = judged(&known.id, &known.statement, reports, recorded);
        let mut ids: Vec<&str> = found_ids(reports)
            .chain(MEASURED.iter().flat_map(|machine| recorded.ids(machine.name())))
            .filter(|id| *id != known.id && claim_of(id) == known.id)
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let part = |id: &str| {
            let statement = statements.get(id).map(String::as_str).unwrap_or_default();
            judged(id, statement, reports, recorded)
        };
        let parts = ids.into_iter().map(part).collect();
        let mut line = Line { claim: whole, from: known.from, parts };
        if !line.parts.is_empty() {
            let machines = MEASURED.iter().filter_map(|machine| whole_of(&line, machine.name()));
            line.claim.machines = machines.collect();
        }
        line
    };
    ledger().into_iter().map(line).collect()
}

/// The claim that an ID belongs to: itself, or without its letter.
pub fn claim_of(id: &str) -> &str {
    id.trim_end_matches(|letter: char| letter.is_ascii_lowercase())
}

fn found_ids(reports: &[Report]) -> impl Iterator<Item = &str> {
    reports.iter().flat_map(|report| &report.claims).map(|claim| claim.id.as_str())
}

/// What the claims of all experiments say, by ID.
fn statements() -> BTreeMap<String, String> {
    let claims = EXPERIMENTS.into_iter().flat_map(|experiment| (experiment.claims)());
    claims.map(|claim| (claim.id.to_string(), claim.statement.to_string())).collect()
}

fn judged(id: &str, statement: &str, reports: &[Report], recorded: &Recorded) -> Judged {
    let mut statement = statement.to_string();
    let mut machines = Vec::new();
    for machine in MEASURED.iter().map(|machine| machine.name()) {
        let reports = reports.iter().filter(|report| report.machine == machine);
        let claims =
            reports.flat_map(|report| report.claims.iter().map(move |claim| (report, claim)));
        // What a run did not judge says nothing, and hides no earlier verdict.
        let is_judged =
            |claim: &results::Claim| claim.id == id && claim.verdict != Verdict::NotJudged;
        let found = claims.rev().find(|(_, claim)| is_judged(claim));
        let recorded = recorded.verdict(machine, id);
        if let (Some((_, claim)), true) = (found, statement.is_empty()) {
            statement = claim.statement.clone();
        }
        if found.is_some() || recorded.is_some() {
            machines.push(Standing {
                machine: machine.to_string(),
                found: found.map(|(_, claim)| claim.verdict),
                recorded,
                evidence: found.map(|(_, claim)| claim.evidence.clone()).unwrap_or_default(),
                judged: found.map(|(_, claim)| claim.judged.clone()).unwrap_or_default(),
                commit: found.map(|(report, _)| report.commit.clone()).unwrap_or_default(),
            });
        }
    }
    Judged { id: id.to_string(), statement, machines }
}

/// What the parts of a claim come to on a machine: found if each part that is recorded was.
fn whole_of(line: &Line, machine: &str) -> Option<Standing> {
    let all = |side: fn(&Standing) -> Option<Verdict>| {
        combined(&line.on(machine).filter_map(side).collect::<Vec<_>>())
    };
    let first = line.on(machine).next()?;
    let missing = line.on(machine).any(|standing| standing.found.is_none());
    Some(Standing {
        machine: machine.to_string(),
        found: if missing { None } else { all(|standing| standing.found) },
        recorded: all(|standing| standing.recorded),
        evidence: String::new(),
        judged: Vec::new(),
        commit: first.commit.clone(),
    })
}

/// Names of the experiments that decide claims and run on a machine.
pub fn experiments(machine: &str) -> Vec<&'static str> {
    let deciding = EXPERIMENTS
        .into_iter()
        .filter(|experiment| experiment.runs_on(machine) && experiment.decides().next().is_some());
    deciding.map(|experiment| experiment.name).collect()
}

#[cfg(test)]
mod tests;
