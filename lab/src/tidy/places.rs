//! No program is told where it was built: cargo does not build anew what was moved or copied, and
//! so its tests would work on the files of another checkout.

use super::{Finding, Source};

/// Variables of cargo that name places, as macros read them.
const NAMES: [&str; 2] = ["MANIFEST", "BIN_EXE"];

const MEND: &str = "read it when the program runs: `std::env::var`";

/// Checks one file.
pub fn check(source: &Source) -> Vec<Finding> {
    let lines = source.text.lines().zip(1..);
    let found = lines.filter_map(|(line, number)| {
        let name = NAMES.iter().find(|name| line.contains(&format!("env!(\"CARGO_{name}")))?;
        let what = format!("compiles a place of this host in: `CARGO_{name}...`");
        Some(Finding::new(&source.path, number, what, MEND))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&Source::parse("a.rs", text).unwrap()).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn places_are_read_at_run_time() {
        let compiled = |name: &str| format!("fn f() {{\n    {}!(\"CARGO_{name}\");\n}}\n", "env");
        assert_eq!(lines(&compiled("MANIFEST_DIR")), [2]);
        assert_eq!(lines(&compiled("BIN_EXE_lab")), [2]);
        assert!(lines(&compiled("PKG_VERSION")).is_empty());
        assert!(lines("fn f() {\n    std::env::var(\"CARGO_MANIFEST_DIR\");\n}\n").is_empty());
    }
}
