//! The command line of `import`.

use clap::Args;
use std::path::PathBuf;

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
    #[arg(short, long, value_name = "FILE", value_parser = super::written)]
    pub output: Option<PathBuf>,
}
