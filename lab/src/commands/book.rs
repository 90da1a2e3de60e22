//! `book`: all pages as a book for a browser, made by mdBook.

use super::print_json;
use crate::failure::{Verdict, usage};
use crate::progress::Step;
use crate::tidy::links::{self, CONTENTS, LICENCES, PAGES};
use crate::{output, workspace};
use anyhow::{Result, ensure};
use fs_err as fs;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use walkdir::WalkDir;

const SETTINGS: &str = "\
[book]
title = \"Giusto\"
language = \"en\"
src = \"src\"

[build]
build-dir = \"html\"

[output.html]
no-section-label = true
";

/// What mdBook makes beside the pages: its links are those of other places.
const WITHOUT_PLACE: [&str; 3] = ["404.html", "print.html", "toc.html"];

/// How the names of pictures in the folder of pages end.
const PICTURE: &str = "svg";
/// What a page names files by.
const NAMING: [&str; 2] = ["href=\"", "src=\""];

/// Makes the book.
pub fn book(as_json: bool) -> Result<Verdict> {
    let folder = workspace::build_directory().join("book");
    stage(workspace::root(), &folder)?;
    let step = Step::start("making the book");
    let made = Command::new("mdbook").arg("build").arg(&folder).output();
    drop(step);
    let made = made.map_err(|error| {
        usage(format!("cannot run mdbook: {error}; install it with: cargo install mdbook --locked"))
    })?;
    let said = String::from_utf8_lossy(&made.stderr);
    ensure!(made.status.success(), "mdbook fails:\n{}", said.trim_end());
    let index = folder.join("html/index.html");
    ensure!(index.exists(), "mdbook has made no {}", index.display());
    let dead = dead_links(&folder.join("html"))?;
    ensure!(dead.is_empty(), "links of the book lead nowhere:\n{}", dead.join("\n"));
    match as_json {
        true => print_json(&json!({"index": index})),
        false => output::line(format!("the book: {}", workspace::shown(&index))),
    }
    Ok(Verdict::Held)
}

/// Puts the pages where links between them hold, with the table of contents for that place.
fn stage(root: &Path, folder: &Path) -> Result<()> {
    let source = folder.join("src");
    if source.exists() {
        fs::remove_dir_all(&source)?;
    }
    for page in links::files(root)? {
        let to = source.join(&page);
        fs::create_dir_all(to.parent().expect("a page lies in a folder"))?;
        fs::write(to, of_book(&fs::read_to_string(root.join(&page))?))?;
    }
    for file in LICENCES {
        fs::copy(root.join(file), source.join(file))?;
    }
    for entry in WalkDir::new(root.join(PAGES)) {
        let entry = entry?;
        if entry.path().extension().is_some_and(|extension| extension == PICTURE) {
            let to = source.join(entry.path().strip_prefix(root)?);
            fs::create_dir_all(to.parent().expect("a picture lies in a folder"))?;
            fs::copy(entry.path(), to)?;
        }
    }
    let contents = fs::read_to_string(root.join(CONTENTS))?;
    fs::remove_file(source.join(CONTENTS))?;
    fs::write(source.join("SUMMARY.md"), from_root(&contents))?;
    Ok(fs::write(folder.join("book.toml"), SETTINGS)?)
}

/// A page whose links go by mdBook's names: it calls a folder's page `index`, which is also where
/// links to the table of contents lead.
fn of_book(page: &str) -> String {
    let named = |name: &str, page: &str| {
        let after =
            [")", "#"].map(|after| (format!("{name}.md{after}"), format!("index.md{after}")));
        after.iter().fold(page.to_string(), |page, (from, to)| page.replace(from, to))
    };
    named("README", &named("SUMMARY", page))
}

/// The links and pictures within the pages that were made whose files are not there. The page that
/// holds all others has no place of its own.
fn dead_links(html: &Path) -> Result<Vec<String>> {
    let mut dead = Vec::new();
    for entry in WalkDir::new(html).sort_by_file_name() {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy());
        if !name.ends_with(".html") || WITHOUT_PLACE.contains(&&*name) {
            continue;
        }
        let text = fs::read_to_string(path)?;
        let named = NAMING.iter().flat_map(|naming| text.split(naming).skip(1));
        for link in named.filter_map(|rest| rest.split('"').next()) {
            let file = link.split('#').next().unwrap_or_default();
            let folder = path.parent().unwrap_or(html);
            if !file.is_empty() && !file.contains(':') && !folder.join(file).exists() {
                dead.push(format!("{}: {link}", path.strip_prefix(html)?.display()));
            }
        }
    }
    Ok(dead)
}

/// The table of contents of `docs/` with the paths from the root.
fn from_root(contents: &str) -> String {
    contents.replace("](", "](docs/").replace("](docs/../", "](")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contents_name_pages_from_the_root() {
        let contents = "[All](README.md)\n- [A](a.md)\n    - [B](design/b.md)\n- [C](../C.md)\n";
        let expected =
            "[All](docs/README.md)\n- [A](docs/a.md)\n    - [B](docs/design/b.md)\n- [C](C.md)\n";
        assert_eq!(from_root(contents), expected);
    }

    #[test]
    fn links_go_by_the_names_of_the_book() {
        let page = "[a](docs/README.md), [b](README.md#c), [d](docs/SUMMARY.md), README.md";
        let expected = "[a](docs/index.md), [b](index.md#c), [d](docs/index.md), README.md";
        assert_eq!(of_book(page), expected);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let page = "<a href=\"b.html#x\"><a href=\"https://x.y\"><a href=\"#z\"><a href=\"d/\">\
                    <img src=\"e.svg\">";
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        fs::create_dir(folder.path().join("d")).unwrap();
        write("a.html", page);
        write("print.html", "<a href=\"nowhere.html\">");
        let dead = ["a.html: b.html#x", "a.html: e.svg"];
        assert_eq!(dead_links(folder.path()).unwrap(), dead);
        ["b.html", "e.svg"].iter().for_each(|name| write(name, ""));
        assert!(dead_links(folder.path()).unwrap().is_empty());
    }

    #[test]
    fn each_page_is_where_its_links_lead() {
        let folder = tempfile::tempdir().unwrap();
        stage(workspace::root(), folder.path()).unwrap();
        let contents = fs::read_to_string(folder.path().join("src/SUMMARY.md")).unwrap();
        let listed = contents.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        let mut count = 0;
        for (page, _) in listed {
            assert!(folder.path().join("src").join(page).exists(), "{page}");
            count += 1;
        }
        let pages = links::files(workspace::root()).unwrap();
        assert_eq!(count, pages.len() - 1, "each page but the contents");
    }
}
