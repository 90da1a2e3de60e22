//! Sources in C: the same limits on size as elsewhere, and assembly under `arch/` alone.

use super::{Finding, limits};
use anyhow::Result;
use fs_err as fs;
use std::path::Path;
use walkdir::WalkDir;

/// Where they are, from the root of the work tree.
const FOLDERS: [&str; 3] = ["user/c", "tests/c", "lab/src/commands/new/c"];
/// What to do about assembly.
const MEND: &str = "move it to a file under an `arch` folder";

/// Checks all sources and headers.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for entry in FOLDERS.iter().flat_map(|folder| WalkDir::new(root.join(folder))) {
        let entry = entry?;
        if entry.path().extension().is_some_and(|ending| ending == "c" || ending == "h") {
            let path = entry.path().strip_prefix(root)?.to_string_lossy();
            findings.extend(check_file(&path, &fs::read_to_string(entry.path())?));
        }
    }
    Ok(findings)
}

fn check_file(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = limits::of(path, text);
    for (line, number) in text.lines().zip(1..) {
        let mut finding = |what, mend| findings.push(Finding::new(path, number, what, mend));
        if line.contains('\t') || line.ends_with(' ') {
            finding("a tab, or a blank at the end of a line", "indent by four blanks");
        }
        if line.contains("__asm__") && !path.contains("/arch/") {
            finding("inline assembly", MEND);
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_in_c_have_rules_too() {
        let found = |path: &str, text: &str| {
            check_file(path, text).iter().map(Finding::to_string).collect::<Vec<_>>()
        };
        assert!(found("user/c/src/a.c", "int a;\n").is_empty());
        assert!(found("user/c/src/arch/a.c", "__asm__(\"nop\");\n").is_empty());
        assert_eq!(found("a.c", "\n__asm__(\"\");").len(), 1);
        assert_eq!(found("a.c", "int a;\n\tint b; \n").len(), 1);
        assert_eq!(found("a.c", &format!("/* {} */", "x".repeat(100))).len(), 1);
        assert_eq!(found("a.h", &"\n".repeat(601)).len(), 1);
    }
}
