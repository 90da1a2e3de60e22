//! The command line of `image`.

use super::{all_kernels, boards};
use clap::Args;
use std::path::PathBuf;

/// Examples of `image`.
pub const EXAMPLES: &str = "\
Examples:
  ./giusto image hello -o shipped
  ./giusto image plant -o shipped --kernel strict-eager --json
  shipped/boot.sh                     boots it, with QEMU alone

The files are the same, byte for byte, when source, paths and compiler are.";

/// What to ship.
#[derive(Debug, Args)]
pub struct Image {
    /// A manifest, its folder, or the name of one in systems/.
    pub system: String,
    /// The folder to write into.
    #[arg(short, long, value_name = "FOLDER")]
    pub output: PathBuf,
    /// The kernel; the manifest's by default.
    #[arg(long, value_name = "K", value_parser = all_kernels())]
    pub kernel: Option<String>,
    /// The machine's board.
    #[arg(long, value_name = "B", value_parser = boards())]
    pub board: Option<String>,
}
