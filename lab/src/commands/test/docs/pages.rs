//! The pages, and the jobs that judge them.

use super::figures::{self, Cells, Records};
use super::page::{self, Block, Note, Piece, Table};
use super::prose;
use super::script::{self, Script};
use super::verdicts;
use crate::cli::{Cli, Group};
use crate::commands::lab;
use crate::commands::test::findings::{Findings, nothing_of};
use crate::commands::test::job::{Class, Job};
use crate::scoreboard::Recorded;
use crate::tidy::{self, links};
use crate::workspace;
use anyhow::{Result, anyhow};
use clap::Parser;
use clap::error::ErrorKind;
use fs_err as fs;
use std::collections::BTreeMap;

/// What notes may say.
const KNOWN: [&str; 10] = [
    "deep", "alone", "copy", "status", "numbers", "file", "run by", "not run", "figures", "by hand",
];

/// What changed, which was true at its time.
const HISTORY: &str = "CHANGELOG.md";
/// Where the design notes are.
const DESIGN: &str = "docs/design";

/// A page: its name from the root of the work tree, and what it shows.
pub struct Page {
    pub name: String,
    pub text: String,
    pub pieces: Vec<Piece>,
}

/// A block that nothing runs, and why.
pub struct Left {
    /// Where it stands.
    pub place: String,
    /// The reason that the page gives.
    pub reason: String,
}

/// Every page that is for readers.
fn all() -> Result<Vec<Page>> {
    let pages = links::files(workspace::root())?;
    let names = pages.iter().map(|page| page.to_string_lossy().into_owned());
    names.filter(|name| name != HISTORY).map(load).collect()
}

fn load(name: String) -> Result<Page> {
    let text = fs::read_to_string(workspace::root().join(&name))?;
    let pieces = page::read(&text).map_err(|error| anyhow!("{name}: {error}"))?;
    Ok(Page { name, text, pieces })
}

/// A job for each page, and one for each block of commands; `others` are the names of jobs that may
/// run a block instead.
pub fn jobs(others: &[String]) -> Result<Vec<Job>> {
    let mut jobs = Vec::new();
    for page in all()? {
        let scripts = script::of(&page);
        jobs.extend(scripts.into_iter().map(Script::job));
        let name = format!("{}, what it says", page.name);
        let others = others.to_vec();
        let work = move |findings: &mut Findings| said(findings, &page, &others);
        jobs.push(Job::new(Group::Docs, name, work).class(Class::Quick).seconds(0.1));
    }
    Ok(jobs)
}

/// Blocks that nothing runs.
pub fn left() -> Result<Vec<Left>> {
    let mut left = Vec::new();
    for page in all()? {
        for piece in &page.pieces {
            if let Piece::Block(block) = piece
                && let Some(reason) = block.note.get("not run")
            {
                let place = format!("{}:{}", page.name, block.line);
                left.push(Left { place, reason: reason.to_string() });
            }
        }
    }
    Ok(left)
}

/// Judges what can be judged without running anything.
fn said(findings: &mut Findings, page: &Page, others: &[String]) -> Result<()> {
    let records = records()?;
    let (mut uncovered, mut stale) = (Vec::new(), Vec::new());
    for (at, piece) in page.pieces.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| &page.pieces[at]);
        let (line, complaint) = match piece {
            Piece::Block(block) => (block.line, block_complaint(block, before, others)),
            Piece::Table(table) => (table.line, table_complaint(table)),
        };
        uncovered.extend(complaint.map(|why| format!("{}:{line}: {why}", page.name)));
        if let Piece::Table(table) = piece {
            let place = |why: String| format!("{}:{}: {why}", page.name, table.line);
            match wrong(table, &records) {
                Ok(wrong) => stale.extend(wrong.into_iter().map(place)),
                Err(why) => stale.push(place(why)),
            }
        }
    }
    if has_figures(page) {
        let wrong = prose::complaints(&page.text, &page.pieces, &records).into_iter();
        stale.extend(wrong.map(|(line, why)| format!("{}:{line}: {why}", page.name)));
    }
    let commands = page::code_spans(&page.text);
    let commands = commands.iter().filter_map(|command| impossible(command));
    let name = &page.name;
    findings.record(format!("{name}: blocks and tables are judged"), nothing_of(uncovered));
    findings.record(format!("{name}: figures are the recorded ones"), nothing_of(stale));
    findings.record(format!("{name}: commands in the text exist"), nothing_of(commands));
    let verdicts = verdicts::stale(&page.text, &Recorded::load()?);
    findings.record(format!("{name}: verdicts are recorded ones"), nothing_of(verdicts));
    Ok(())
}

