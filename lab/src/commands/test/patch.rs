//! Patches of the mutation list: unified diffs under a few header lines.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// Groups of tests that may have to notice.
pub const KNOWN: [&str; 3] = ["host", "target", "golden"];

/// A sabotage that some test must notice.
#[derive(Debug)]
pub struct Mutant {
    /// The patch's file name without its ending.
    pub name: String,
    /// The patch.
    pub path: PathBuf,
    /// What it does, from the header line `Mutant:`.
    pub about: String,
    /// The groups of tests that run, from the header line `Caught-by:`.
    pub groups: Vec<String>,
    /// The tests that are tried before these groups, by a part of their names, from the header line
    /// `First:` if there is one.
    pub first: Option<String>,
}

impl Mutant {
    /// Reads the header of a patch.
    pub fn read(path: &Path) -> Result<Mutant> {
        Mutant::parse(path, &fs_err::read_to_string(path)?)
    }

    fn parse(path: &Path, text: &str) -> Result<Mutant> {
        let shown = path.display();
        let header = text.lines().take_while(|line| !line.starts_with("--- "));
        let find = |name: &str| {
            let mut lines = header.clone();
            lines.find_map(|line| Some(line.strip_prefix(name)?.trim().to_string()))
        };
        let field = |name: &str| {
            find(name).with_context(|| {
                format!("{shown}: the header has no line `{name} ...` above the diff; add it")
            })
        };
        let groups: Vec<String> =
            field("Caught-by:")?.split_whitespace().map(str::to_string).collect();
        if groups.is_empty() || groups.iter().any(|group| !KNOWN.contains(&group.as_str())) {
            bail!("{shown}: `Caught-by:` names one or more of {}", KNOWN.join(", "));
        }
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        Ok(Mutant {
            name: name.unwrap_or_default(),
            path: path.to_path_buf(),
            about: field("Mutant:")?,
            groups,
            first: find("First:"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/kernel/src/x.rs\n+++ b/kernel/src/x.rs\nMutant: not the header\n";

    #[test]
    fn the_header_says_what_must_notice() {
        let text = format!("Mutant: no generation check\nCaught-by: target host\n\n{DIFF}");
        let mutant = Mutant::parse(Path::new("m/no-check.patch"), &text).unwrap();
        assert_eq!(mutant.name, "no-check");
        assert_eq!(mutant.about, "no generation check");
        assert_eq!((mutant.groups.join(" ").as_str(), mutant.first), ("target host", None));
        let text = format!("Mutant: x\nCaught-by: host\nFirst: trace decode\n\n{DIFF}");
        let mutant = Mutant::parse(Path::new("m/x.patch"), &text).unwrap();
        assert_eq!(mutant.first.as_deref(), Some("trace decode"));
    }

    #[test]
    fn a_patch_without_a_proper_header_is_refused() {
        let error = |text: &str| Mutant::parse(Path::new("a.patch"), text).unwrap_err().to_string();
        assert!(error(&format!("Caught-by: host\n{DIFF}")).contains("no line `Mutant: ...`"));
        assert!(error(&format!("Mutant: x\n{DIFF}")).contains("no line `Caught-by: ...`"));
        assert!(error(&format!("Mutant: x\nCaught-by: luck\n{DIFF}")).contains("host, target"));
    }
}
