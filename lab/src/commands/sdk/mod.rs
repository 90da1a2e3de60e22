//! `sdk`: what users' systems need, as a folder that works without a checkout.

mod contents;
mod manifests;

use super::{print_json, vacant};
use crate::failure::{Verdict, usage};
use crate::image::{kept, prebuilt};
use crate::scratch::Scratch;
use crate::{output, workspace};
use anyhow::{Context, Result};
use clap::Args;
use contents::Contents;
use fs_err as fs;
use serde_json::json;
use std::path::{Path, PathBuf};

pub use contents::{SUMS, write};

/// Examples.
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

/// Makes an SDK.
pub fn sdk(asked: &Sdk, as_json: bool) -> Result<Verdict> {
    let folder = std::path::absolute(&asked.output)?;
    vacant(&folder)?;
    if let Some(variable) = kept::variable() {
        return Err(usage(format!(
            "{variable} is set, which may change what is built: unset it to make an SDK"
        )));
    }
    let above = folder.parent().context("the root of all files is no place for an SDK")?;
    fs::create_dir_all(above).map_err(|error| usage(error.to_string()))?;
    // Beside the folder, which appears when it is whole.
    let place = Scratch::below(above);
    let place = place.map_err(|error| usage(format!("{}: {error}", above.display())))?;
    let made = place.path().join("sdk");
    let laboratory = prebuilt::laboratory()?;
    let contents = write(&made, &laboratory, &prebuilt::kernels())?;
    fs::rename(&made, &folder)?;
    show(&asked.output, &contents, as_json);
    Ok(Verdict::Held)
}

fn show(folder: &Path, contents: &Contents, as_json: bool) {
    let Contents { sdk, files, bytes, sum } = contents;
    if as_json {
        return print_json(&json!({
            "folder": folder, "giusto": sdk.giusto, "commit": sdk.commit, "host": sdk.host,
            "files": files, "bytes": bytes, "sha256": sum,
        }));
    }
    let megabytes = bytes.div_ceil(1_000_000);
    let folder = folder.display();
    output::line(format_args!("giusto {}, commit {}, for {}", sdk.giusto, sdk.commit, sdk.host));
    output::line(format_args!("{files} files, {megabytes} MB; SHA-256 of {SUMS}:\n{sum}"));
    if !workspace::is_commit(&sdk.commit) {
        output::line("the work tree is no commit: another SDK of the same commit may differ");
    }
    output::line(format_args!("\nuse it:  {folder}/giusto new plant\nread on: {folder}/README.md"));
}
