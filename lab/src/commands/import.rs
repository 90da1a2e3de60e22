//! `import`: task sets of other tools become systems.

use super::{print_json, wrapped};
use crate::cli;
use crate::failure::{Verdict, usage};
use crate::{output, workspace};
use anyhow::Result;
use clap::Args;
use manifest::Source;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Examples.
pub const EXAMPLES: &str = "\
Examples:
  ./giusto import tests/import/robot.json -o robot.toml    a workload of rt-app
  ./giusto import tests/import/three.xml -o three.toml     a task set of SimSo
  ./giusto check robot.toml           do its tasks meet their deadlines?
  ./giusto run robot.toml --icount    it runs, and tells the longest responses

docs/import.md tells what is taken, and as what.";

/// Which task set becomes a system.
#[derive(Debug, Args)]
pub struct Import {
    /// A workload of rt-app (JSON with comments), or a task set of SimSo (XML).
    pub file: PathBuf,
    /// The manifest to write; without it the manifest is printed.
    #[arg(short, long, value_name = "FILE", value_parser = cli::written)]
    pub output: Option<PathBuf>,
}

/// Does what the command line says.
pub fn import(asked: &Import, as_json: bool) -> Result<Verdict> {
    let imported = rtsim::import(&source(&asked.file)?)?;
    if let Some(path) = &asked.output {
        fs_err::write(path, &imported.manifest)?;
    }
    if as_json {
        print_json(&json!({
            "manifest": imported.manifest,
            "written": asked.output,
            "notes": imported.notes,
        }));
        return Ok(Verdict::Held);
    }
    let Some(path) = &asked.output else {
        output::line(imported.manifest.trim_end());
        return Ok(Verdict::Held);
    };
    imported.notes.iter().for_each(|note| output::line(wrapped(note, "", "  ").trim_end()));
    output::line(format_args!("written: {}", path.display()));
    Ok(Verdict::Held)
}

/// A file that was named. A path that works in the root of the work tree works everywhere, as with
/// systems.
pub fn source(file: &Path) -> Result<Source> {
    let inside = workspace::root().join(file);
    let path = if file.is_file() { file } else { &inside };
    let name = file.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| usage(format!("cannot read {name}: {error}")))?;
    Ok(Source { name, text })
}
