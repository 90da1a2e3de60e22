//! `lab claims`: the scoreboard, and single claims with what decides them.

mod detail;
mod show;

use super::{lab, print_json};
use crate::cli::Claims;
use crate::experiment::claim::Spec;
use crate::experiment::{self, Asked, Experiment, Session};
use crate::failure::{Verdict as Held, did_you_mean, usage};
use crate::machine::MEASURED;
use crate::scoreboard::{self, Line, Recorded, Standing};
use crate::{output, workspace};
use anyhow::Result;
use serde_json::json;

/// Shows the scoreboard; it holds unless a verdict differs from the recorded one.
pub fn claims(asked: &Claims, as_json: bool) -> Result<Held> {
    let wanted = |machine: &str| asked.machine.as_deref().is_none_or(|only| only == machine);
    let ids = asked.ids.iter().map(|id| known(id)).collect::<Result<Vec<_>>>()?;
    if asked.run {
        let session = Session::new(Asked::seed(1));
        for machine in MEASURED.map(|machine| machine.name()).into_iter().filter(|m| wanted(m)) {
            measure(&session, machine)?;
        }
    }
    let mut reports = lab::whole_runs()?;
    reports.retain(|report| wanted(&report.machine));
    let mut recorded = Recorded::load()?;
    if asked.update {
        reports.iter().for_each(|report| recorded.update(report));
        recorded.save()?;
    }
    let machines: Vec<&str> =
        MEASURED.iter().map(|machine| machine.name()).filter(|name| wanted(name)).collect();
    let mut board = scoreboard::board(&reports, &recorded);
    board.retain(|line| ids.is_empty() || ids.contains(&line.claim.id));
    for judged in board.iter_mut().flat_map(|line| line.parts.iter_mut().chain([&mut line.claim])) {
        judged.machines.retain(|standing| wanted(&standing.machine));
    }
    let held =
        !board.iter().flat_map(Line::judged).flat_map(|j| &j.machines).any(Standing::differs);
    if as_json {
        let commit = workspace::commit();
        let specs = specs(&board);
        print_json(&json!({"held": held, "commit": commit, "claims": board, "specs": specs}));
    } else if ids.is_empty() {
        output::line(show::text(&board, &machines, &workspace::commit()));
    } else {
        output::line(detail::text(&board).trim_end());
    }
    Ok(Held::from_bool(held))
}

/// The data of what is judged by itself, with the experiment that decides it.
fn specs(board: &[Line]) -> Vec<serde_json::Value> {
    let judged = board.iter().flat_map(Line::judged);
    let found = judged.filter_map(|judged| experiment::claim::find(&judged.id));
    let claim = |(experiment, spec): (&Experiment, Spec)| {
        let claim = data(experiment, &spec);
        json!({"experiment": experiment.name, "claim": claim})
    };
    found.map(claim).collect()
}

/// A claim with both settings and its bands.
fn data(experiment: &Experiment, spec: &Spec) -> serde_json::Value {
    let paper: Vec<_> = spec.setting.iter().map(|(aspect, paper, _)| (aspect, paper)).collect();
    let ours = |machine: &'static str| {
        let values = spec.setting.iter().map(|(aspect, _, ours)| (*aspect, ours.on(machine)));
        (machine, values.collect::<Vec<_>>())
    };
    let ours: Vec<_> = experiment.platforms().map(ours).collect();
    json!({"id": spec.id, "paper": paper, "ours": ours, "bands": spec.bands})
}

/// Runs the experiments that decide claims on a machine.
fn measure(session: &Session, machine: &str) -> Result<()> {
    for name in scoreboard::experiments(machine) {
        let experiment = experiment::find(name).expect("it comes from the list");
        let listed = experiment.on(machine)?;
        lab::measure(listed, session, &listed.kernels())?;
    }
    Ok(())
}

/// The claim that an ID, or that of a part, is about.
fn known(id: &str) -> Result<String> {
    let wanted = id.to_ascii_uppercase();
    let ledger = scoreboard::ledger();
    let part = wanted.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    match ledger.iter().find(|claim| claim.id == part) {
        Some(claim) => Ok(claim.id.clone()),
        None => {
            let suggestion = did_you_mean(&wanted, ledger.iter().map(|claim| claim.id.as_str()));
            Err(usage(format!("the ledger has no claim `{id}`{suggestion}")))
        }
    }
}

#[cfg(test)]
mod tests;
