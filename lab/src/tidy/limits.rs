//! Limits on size: columns, lines of a file. Clippy limits functions (`clippy.toml`).

use super::{Finding, Source, header};

const COLUMNS: usize = 100;
const FILE_LINES: usize = 600;

/// Checks one file.
pub fn check(source: &Source) -> Vec<Finding> {
    of(&source.path, &source.text)
}

/// Checks a file in any language.
pub fn of(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let columns = line.chars().count();
        if columns > COLUMNS {
            let what = format!("line of {columns} columns");
            let mend = format!("break it at {COLUMNS}");
            findings.push(Finding::new(path, number, what, &mend));
        }
    }
    let lines = text.lines().count();
    // What is made of the crate `abi` is as long as that says.
    if lines > FILE_LINES && path != header::PATH {
        let what = format!("file of {lines} lines");
        let mend = format!("split it by idea; the limit is {FILE_LINES}");
        findings.push(Finding::new(path, lines, what, &mend));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let source = Source::parse("a.rs", text).unwrap();
        check(&source).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_line_may_have_100_columns() {
        assert!(findings(&format!("// {}\n", "é".repeat(97))).is_empty());
        let long = findings(&format!("\n// {}\n", "é".repeat(98)));
        assert_eq!(long, ["a.rs:2: line of 101 columns; break it at 100"]);
    }

    #[test]
    fn a_file_may_have_600_lines() {
        assert!(findings(&"//\n".repeat(600)).is_empty());
        let long = findings(&"//\n".repeat(601));
        assert_eq!(long, ["a.rs:601: file of 601 lines; split it by idea; the limit is 600"]);
    }
}
