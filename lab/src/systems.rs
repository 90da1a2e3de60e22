//! Finds systems by name or path.

use crate::failure::{did_you_mean, usage};
use crate::workspace;
use anyhow::{Context, Result};
use manifest::System;
use std::path::{Path, PathBuf};

/// The named systems, in order.
pub fn names() -> Vec<String> {
    let entries = std::fs::read_dir(workspace::root().join("systems"));
    let mut names: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".toml")?.into()))
        .collect();
    names.sort();
    names
}

/// The manifest that `system` means: a path, or the name of one in systems/.
pub fn path(system: &str) -> Result<PathBuf> {
    let given = Path::new(system);
    if given.is_file() {
        return Ok(given.to_path_buf());
    }
    let named = workspace::root().join("systems").join(format!("{system}.toml"));
    // A path that works in the root of the work tree works everywhere.
    let inside = workspace::root().join(given);
    if let Some(found) = [named, inside].into_iter().find(|path| path.is_file()) {
        return Ok(found);
    }
    let names = names();
    let stem = given.file_stem().and_then(|stem| stem.to_str()).unwrap_or(system);
    let hint = did_you_mean(stem, names.iter().map(String::as_str));
    Err(usage(format!(
        "there is no system `{system}`, neither as a file nor in systems/ ({}){hint}",
        names.join(", ")
    )))
}

/// Reads and checks a manifest, given by path or name.
pub fn load(system: &str) -> Result<System> {
    let path = path(system)?;
    let shown = workspace::shown(&path);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {shown}"))?;
    Ok(manifest::parse(&shown, &text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_system_lists_the_known_ones() {
        let error = path("no-such-system").unwrap_err();
        assert!(error.is::<crate::failure::Usage>());
        assert!(error.to_string().starts_with("there is no system `no-such-system`"));
    }
}
