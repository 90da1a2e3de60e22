//! Finds the Rust sources of the work tree.

use super::{Finding, Source};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// All Rust sources under `root`; those that do not parse become findings. Hidden directories
/// and build directories are left out.
pub fn sources(root: &Path, findings: &mut Vec<Finding>) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    collect(root, "", &mut sources, findings)?;
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn collect(
    directory: &Path,
    prefix: &str,
    sources: &mut Vec<Source>,
    findings: &mut Vec<Finding>,
) -> Result<()> {
    let entries =
        fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            if name != "target" && !name.starts_with('.') {
                collect(&entry.path(), &format!("{path}/"), sources, findings)?;
            }
        } else if name.ends_with(".rs") {
            let text =
                fs::read_to_string(entry.path()).with_context(|| format!("cannot read {path}"))?;
            match Source::parse(&path, &text) {
                Ok(source) => sources.push(source),
                Err(finding) => findings.push(finding),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_directories_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        for path in ["kernel/src/lib.rs", "target/gen.rs", ".git/x.rs", "bad.rs", "note.md"] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, if path.ends_with("bad.rs") { "fn" } else { "" }).unwrap();
        }
        let mut findings = Vec::new();
        let sources = sources(root.path(), &mut findings).unwrap();
        let paths: Vec<_> = sources.iter().map(|source| source.path.as_str()).collect();
        assert_eq!(paths, ["kernel/src/lib.rs"]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].file, "bad.rs");
    }
}
