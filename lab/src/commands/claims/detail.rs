//! How a claim reads on a terminal: the paper's setting and ours, the bands, and the verdicts.

use crate::commands::{fitted, table, wrapped};
use crate::experiment::Experiment;
use crate::experiment::claim::{self, Spec};
use crate::scoreboard::{Judged, Line, Standing};
use results::{Verdict, rounded};

/// All there is to say about some claims.
pub fn text(board: &[Line]) -> String {
    let lines = board.iter().map(|line| {
        let mut text = wrapped(&line.claim.cited(), "", "  ");
        let name = |judged: &Judged| Some(claim::find(&judged.id)?.0.name);
        let by = line.judged().iter().find_map(name);
        let by = by.map(|name| format!("experiment {name}, ")).unwrap_or_default();
        text += &format!("{by}{} of the ledger\n", line.from);
        line.judged().iter().for_each(|judged| text += &part(line, judged));
        text
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A part of a claim, or a claim without parts.
fn part(line: &Line, judged: &Judged) -> String {
    let mut text = String::new();
    if judged.id != line.claim.id {
        text += &wrapped(&judged.cited(), "\n", "  ");
    }
    if let Some((experiment, spec)) = claim::find(&judged.id) {
        text += &settings(experiment, &spec);
        text += &bands(experiment, &spec, judged);
    }
    if judged.machines.is_empty() {
        text += "\n  not yet\n";
    }
    judged.machines.iter().for_each(|standing| text += &verdict(standing));
    text
}

/// The paper's setting beside ours.
fn settings(experiment: &Experiment, spec: &Spec) -> String {
    let headings = ["setting", "the paper"].into_iter().chain(experiment.platforms());
    let mut table = table(&headings.collect::<Vec<_>>());
    for (aspect, paper, ours) in spec.setting {
        let ours = experiment.platforms().map(|machine| ours.on(machine));
        table.add_row([aspect.to_string(), paper.to_string()].into_iter().chain(ours));
    }
    format!("\n{}", fitted(table))
}

/// The bands, with the figures of each machine.
fn bands(experiment: &Experiment, spec: &Spec, judged: &Judged) -> String {
    let headings = ["figure", "band", "from"].into_iter().chain(experiment.platforms());
    let mut table = table(&headings.collect::<Vec<_>>());
    for band in &spec.bands {
        let unit = if band.unit.is_empty() { String::new() } else { format!(" {}", band.unit) };
        let mut row =
            vec![band.quantity.to_string(), format!("{}{unit}", band.bound), band.from.to_string()];
        row.extend(experiment.platforms().map(|machine| {
            let standing = judged.machines.iter().find(|standing| standing.machine == machine);
            let mut figures = standing.into_iter().flat_map(|standing| &standing.judged);
            let figure = figures.find(|figure| figure.quantity == band.quantity);
            figure.map_or("-".to_string(), |figure| rounded(figure.value, 3))
        }));
        table.add_row(row);
    }
    if spec.bands.is_empty() { String::new() } else { format!("\n{}", fitted(table)) }
}

fn verdict(standing: &Standing) -> String {
    let recorded = standing.recorded.map_or("nothing", Verdict::words);
    let mut text = match standing.found {
        None => format!("\n  {}: {recorded}, as recorded; no result here\n", standing.machine),
        Some(found) if standing.differs() => {
            format!("\n  {}: {}, recorded is {recorded}\n", standing.machine, found.words())
        }
        Some(found) => format!("\n  {}: {}, as recorded\n", standing.machine, found.words()),
    };
    text += &indented(&standing.evidence);
    text
}

fn indented(text: &str) -> String {
    if text.is_empty() { String::new() } else { wrapped(text, "    ", "    ") }
}
