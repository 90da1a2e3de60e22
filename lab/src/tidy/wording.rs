//! How pages for users are written: sentences and cells that are read once, the field's words, and
//! no identities of a paper's claims. Results, internals and design notes are for others.

use super::{Finding, links};
use anyhow::Result;
use fs_err as fs;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::path::Path;
use unicode_segmentation::UnicodeSegmentation;

/// Words of a sentence at most.
const SENTENCE: usize = 40;
/// Words of a cell of a table at most.
const CELL: usize = 25;
/// What stands for code: a sentence may begin with it.
const CODE: &str = "Code";

/// Where pages for users stand: the front page, and these folders, but not those inside them.
const FOR_USERS: [&str; 2] = ["docs", "docs/policies"];
const FRONT: &str = "README.md";
const CONTENTS: &str = "docs/SUMMARY.md";

/// What a page for users does not say, and what stands instead.
const WORDS: [(&str, &str); 18] = [
    ("the ledger", "say what is claimed; docs/results has identities"),
    ("the paper", "name the mechanism; docs/results has papers"),
    ("the thesis", "name the mechanism; docs/results has papers"),
    ("whoever", "name the thread"),
    ("somebody", "name the thread"),
    ("nobody", "name the thread"),
    ("ring of waits", "wait cycle"),
    ("whole kernel open", "exclusive section"),
    ("passed over", "excluded from inheritance"),
    ("made again", "restarted"),
    ("anew", "again, or restarted"),
    ("exclusive access", "exclusive section"),
    ("comes home", "returns"),
    ("makes room", "yields, or is preempted"),
    ("look-up of the ready queue", "pick of the next thread"),
    ("stretch of time", "interval"),
    ("lines of memory", "cache lines"),
    ("counter steps", "ticks of the counter"),
];

/// Checks pages of the work tree at `root`.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in links::files(root)?.iter().filter(|path| is_for_users(path)) {
        let text = fs::read_to_string(root.join(path))?;
        findings.extend(judge(&path.to_string_lossy(), &text));
    }
    Ok(findings)
}

/// Whether a page is for users.
pub(super) fn is_for_users(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::to_str).unwrap_or_default();
    path == Path::new(FRONT) || (path != Path::new(CONTENTS) && FOR_USERS.contains(&folder))
}

/// A part of a page that is read at once.
pub(super) struct Part {
    pub line: usize,
    pub text: String,
    pub is_cell: bool,
    /// Where its links lead.
    pub links: Vec<String>,
}

fn judge(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for part in parts(text) {
        let mut find = |what: String, mend: &str| {
            findings.push(Finding::new(path, part.line, what, mend));
        };
        if part.is_cell {
            let words = part.text.split_whitespace().count();
            if words > CELL {
                find(format!("a cell of {words} words"), &format!("{CELL} at most: split it"));
            }
        } else {
            for sentence in part.text.unicode_sentences() {
                let words = sentence.split_whitespace().count();
                if words > SENTENCE {
                    let begin: Vec<&str> = sentence.split_whitespace().take(4).collect();
                    let what = format!("a sentence of {words} words: `{} ...`", begin.join(" "));
                    find(what, &format!("{SENTENCE} at most: split it"));
                }
            }
        }
        let lower = part.text.to_lowercase();
        for (word, instead) in WORDS.iter().filter(|(word, _)| has_word(&lower, word)) {
            find(format!("`{word}` on a page for users"), instead);
        }
        for identity in part.text.split(|c: char| !(c.is_alphanumeric() || c == '-')) {
            if is_identity(identity) {
                let what = format!("`{identity}` on a page for users");
                find(what, "say what it is, or move it to docs/results");
            }
        }
    }
    findings
}

/// Whether a text has a word, or words, as such.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(word).any(|(at, _)| {
        is_end(text[..at].chars().next_back()) && is_end(text[at + word.len()..].chars().next())
    })
}

