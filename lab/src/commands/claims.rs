//! `lab claims`: the scoreboard.

use super::{lab, print_json};
use crate::cli::Claims;
use crate::experiment::{self, Setup};
use crate::failure::Verdict as Held;
use crate::machine::MACHINES;
use crate::output;
use crate::scoreboard::{self, Entry, Recorded};
use anyhow::Result;
use results::Verdict;
use serde_json::json;
use std::collections::BTreeMap;

/// Columns of evidence.
const WIDTH: usize = 94;

/// Shows the scoreboard; it holds unless a verdict differs from the recorded one.
pub fn claims(asked: &Claims, as_json: bool) -> Result<Held> {
    let wanted = |machine: &str| asked.machine.as_deref().is_none_or(|only| only == machine);
    if asked.run {
        for machine in MACHINES.into_iter().filter(|machine| wanted(machine.name())) {
            let setup = Setup::new(machine, 1)?;
            for name in scoreboard::experiments(machine.name()) {
                let experiment = experiment::find(name).expect("it comes from the list");
                lab::measure(experiment, &setup, experiment.kernels)?;
            }
        }
    }
    let found = scoreboard::found(&lab::whole_runs()?);
    let mut recorded = if asked.update { Recorded::default() } else { Recorded::load()? };
    if asked.update {
        for (machine, claims) in &found {
            claims.iter().for_each(|claim| recorded.record(machine, &claim.id, claim.verdict));
        }
        recorded.save()?;
    }
    let entries: Vec<Entry> = scoreboard::entries(&found, &recorded)
        .into_iter()
        .filter(|entry| entry.machine.is_empty() || wanted(&entry.machine))
        .collect();
    let differing = entries.iter().filter(|entry| entry.differs()).count();
    if as_json {
        print_json(&json!({"held": differing == 0, "claims": entries}));
    } else {
        show(&entries, asked.all);
    }
    Ok(Held::from_bool(differing == 0))
}

fn show(entries: &[Entry], all: bool) {
    let (decided, open): (Vec<_>, Vec<_>) =
        entries.iter().partition(|entry| !entry.machine.is_empty());
    for entry in &decided {
        let verdict = entry.found.or(entry.recorded).map_or("not yet", spell);
        let note = match (entry.found, entry.recorded) {
            (None, _) => "  (as recorded; `--run` measures)".to_string(),
            (Some(found), Some(recorded)) if found != recorded => {
                format!("  DIFFERS from the record: {}", spell(recorded))
            }
            (Some(_), None) => "  DIFFERS from the record, which does not have it".to_string(),
            _ => String::new(),
        };
        output::line(format_args!("{:8} {:12} {verdict}{note}", entry.id, entry.machine));
        let text = match entry.evidence.as_str() {
            "" => entry.statement.clone(),
            evidence => format!("{}: {evidence}", entry.statement.trim_end_matches('.')),
        };
        for line in wrap(&text, WIDTH) {
            output::line(format_args!("      {line}"));
        }
    }
    if all {
        for entry in &open {
            output::line(format_args!("{:8} {:12} not yet", entry.id, ""));
            output::line(format_args!("      {}", entry.statement));
        }
    }
    output::line(tally(&decided, open.len()));
    if !all && !open.is_empty() {
        output::line(format_args!(
            "`--all` lists the {} claims that are not yet decided",
            open.len()
        ));
    }
}

/// How many of each, in a sentence for each machine.
fn tally(decided: &[&Entry], open: usize) -> String {
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for entry in decided {
        let verdict = entry.found.or(entry.recorded);
        let column = match verdict {
            Some(Verdict::Reproduced) => 0,
            Some(Verdict::Contradicted) => 1,
            _ => 2,
        };
        counts.entry(&entry.machine).or_default()[column] += 1;
    }
    let sentence = |(machine, [good, bad, hidden]): (&&str, &[usize; 3])| {
        format!("{machine}: {good} reproduced, {bad} contradicted, {hidden} not observable")
    };
    let machines: Vec<String> = counts.iter().map(sentence).collect();
    format!("\n{}; {open} claims not yet", machines.join("; "))
}

/// A verdict as people say it.
pub fn spell(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "reproduced",
        Verdict::Contradicted => "contradicted",
        Verdict::NotObservable => "not observable here",
    }
}

/// Breaks a text between words.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}
