//! The project's own words, which the glossary shows in italics: a page for users that has one
//! links its definition, at or before its first use. Other terms are the field's.

use super::wording::{self, Part};
use super::{Finding, links};
use anyhow::Result;
use fs_err as fs;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::path::{Path, PathBuf};

/// The page with the glossary, and the glossary's heading and anchor.
const PAGE: &str = "docs/concepts.md";
const HEADING: &str = "## Glossary";
const ANCHOR: &str = "glossary";

/// A word of the project's own.
#[derive(Debug, PartialEq, Eq)]
struct Term {
    name: String,
    /// The pages that its entry links.
    pages: Vec<PathBuf>,
}

/// Checks pages of the work tree at `root`.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let terms = glossary(&fs::read_to_string(root.join(PAGE))?);
    if terms.is_empty() {
        let what = format!("no term in italics in a table below `{HEADING}`");
        let mend = "keep the glossary there, or change this check";
        return Ok(vec![Finding::new(PAGE, 1, what, mend)]);
    }
    let mut findings = Vec::new();
    for path in links::files(root)?.iter().filter(|path| wording::is_for_users(path)) {
        let text = fs::read_to_string(root.join(path))?;
        findings.extend(judge(path, &wording::parts(&text), &terms));
    }
    Ok(findings)
}

/// The terms of the glossary's table whose cells are in italics.
fn glossary(page: &str) -> Vec<Term> {
    let section = page.split_once(HEADING).map_or("", |(_, section)| section);
    let mut terms: Vec<Term> = Vec::new();
    let (mut is_first, mut in_italics, mut is_own) = (false, false, false);
    for event in Parser::new_ext(section, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::TableRow) => (is_first, is_own) = (true, false),
            Event::End(TagEnd::TableCell) => is_first = false,
            Event::Start(Tag::Emphasis) => in_italics = is_first,
            Event::End(TagEnd::Emphasis) => in_italics = false,
            Event::Text(name) if in_italics => {
                terms.push(Term { name: name.to_string(), pages: Vec::new() });
                is_own = true;
            }
            Event::Start(Tag::Link { dest_url, .. }) if is_own => {
                let (page, _) = target(Path::new(PAGE), &dest_url);
                terms.last_mut().expect("a term is open").pages.push(page);
            }
            Event::End(TagEnd::Table) => break,
            _ => {}
        }
    }
    terms
}

/// The page that a link leads to, and the heading.
fn target<'a>(from: &Path, link: &'a str) -> (PathBuf, &'a str) {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let page = if file.is_empty() { from.to_path_buf() } else { links::beside(from, file) };
    (page, heading)
}

fn judge(path: &Path, parts: &[Part], terms: &[Term]) -> Vec<Finding> {
    let others = terms.iter().filter(|term| !term.pages.iter().any(|page| page == path));
    let unlinked = others.filter_map(|term| {
        let first = parts.iter().find(|part| is_used(&part.text, &term.name))?;
        let defines = |link: &String| {
            let (page, heading) = target(path, link);
            term.pages.contains(&page) || page == Path::new(PAGE) && heading == ANCHOR
        };
        // Cells of one row have one line.
        let before = parts.iter().filter(|part| part.line <= first.line);
        let is_linked = before.flat_map(|part| &part.links).any(defines);
        (!is_linked).then_some((first.line, &term.name))
    });
    let find = |(line, name): (usize, &String)| {
        let what = format!("`{name}` is used before its definition is linked");
        Finding::new(&path.to_string_lossy(), line, what, "link its page, or the glossary, there")
    };
    unlinked.map(find).collect()
}

/// Whether a text has a term, or its plural.
fn is_used(text: &str, name: &str) -> bool {
    let lower = text.to_lowercase();
    ["", "s", "es"].iter().any(|end| wording::has_word(&lower, &format!("{name}{end}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GLOSSARY: &str = "# C\n\n*no*\n\n## Glossary\n\n| term | meaning |\n|---|---|\n\
        | *class* | Of [a](a.md#b), *not* [c](c/d.md). |\n| thread | See [t](t.md). |\n\
        | *train* | [Migrates](trains.md). |\n\n*after*\n";

    fn said(path: &str, text: &str) -> Vec<String> {
        let found = judge(Path::new(path), &wording::parts(text), &glossary(GLOSSARY));
        found.iter().map(|one| format!("{}: {}", one.line, one.what)).collect()
    }

    #[test]
    fn own_words_are_those_in_italics() {
        let term = |name: &str, pages: &[&str]| Term {
            name: name.to_string(),
            pages: pages.iter().map(PathBuf::from).collect(),
        };
        let own =
            [term("class", &["docs/a.md", "docs/c/d.md"]), term("train", &["docs/trains.md"])];
        assert_eq!(glossary(GLOSSARY), own);
        assert!(glossary("| *class* | x |").is_empty());
    }

    #[test]
    fn a_word_is_linked_at_its_first_use_or_before() {
        for linked in [
            "A thread of a [train](trains.md#x).",
            "See [trains](trains.md).\n\nA train.",
            "| a | b |\n|---|---|\n| trains | [here](trains.md) |",
            "[Words](concepts.md#glossary): class, train.",
            "# Train\n\n```\ntrain\n```\n\n`train`, training",
        ] {
            assert!(said("docs/x.md", linked).is_empty(), "{linked}");
        }
        let late = "A thread.\n\nTwo classes.\n\nA [class](../docs/a.md), [concepts](concepts.md).";
        let found = ["3: `class` is used before its definition is linked"];
        assert_eq!(said("docs/x.md", late), found);
        assert!(said("docs/c/d.md", late).is_empty(), "it defines the word");
        assert_eq!(said("docs/policies/y.md", "[A](../concepts.md): Trains.").len(), 1);
    }
}
