//! Pages: each link between them leads to a file that is there and that the book has, and to a
//! heading that it has; and the book's table of contents has every page.

use super::Finding;
use anyhow::Result;
use fs_err as fs;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use walkdir::WalkDir;

/// The folder with pages that have others in them; further ones stand at the root.
pub const PAGES: &str = "docs";
/// Files that the book has and that are no pages.
pub const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];
/// The book's table of contents.
pub const CONTENTS: &str = "docs/SUMMARY.md";

/// What a page says of itself and of others.
struct Page {
    headings: BTreeSet<String>,
    /// Line and target of each link.
    links: Vec<(usize, String)>,
}

/// Checks the pages of the work tree at `root`.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut pages = BTreeMap::new();
    for path in files(root)? {
        let text = fs::read_to_string(root.join(&path))?;
        pages.insert(path, Page::read(&text));
    }
    let mut findings = broken(&pages, |path| root.join(path).exists());
    findings.extend(left_out(&pages));
    Ok(findings)
}

/// All pages, from the root.
pub fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = WalkDir::new(root).max_depth(1).into_iter();
    for entry in entries.chain(WalkDir::new(root.join(PAGES))) {
        let path = entry?.into_path();
        if path.is_file() && path.extension().is_some_and(|extension| extension == "md") {
            found.push(path.strip_prefix(root)?.to_path_buf());
        }
    }
    found.sort();
    Ok(found)
}

impl Page {
    fn read(text: &str) -> Page {
        let mut page = Page { headings: BTreeSet::new(), links: Vec::new() };
        let mut heading: Option<String> = None;
        for (event, place) in Parser::new(text).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    page.headings.extend(heading.take().map(|text| anchor(&text)));
                }
                Event::Text(part) | Event::Code(part) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&part);
                    }
                }
                Event::Start(Tag::Link { dest_url, .. }) => {
                    let line = 1 + text[..place.start].matches('\n').count();
                    page.links.push((line, dest_url.to_string()));
                }
                _ => {}
            }
        }
        page
    }
}

/// The name by which a link reaches a heading: its letters and digits in lower case, with hyphens
/// for spaces.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|char| match char {
        ' ' => Some('-'),
        '-' | '_' => Some(char),
        char => char.is_alphanumeric().then(|| char.to_ascii_lowercase()),
    });
    kept.collect()
}

fn broken(pages: &BTreeMap<PathBuf, Page>, exists: impl Fn(&Path) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, page) in pages {
        for (line, link) in &page.links {
            let mut find = |what: String| {
                let mend =
                    "name a page, or a heading, that is there; give other files by their paths";
                findings.push(Finding::new(&path.to_string_lossy(), *line, what, mend));
            };
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { beside(path, file) };
            if !exists(&target) {
                find(format!("the link `{link}` leads nowhere"));
            } else if !in_book(pages, &target) {
                find(format!("the link `{link}` leads to what is not in the book"));
            } else if !heading.is_empty()
                && pages.get(&target).is_none_or(|page| !page.headings.contains(heading))
            {
                find(format!("the link `{link}` names no heading"));
            }
        }
    }
    findings
}

/// Whether the book has what is there: pages, folders with pages, and licences.
fn in_book(pages: &BTreeMap<PathBuf, Page>, target: &Path) -> bool {
    let folder = || pages.keys().any(|page| page.parent() == Some(target));
    pages.contains_key(target) || LICENCES.iter().any(|file| target == Path::new(file)) || folder()
}

/// Where a link from a page leads, from the root.
pub(super) fn beside(page: &Path, link: &str) -> PathBuf {
    let mut path = page.parent().map(Path::to_path_buf).unwrap_or_default();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => _ = path.pop(),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}

/// Pages that the table of contents does not have.
fn left_out(pages: &BTreeMap<PathBuf, Page>) -> Vec<Finding> {
    let contents = Path::new(CONTENTS);
    let listed: BTreeSet<PathBuf> = pages
        .get(contents)
        .into_iter()
        .flat_map(|page| &page.links)
        .map(|(_, link)| beside(contents, link))
        .collect();
    let missing = pages.keys().filter(|path| *path != contents && !listed.contains(*path));
    let mend = "add a line with it";
    missing
        .map(|path| Finding::new(CONTENTS, 1, format!("`{}` is left out", path.display()), mend))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(texts: &[(&str, &str)]) -> BTreeMap<PathBuf, Page> {
        texts.iter().map(|(path, text)| (PathBuf::from(path), Page::read(text))).collect()
    }

    fn said(findings: Vec<Finding>) -> Vec<String> {
        findings.iter().map(|one| format!("{}:{}: {}", one.file, one.line, one.what)).collect()
    }

    #[test]
    fn links_lead_to_files_and_headings() {
        let pages = pages(&[
            ("README.md", "[a](docs/a.md) [b](docs/b.md#the-end)\n\n[c](https://b.c/d.md#e)"),
            ("docs/a.md", "# A `code` head, of _it_\n[up](../README.md)\n[x](#a-code-head-of-it)"),
            ("docs/b.md", "## The end\n[no](#begin)\n[gone](gone.md)\n```\n[t](t.md)\n```\n"),
        ]);
        let broken = broken(&pages, |path| pages.contains_key(path));
        assert_eq!(
            said(broken),
            [
                "docs/b.md:2: the link `#begin` names no heading",
                "docs/b.md:3: the link `gone.md` leads nowhere"
            ]
        );
    }

    #[test]
    fn links_lead_to_what_the_book_has() {
        let text = "[p](a.md) [f](../docs) [l](../LICENSE-MIT)\n[s](../abi/src/lib.rs) [g](../abi)";
        let pages = pages(&[("docs/a.md", text)]);
        let not =
            |link: &str| format!("docs/a.md:2: the link `{link}` leads to what is not in the book");
        assert_eq!(said(broken(&pages, |_| true)), ["../abi/src/lib.rs", "../abi"].map(not));
    }

    #[test]
    fn the_contents_have_every_page() {
        let listed = "- [A](a.md)\n- [Read](../README.md)";
        let all = [("README.md", ""), ("docs/SUMMARY.md", listed), ("docs/a.md", "")];
        assert!(left_out(&pages(&all)).is_empty());
        let more = [&all[..], &[("docs/design/b.md", "")]].concat();
        assert_eq!(
            said(left_out(&pages(&more))),
            ["docs/SUMMARY.md:1: `docs/design/b.md` is left out"]
        );
    }
}
