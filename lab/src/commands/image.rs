//! `image`: a system as files that boot without the laboratory.

use super::{fitted, print_json, table};
use crate::cli;
use crate::failure::{Verdict, usage};
use crate::machine::{EMULATOR, Launch};
use crate::{image, machine, output, systems};
use anyhow::Result;
use clap::Args;
use fs_err as fs;
use manifest::System;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Examples.
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
    #[arg(long, value_name = "K", value_parser = cli::all_kernels())]
    pub kernel: Option<String>,
    /// The machine's board.
    #[arg(long, value_name = "B", value_parser = cli::boards())]
    pub board: Option<String>,
}

/// The kernel's file.
const KERNEL: &str = "kernel.elf";
/// The file with the sums of the others, for `sha256sum -c`.
const SUMS: &str = "SHA256SUMS";
/// The script that boots it.
const SCRIPT: &str = "boot.sh";

/// A file that was written.
#[derive(Serialize)]
struct Written {
    name: String,
    bytes: usize,
    sha256: String,
}

/// Builds a system and writes its files into a folder.
pub fn image(asked: &Image, as_json: bool) -> Result<Verdict> {
    let mut system = systems::load(&asked.system)?;
    system.kernel = asked.kernel.clone().unwrap_or(system.kernel);
    let board = super::run::board(EMULATOR, asked.board.as_deref())?;
    super::run::check_cpus(&system)?;
    let folder = &asked.output;
    if folder.exists() && !folder.is_dir() {
        return Err(usage(format!("{} is no folder", folder.display())));
    }
    // Before anything is built, so that it is known that it can be made.
    fs::create_dir_all(folder).map_err(|error| usage(error.to_string()))?;
    let images = image::build_shipped(EMULATOR, &system)?;
    let archive = format!("{}.archive", system.name);
    // Without chance: the same source gives the same bytes.
    let packed = machine::pack(&images, &system, 0)?;
    let script = script(&system, board, &archive);
    let files = [
        (KERNEL, fs::read(&images.kernel)?),
        (archive.as_str(), packed.bytes),
        (SCRIPT, script.into_bytes()),
    ];
    let mut written = Vec::new();
    for (name, bytes) in files {
        fs::write(folder.join(name), &bytes)?;
        let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        written.push(Written { name: name.to_string(), bytes: bytes.len(), sha256 });
    }
    fs::set_permissions(folder.join(SCRIPT), std::fs::Permissions::from_mode(0o755))?;
    let sums = written.iter().map(|file| format!("{}  {}\n", file.sha256, file.name));
    fs::write(folder.join(SUMS), sums.collect::<String>())?;
    let text = image::text_bytes(&images.kernel)?;
    if as_json {
        print_json(&serde_json::json!({
            "system": system.name, "machine": EMULATOR.name(), "board": board,
            "kernel": system.kernel, "locking": system.locking(), "cpus": system.cpus,
            "memory": system.memory, "kernel_text": text, "folder": folder, "files": written,
        }));
    } else {
        show(&system, folder, &written, text);
    }
    Ok(Verdict::Held)
}

fn show(system: &System, folder: &Path, written: &[Written], text: u64) {
    let mut rows = table(&["file", "bytes", "SHA-256"]);
    for file in written {
        let sum = format!("{}...", &file.sha256[..16]);
        rows.add_row([file.name.clone(), file.bytes.to_string(), sum]);
    }
    output::line(fitted(rows).trim_end());
    output::line(format_args!(
        "\nkernel {}, {text} bytes of text; the machine needs {} of memory",
        system.kernel,
        manifest::spell_size(system.memory)
    ));
    output::line(format_args!("boot it: {}", folder.join(SCRIPT).display()));
}

/// The command that boots the files, in the folder where they are.
fn script(system: &System, board: &str, archive: &str) -> String {
    let launch = Launch {
        board,
        icount: None,
        cpus: system.cpus,
        memory: system.memory,
        memory_file: None,
        kernel: Path::new(KERNEL),
        archive: Path::new(archive),
        command_line: &format!("kernel={}", system.kernel),
        debugger: None,
        plugin: None,
        devices: &[],
    };
    let words = EMULATOR.arguments(&launch).into_iter().map(|word| {
        let word = word.to_string_lossy().into_owned();
        if word.starts_with('-') { format!(" \\\n    {word}") } else { format!(" {word}") }
    });
    format!(
        "#!/bin/sh\n# Boots {}. The status of a run that ends is twice its own, plus one.\n\
         cd \"$(dirname \"$0\")\" || exit\nexec {}{}\n",
        system.name,
        EMULATOR.program(),
        words.collect::<String>()
    )
}
