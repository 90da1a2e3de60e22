//! What others see of a thread's end: each row of the page's table is made by a test that has its
//! name, and each test has a row.

use super::Finding;
use anyhow::Result;
use fs_err as fs;
use std::path::Path;

/// The page, and the heading above its table.
const PAGE: &str = "docs/threads.md";
const HEADING: &str = "## What others see of its end";
/// The tests in Rust, which are nothing but rows, and those in C, of which some are.
const RUST: &str = "user/programs/src/selftest/ends.rs";
const C: &str = "tests/c/protocols.c";

/// Checks the page of the work tree at `root`.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let read = |path| fs::read_to_string(root.join(path));
    Ok(compare(&read(PAGE)?, &read(RUST)?, &read(C)?))
}

fn compare(page: &str, rust: &str, c: &str) -> Vec<Finding> {
    let (rows, names) = (rows(page), names(rust));
    let in_c = |row: &str| c.contains(&format!("\"{row}: "));
    let mend = format!("give a test in {RUST} or {C} its name");
    let untested = rows.iter().filter(|(_, row)| {
        let in_rust = names.iter().any(|(_, name)| name == row);
        !in_rust && !in_c(row)
    });
    let mut findings: Vec<Finding> = untested
        .map(|(line, row)| Finding::new(PAGE, *line, format!("no test makes `{row}`"), &mend))
        .collect();
    let mend = format!("name a row of the table in {PAGE}, or write one");
    let unwritten = names.iter().filter(|(_, name)| rows.iter().all(|(_, row)| row != name));
    findings.extend(unwritten.map(|(line, name)| {
        Finding::new(RUST, *line, format!("no row of the page is `{name}`"), &mend)
    }));
    if rows.is_empty() {
        let mend = "keep the table below that heading, or change this check";
        findings.push(Finding::new(PAGE, 1, format!("no table below `{HEADING}`"), mend));
    }
    findings
}

/// The first cells of the table's rows without their links, with their lines.
fn rows(page: &str) -> Vec<(usize, String)> {
    let lines = page.lines().zip(1..).skip_while(|(line, _)| *line != HEADING).skip(1);
    let section = lines.take_while(|(line, _)| !line.starts_with("## "));
    let table = section.filter(|(line, _)| line.starts_with('|')).skip(2);
    table.filter_map(|(line, number)| Some((number, plain(line.split('|').nth(1)?)))).collect()
}

/// A text with the names of its links alone.
fn plain(cell: &str) -> String {
    let mut text = String::new();
    let mut rest = cell.trim();
    while let Some((before, link)) = rest.split_once('[') {
        let (name, behind) = link.split_once("](").unwrap_or((link, ""));
        text.extend([before, name]);
        rest = behind.split_once(')').map_or("", |(_, rest)| rest);
    }
    text + rest
}

/// The names of the checks, with their lines.
fn names(rust: &str) -> Vec<(usize, String)> {
    let lines = rust.lines().zip(1..).skip_while(|(line, _)| !line.contains("CHECKS: Checks"));
    let listed = lines.skip(1).take_while(|(line, _)| *line != "];");
    listed.filter_map(|(line, at)| Some((at, line.split('"').nth(1)?.to_string()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUST_TEXT: &str = "pub const CHECKS: Checks = &[\n    (\"a lock\", lock),\n];\n";
    const C_TEXT: &str = "check(\"a mutex in C: it is told\", true);\n";

    fn page(rows: &str) -> String {
        format!("# Threads\n\n{HEADING}\n\n| it had | seen |\n|---|---|\n{rows}\n## More\n")
    }

    fn findings(page: &str) -> Vec<String> {
        compare(page, RUST_TEXT, C_TEXT).iter().map(|one| one.what.clone()).collect()
    }

    #[test]
    fn rows_and_tests_correspond() {
        let all = page("| a [lock](a.md#b) | x |\n| a mutex in C | y |\n");
        assert!(findings(&all).is_empty(), "{:?}", findings(&all));
    }

    #[test]
    fn what_has_no_counterpart_is_found() {
        let more = page("| a lock | x |\n| a train | y |\n");
        assert_eq!(findings(&more), ["no test makes `a train`"]);
        let fewer = page("| a mutex in C | y |\n");
        assert_eq!(findings(&fewer), ["no row of the page is `a lock`"]);
        let none =
            ["no row of the page is `a lock`".to_string(), format!("no table below `{HEADING}`")];
        assert_eq!(findings("# Threads\n"), none);
    }
}
