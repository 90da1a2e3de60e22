//! `book`: all pages as a book for a browser, made by mdBook.

use super::print_json;
use crate::failure::{Verdict, usage};
use crate::progress::Step;
use crate::tidy::links::{self, CONTENTS};
use crate::{output, workspace};
use anyhow::{Result, ensure};
use fs_err as fs;
use serde_json::json;
use std::path::Path;
use std::process::Command;

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
        fs::copy(root.join(&page), to)?;
    }
    let contents = fs::read_to_string(root.join(CONTENTS))?;
    fs::remove_file(source.join(CONTENTS))?;
    fs::write(source.join("SUMMARY.md"), from_root(&contents))?;
    Ok(fs::write(folder.join("book.toml"), SETTINGS)?)
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
