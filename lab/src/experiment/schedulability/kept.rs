//! Finished shards of a run, so that an interrupted one goes on where it stopped. They are kept
//! under what they follow from: the plan and the state of the source.

use super::plan::Plan;
use crate::image::kept::forget_old;
use crate::workspace;
use acceptance::{Point, Tally};
use anyhow::{Context, Result};
use fs_err as fs;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A line of JSON for each finished shard.
const FILE: &str = "shards.jsonl";

/// The finished shards of a plan.
pub struct Kept {
    directory: PathBuf,
}

impl Kept {
    /// Those of a plan at this state of the source.
    pub fn of(plan: &Plan) -> Result<Kept> {
        let store = workspace::results().join(super::EXPERIMENT.name).join("unfinished");
        Kept::below(&store, plan, &workspace::source())
    }

    /// The same below some directory; of others the latest stay.
    pub fn below(store: &Path, plan: &Plan, source: &str) -> Result<Kept> {
        let text = serde_json::to_string(plan)? + source;
        let digest: String =
            Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let directory = store.join(digest);
        fs::create_dir_all(&directory)?;
        forget_old(store)?;
        Ok(Kept { directory })
    }

    /// The shards that are finished. A line that an interrupt has cut off is none.
    pub fn load(&self) -> Result<BTreeMap<(Point, u64), Tally>> {
        let text = match fs::read_to_string(self.directory.join(FILE)) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let tallies = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        Ok(tallies.map(|tally: Tally| ((tally.point, tally.shard), tally)).collect())
    }

    /// Where further shards are added.
    pub fn open(&self) -> Result<Writer> {
        let path = self.directory.join(FILE);
        let file = fs::OpenOptions::new().create(true).append(true).open(path)?;
        let mut writer = Writer(file.into_file());
        // Ends a line that was cut off.
        writer.write("")?;
        Ok(writer)
    }

    /// Forgets them: the run is finished.
    pub fn remove(self) -> Result<()> {
        Ok(fs::remove_dir_all(&self.directory)?)
    }
}

/// Adds shards.
pub struct Writer(std::fs::File);

impl Writer {
    /// Adds a shard.
    pub fn add(&mut self, tally: &Tally) -> Result<()> {
        self.write(&serde_json::to_string(tally)?)
    }

    fn write(&mut self, line: &str) -> Result<()> {
        let line = format!("{line}\n");
        self.0.write_all(line.as_bytes()).context("cannot keep a finished part of the run")
    }
}
