//! How long things took when they last ran, kept between runs in the build directory.

use anyhow::{Context, Result};
use fs_err as fs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Seconds by name, and the file that says so.
#[derive(Default)]
pub struct Durations {
    known: BTreeMap<String, f64>,
    file: Option<PathBuf>,
}

impl Durations {
    /// What a file says; without one, or with a damaged one, nothing is known.
    pub fn load(file: PathBuf) -> Durations {
        let text = fs::read_to_string(&file).unwrap_or_default();
        Durations { known: serde_json::from_str(&text).unwrap_or_default(), file: Some(file) }
    }

    /// How many seconds something took the last time.
    pub fn of(&self, name: &str) -> Option<f64> {
        self.known.get(name).copied()
    }

    /// Notes how many it took.
    pub fn note(&mut self, name: String, seconds: f64) {
        self.known.insert(name, (seconds * 1000.0).round() / 1000.0);
    }

    /// Keeps what is known, if it comes from a file.
    pub fn save(&self) -> Result<()> {
        match &self.file {
            Some(file) => write(file, &serde_json::to_string_pretty(&self.known)?),
            None => Ok(()),
        }
    }
}

/// Writes a file whole or not at all.
pub fn write(path: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(path.parent().context("a file lies in a directory")?)?;
    let new = path.with_extension("new");
    fs::write(&new, text)?;
    Ok(fs::rename(&new, path)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_known_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/seconds.json");
        let mut durations = Durations::load(file.clone());
        assert_eq!(durations.of("a job"), None);
        durations.note("a job".to_string(), 3.5);
        durations.save().unwrap();
        assert_eq!(Durations::load(file.clone()).of("a job"), Some(3.5));
        fs::write(&file, "spoilt").unwrap();
        assert_eq!(Durations::load(file).of("a job"), None);
    }
}