/// Whether it names a claim or a rule of a source, as `S2B-C01` or `X-08` do.
fn is_identity(word: &str) -> bool {
    let Some((source, number)) = word.split_once('-') else { return false };
    let mut letters = source.chars();
    let is_source = match letters.next() {
        Some('X') => source.len() == 1,
        Some('S') => letters.next().is_some_and(|c| c.is_ascii_digit()) && source.len() <= 3,
        _ => false,
    };
    let number = number.trim_start_matches(['C', 'E']);
    is_source && number.len() >= 2 && number.chars().take(2).all(|c| c.is_ascii_digit())
}

/// Paragraphs, items and cells with their lines; no headings, and a word for what is code.
pub(super) fn parts(text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let (mut open, mut is_code) = (false, false);
    for (event, place) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let said = match event {
            Event::Start(Tag::CodeBlock(_)) => {
                is_code = true;
                continue;
            }
            Event::End(TagEnd::CodeBlock) => {
                is_code = false;
                continue;
            }
            Event::Start(tag @ (Tag::Paragraph | Tag::Item | Tag::TableCell)) => {
                let line = 1 + text[..place.start].matches('\n').count();
                let is_cell = matches!(tag, Tag::TableCell);
                parts.push(Part { line, text: String::new(), is_cell, links: Vec::new() });
                open = true;
                continue;
            }
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell) => {
                open = false;
                continue;
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                if let Some(part) = parts.last_mut().filter(|_| open) {
                    part.links.push(dest_url.to_string());
                }
                continue;
            }
            Event::Text(said) => said,
            Event::Code(_) => CODE.into(),
            Event::SoftBreak | Event::HardBreak => " ".into(),
            _ => continue,
        };
        if let Some(part) = parts.last_mut().filter(|_| open && !is_code) {
            part.text.push_str(&said);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<String> {
        judge("a.md", text).iter().map(|one| format!("{}: {}", one.line, one.what)).collect()
    }

    #[test]
    fn long_sentences_and_cells_are_found() {
        let words = |count: usize| {
            ["Word"].into_iter().chain(vec!["word"; count - 1]).collect::<Vec<_>>().join(" ")
        };
        assert!(said(&format!("{}. {}.", words(40), words(40))).is_empty());
        let long = format!("# {}\n\n- {}.", words(50), words(41));
        assert_eq!(said(&long), ["3: a sentence of 41 words: `Word word word word ...`"]);
        let table = |count| format!("| a | b |\n|---|---|\n| c | {} |\n", words(count));
        assert!(said(&table(25)).is_empty());
        assert_eq!(said(&table(26)), ["3: a cell of 26 words"]);
        assert!(said(&format!("```text\n{}\n```\n\n`{}` runs.", words(60), words(60))).is_empty());
    }

    #[test]
    fn identities_of_claims_and_words_of_ours_are_found() {
        for (text, found) in [
            ("By S2B-01 it runs.", "`S2B-01`"),
            ("It runs (X-08).", "`X-08`"),
            ("It runs, S0-C04b says.", "`S0-C04b`"),
            ("The ledger says so.", "`the ledger`"),
            ("Nobody waits.", "`nobody`"),
        ] {
            assert_eq!(said(text), [format!("1: {found} on a page for users")]);
        }
        assert!(said("S-expressions, X-rays, MSI-X and S3-like are words.").is_empty());
        assert!(said("The papers on it, nobodys.").is_empty(), "other words");
    }

    #[test]
    fn pages_for_users_are_told_from_others() {
        for (path, expected) in [
            ("README.md", true),
            ("ARCHITECTURE.md", false),
            ("docs/ipc.md", true),
            ("docs/policies/edf.md", true),
            ("docs/SUMMARY.md", false),
            ("docs/results/switching.md", false),
            ("docs/design/0001-boot-archive.md", false),
        ] {
            assert_eq!(is_for_users(Path::new(path)), expected, "{path}");
        }
    }
}
