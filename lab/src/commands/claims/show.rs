//! How the scoreboard reads on a terminal.

use crate::commands::{counted, fitted, table, wrapped};
use crate::output;
use crate::scoreboard::{Judged, Line, Standing, combined};
use comfy_table::{ColumnConstraint, Width};
use results::Verdict;

/// Columns of a verdict at most.
const VERDICT: u16 = 16;

/// What is decided, why claims were not reproduced, what is not yet, and how many of each.
pub fn text(board: &[Line], machines: &[&str], commit: &str) -> String {
    let (decided, open): (Vec<&Line>, Vec<&Line>) =
        board.iter().partition(|line| !line.claim.machines.is_empty());
    let mut text = if decided.is_empty() { String::new() } else { scores(&decided, machines) };
    for line in decided {
        text += &evidence(line);
    }
    if !open.is_empty() {
        text += "\nnot yet:\n";
    }
    for line in open {
        text += &wrapped(&line.claim.cited(), " ", "   ");
    }
    let tallies: String = machines.iter().map(|machine| tally(board, machine)).collect();
    text + "\n" + &tallies + &notes(board, commit)
}

/// A line a claim and a line a part; a column a machine.
fn scores(board: &[&Line], machines: &[&str]) -> String {
    let mut headings = vec!["claim", "ledger"];
    headings.extend(machines);
    let mut table = table(&headings);
    for line in board {
        let mut row = vec![line.claim.statement.clone(), line.claim.id.clone()];
        row.extend(machines.iter().map(|machine| whole(line, machine)));
        table.add_row(row);
        for part in &line.parts {
            let mut row = vec![part.statement.clone(), part.id.clone()];
            row.extend(machines.iter().map(|machine| single(part, machine)));
            table.add_row(row);
        }
    }
    // What claims say gets the room that verdicts leave.
    let left = (output::columns() as u16).saturating_sub(10 + VERDICT * machines.len() as u16);
    for column in table.column_iter_mut() {
        column.set_constraint(match column.index {
            0 => ColumnConstraint::Absolute(Width::Fixed(left.max(VERDICT))),
            _ => ColumnConstraint::UpperBoundary(Width::Fixed(VERDICT)),
        });
    }
    fitted(table)
}

/// The cell of a claim; one with parts says how many.
fn whole(line: &Line, machine: &str) -> String {
    if line.parts.is_empty() {
        return single(&line.claim, machine);
    }
    let verdicts = line.verdicts(machine);
    let Some(verdict) = combined(&verdicts) else { return "not yet".to_string() };
    let count = verdicts.iter().filter(|other| **other == verdict).count();
    if count == verdicts.len() {
        return verdict.words().to_string();
    }
    format!("{} ({count} of {})", verdict.words(), verdicts.len())
}

fn single(judged: &Judged, machine: &str) -> String {
    let standing = judged.machines.iter().find(|standing| standing.machine == machine);
    match standing.and_then(|standing| Some((standing, standing.verdict()?))) {
        Some((standing, verdict)) => format!("{}{}", verdict.words(), mark(standing)),
        None => "not yet".to_string(),
    }
}

/// Whether a verdict is not a result, or another one than recorded.
fn mark(standing: &Standing) -> &'static str {
    match standing.found {
        None => " *",
        Some(_) if standing.differs() => " !",
        Some(_) => "",
    }
}

/// Why claims were not reproduced.
fn evidence(line: &Line) -> String {
    let mut text = String::new();
    for judged in line.judged() {
        for standing in &judged.machines {
            let Some(verdict) = standing.found else { continue };
            if verdict != Verdict::Reproduced {
                let head = format!("{} on {}:", verdict.words(), standing.machine);
                text += &wrapped(&format!("{head} {}", judged.cited()), "\n", "  ");
                text += &wrapped(&standing.evidence, "    ", "    ");
            }
        }
    }
    text
}

/// How many claims a machine has decided, and how.
fn tally(board: &[Line], machine: &str) -> String {
    let verdicts: Vec<_> = board.iter().map(|line| combined(&line.verdicts(machine))).collect();
    let count = |verdict: Option<Verdict>| verdicts.iter().filter(|v| **v == verdict).count();
    let text = format!(
        "{machine}: {} reproduced, {} contradicted, {} not observable, {} not yet, of {}",
        count(Some(Verdict::Reproduced)),
        count(Some(Verdict::Contradicted)),
        count(Some(Verdict::NotObservable)),
        count(None),
        counted(board.len(), "claim")
    );
    wrapped(&text, "", "    ")
}

/// What the marks mean, and what to do about them.
fn notes(board: &[Line], commit: &str) -> String {
    let judged = || board.iter().flat_map(Line::judged);
    let standings = || judged().flat_map(|judged| judged.machines.iter().map(move |s| (judged, s)));
    let mut text = String::new();
    if standings().any(|(_, standing)| standing.found.is_none()) {
        text += &wrapped(
            "*  as recorded in tests/claims.toml, without a result in this work tree; `--run` \
             measures",
            "",
            "   ",
        );
    }
    let old = standings().filter(|(_, s)| s.found.is_some() && s.commit != commit).count();
    if old > 0 {
        let all = counted(standings().count(), "verdict");
        text +=
            &format!("{old} of {all} rest on results of another commit; `--run` measures again\n");
    }
    for (judged, standing) in standings().filter(|(_, standing)| standing.differs()) {
        let found = standing.found.map_or("nothing", Verdict::words);
        let recorded = match standing.recorded {
            Some(verdict) => format!("recorded is {}", verdict.words()),
            None => "nothing is recorded".to_string(),
        };
        let said = format!("{found} on {}, but {recorded}: {}", standing.machine, judged.cited());
        text += &wrapped(&said, "!  ", "   ");
    }
    if standings().any(|(_, standing)| standing.differs()) {
        text += "!  `--update` records what was found, once it is understood\n";
    }
    text
}