/// Whether the figures in a page's sentences are of today: design notes tell what was measured when
/// something was decided, also of what was not taken; and the page of all commands is made of texts
/// that have settings alone.
fn has_figures(page: &Page) -> bool {
    !page.name.starts_with(DESIGN) && page.name != tidy::commands::PATH
}

fn records() -> Result<Records> {
    let golden = fs::read_to_string(lab::golden_path())?;
    Records::new(&golden).map_err(|error| anyhow!(error))
}

fn unknown(note: &Note) -> Option<String> {
    let rule = |text: &str| note.get("figures").is_some() && text.contains(" = ");
    let known = |name: &str, value: &str| KNOWN.contains(&name) || rule(name) || rule(value);
    let (wrong, _) = note.0.iter().find(|(name, value)| !known(name, value))?;
    Some(format!("the comment above says `{wrong}`, not one of {}", KNOWN.join(", ")))
}

/// What is wrong with how a block is judged.
fn block_complaint(block: &Block, before: Option<&Piece>, others: &[String]) -> Option<String> {
    let note = |name: &str| block.note.get(name);
    let commands = block.body.iter().any(|line| line.trim_start().starts_with("./giusto "));
    let shown = matches!(before, Some(Piece::Block(before)) if before.language == "sh");
    let excused = note("not run").or(note("file")).is_some();
    if note("not run") == Some("") {
        return Some("`not run` without a reason".to_string());
    }
    if let Some(job) = note("run by").filter(|job| !others.iter().any(|other| other == job)) {
        return Some(format!("there is no job `{job}` that would run it"));
    }
    match block.language.as_str() {
        "sh" => unknown(&block.note),
        "" => Some("a block without a language".to_string()),
        _ if commands => Some("commands stand in a block of `sh`".to_string()),
        "text" if !shown && !excused => {
            Some("an output stands behind the block of its command".to_string())
        }
        _ => unknown(&block.note),
    }
}

/// What is wrong with how a table is judged: figures of kernels need a rule, and so do tables that
/// are figures for the most part.
fn table_complaint(table: &Table) -> Option<String> {
    let judged = table.note.get("figures").or(table.note.get("by hand"));
    if judged == Some("") {
        return Some("a comment that names neither an experiment nor a reason".to_string());
    }
    let kernel = |cell: &String| {
        manifest::ALL_KERNELS.iter().any(|name| cell.contains(&format!("`{name}`")))
    };
    let number = |cell: &String| figures::number(cell).is_some();
    let figures = table.rows.iter().any(|row| row.iter().skip(1).any(number));
    let labels = table.rows.iter().filter_map(|row| row.first());
    let measured = table.heading.iter().any(|heading| heading.contains("instructions"))
        || table.heading.iter().chain(labels).any(kernel);
    let cells = || table.rows.iter().flat_map(|row| row.iter().skip(1));
    let is_figure = |cell: &&String| cell.starts_with(|first: char| first.is_ascii_digit());
    let mostly = 2 * cells().filter(is_figure).count() > cells().count();
    if (mostly || figures && measured) && judged.is_none() {
        return Some("a table of figures without `figures: ...` or `by hand: ...`".to_string());
    }
    unknown(&table.note)
}

/// The cells of a table that must be others.
fn changed(table: &Table, records: &Records) -> Result<Cells, String> {
    if table.note.get("figures").is_none() {
        return Ok(Cells::new());
    }
    let mut cells = figures::expected(table, records)?;
    cells.retain(|(row, column), text| table.rows[*row][*column] != *text);
    Ok(cells)
}

fn wrong(table: &Table, records: &Records) -> Result<Vec<String>, String> {
    let sentence = |((row, column), text): ((usize, usize), String)| {
        let (label, shown) = (&table.rows[row][0], &table.rows[row][column]);
        format!("{label}, {}: it says {shown}, recorded is {text}", table.heading[column])
    };
    Ok(changed(table, records)?.into_iter().map(sentence).collect())
}

