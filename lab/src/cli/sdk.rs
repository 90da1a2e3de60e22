//! The command line of `sdk`.

use clap::Args;
use std::path::PathBuf;

/// Examples of `sdk`.
pub const EXAMPLES: &str = "\
Examples:
  ./giusto sdk -o ~/giusto-sdk
  ~/giusto-sdk/giusto new plant       a system of your own, without a checkout
  ~/giusto-sdk/giusto test plant

The files are the same, byte for byte, when commit and compiler are.";

/// Where to make it.
#[derive(Debug, Args)]
pub struct Sdk {
    /// The folder to make.
    #[arg(short, long, value_name = "FOLDER")]
    pub output: PathBuf,
}
