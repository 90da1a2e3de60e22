//! Rust source files, parsed.

use super::Finding;
use anyhow::Result;
use fs_err as fs;
use std::path::Path;
use walkdir::WalkDir;

/// A source file.
pub struct Source {
    /// Its path relative to the root of the work tree.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its syntax tree.
    pub tree: syn::File,
}

impl Source {
    /// Parses a file.
    pub fn parse(path: &str, text: &str) -> Result<Source, Finding> {
        match syn::parse_file(text) {
            Ok(tree) => Ok(Source { path: path.to_string(), text: text.to_string(), tree }),
            Err(error) => {
                let line = error.span().start().line;
                Err(Finding::new(path, line, format!("not Rust: {error}"), "make it parse"))
            }
        }
    }

    /// Whether the file lies under one of these path prefixes.
    pub fn is_under(&self, prefixes: &[&str]) -> bool {
        prefixes.iter().any(|prefix| self.path.starts_with(prefix))
    }
}

/// All Rust sources under `root`; those that do not parse become findings. Hidden directories
/// and build directories are left out.
pub fn all(root: &Path, findings: &mut Vec<Finding>) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    let walk = WalkDir::new(root).min_depth(1).sort_by_file_name().into_iter();
    for entry in walk.filter_entry(|entry| {
        let name = entry.file_name().to_string_lossy();
        name != "target" && !name.starts_with('.')
    }) {
        let entry = entry?;
        if entry.path().extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let path = entry.path().strip_prefix(root)?.to_string_lossy();
        let text = fs::read_to_string(entry.path())?;
        match Source::parse(&path, &text) {
            Ok(source) => sources.push(source),
            Err(finding) => findings.push(finding),
        }
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_parse_is_a_finding_and_build_directories_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        for path in ["kernel/src/lib.rs", "target/gen.rs", ".git/x.rs", "bad.rs", "note.md"] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, if path.ends_with("bad.rs") { "fn f() {}\nfn {}" } else { "" })
                .unwrap();
        }
        let mut findings = Vec::new();
        let sources = all(root.path(), &mut findings).unwrap();
        let paths: Vec<_> = sources.iter().map(|source| source.path.as_str()).collect();
        assert_eq!(paths, ["kernel/src/lib.rs"]);
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].file.as_str(), findings[0].line), ("bad.rs", 2));
    }
}