/// Why a command in the text cannot be given, if it is one of ours.
fn impossible(command: &str) -> Option<String> {
    let is_own = |word: &&str| !word.starts_with(['>', '|']);
    let words = command.split_whitespace().take_while(is_own);
    let words: Vec<&str> = words.filter(|word| *word != "--no-install").collect();
    let capital = |word: &str| word.chars().all(|c| c.is_ascii_uppercase());
    let placeholder = |word: &&str| word.contains("...") || capital(word);
    if words.first() != Some(&"./giusto") || words.iter().any(placeholder) {
        return None;
    }
    let error = Cli::try_parse_from(&words).err()?;
    // It may be named without what it takes.
    let named = [
        ErrorKind::MissingRequiredArgument,
        ErrorKind::MissingSubcommand,
        ErrorKind::DisplayHelp,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
    ];
    let first = error.to_string().lines().next().unwrap_or_default().to_string();
    (!named.contains(&error.kind())).then(|| format!("`{command}`: {first}"))
}

/// Writes recorded figures into tables, and what commands print behind their blocks; returns how
/// many places have changed. Blocks that take long are left as they are, unless `deep`.
pub fn update(deep: bool) -> Result<usize> {
    let records = records()?;
    let mut changes = 0;
    for page in all()? {
        let mut lines: Vec<String> = page.text.lines().map(str::to_string).collect();
        for table in page.pieces.iter().filter_map(table) {
            let cells = changed(table, &records).map_err(|why| anyhow!("{}: {why}", page.name))?;
            let mut rows: BTreeMap<usize, BTreeMap<usize, &str>> = BTreeMap::new();
            for ((row, column), text) in &cells {
                rows.entry(*row).or_default().insert(*column, text);
            }
            for (row, new) in rows {
                // The line of the heading counts from 1, and the rows begin two lines below.
                let line = &mut lines[table.line + 1 + row];
                *line = figures::replaced(line, &new);
                changes += 1;
            }
        }
        for line in lines.iter_mut().filter(|_| has_figures(&page)) {
            let new = prose::updated(line, &records);
            changes += usize::from(*line != new);
            *line = new;
        }
        // From the end, so that lines in front keep their numbers.
        for script in script::of(&page).into_iter().rev().filter(|script| deep || !script.deep) {
            if let Some((range, new)) = script.replacement()? {
                lines.splice(range, new);
                changes += 1;
            }
        }
        fs::write(workspace::root().join(&page.name), lines.join("\n") + "\n")?;
    }
    Ok(changes)
}

fn table(piece: &Piece) -> Option<&Table> {
    match piece {
        Piece::Table(table) => Some(table),
        Piece::Block(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str) -> Vec<String> {
        let (name, text) = ("p.md".to_string(), text.to_string());
        let page = Page { pieces: page::read(&text).unwrap(), name, text };
        let mut findings = Findings::default();
        said(&mut findings, &page, &["demo".to_string()]).unwrap();
        findings.0.into_iter().filter_map(|finding| finding.failure).collect()
    }

    #[test]
    fn what_nothing_judges_is_found() {
        let one = |text: &str, expected: &str| {
            let failures = judged(text);
            let found = failures.iter().any(|failure| failure.contains(expected));
            assert!(failures.len() == 1 && found, "{text}: {failures:?}");
        };
        one("```\nx\n```\n", "p.md:1: a block without a language");
        one("```text\nx\n```\n", "an output stands behind");
        one("```text\n./giusto run hello\n```\n", "block of `sh`");
        one("<!-- not run -->\n```sh\nx\n```\n", "without a reason");
        one("<!-- run by: dmo -->\n```sh\nx\n```\n", "there is no job `dmo`");
        one("<!-- depe -->\n```sh\nx\n```\n", "`depe`, not one of deep");
        one("| | instructions |\n|-|-|\n| a | 3 |\n", "a table of figures without");
        one("| kernel | n |\n|-|-|\n| `fastpath` | 3 |\n", "a table of figures without");
        one("So `./giusto run hello --fast` runs.\n", "unexpected argument '--fast'");
        let rule = "<!-- figures: micro; fastpath = {column} {row} -->\n";
        one(
            &format!("{rule}| | `fastpath` |\n|-|-|\n| null-call | 1 |\n"),
            "it says 1, recorded is",
        );
    }

    #[test]
    fn what_is_judged_is_right() {
        let page = "<!-- run by: demo -->\n```sh\n./giusto tidy\n```\n\n```text\nok\n```\n\n\
            <!-- not run: a picture -->\n```text\n-->\n```\n\n```rust\nfn main() {}\n```\n\n\
            | kernel | who |\n|-|-|\n| `fastpath` | direct |\n\n\
            <!-- by hand: of one host -->\n| | instructions |\n|-|-|\n| a | 3 |\n\n\
            See `./giusto run SYSTEM`, `./giusto lab compare` and `--any`.\n";
        assert_eq!(judged(page), Vec::<String>::new());
    }
}
