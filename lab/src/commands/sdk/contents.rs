//! The files of an SDK. It is a work tree without what is about Giusto itself: the same files lie
//! in the same places, so the laboratory works there as in a checkout.

use super::manifests;
use crate::image::{Build, prebuilt};
use crate::workspace::{self, sdk, sdk::Sdk};
use anyhow::{Context, Result, ensure};
use fs_err as fs;
use sha2::{Digest, Sha256};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// The sums of all other files, for `sha256sum -c`.
pub const SUMS: &str = "SHA256SUMS";
/// Files that an SDK has as they are.
const FILES: [&str; 11] = [
    ".cargo/config.toml",
    "ARCHITECTURE.md",
    "CAVEATS.md",
    "CHANGELOG.md",
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "SECURITY.md",
    "giusto",
    "rust-toolchain.toml",
    // The figures that `check` bounds latency by.
    "tests/golden.toml",
];
/// Folders that an SDK has beside those of packages: pages, named systems, what programs in C link.
const FOLDERS: [&str; 3] = ["docs", "systems", "user/c"];
/// How the names of files in folders end; what else lies there is none of ours.
const ENDINGS: [&str; 7] = ["c", "h", "ld", "md", "rs", "s", "toml"];
/// The manifest of a package.
const MANIFEST: &str = "Cargo.toml";
/// Files that can be started.
const PROGRAMS: [&str; 2] = ["giusto", sdk::LABORATORY];

/// What was written.
pub struct Contents {
    /// What it says of itself.
    pub sdk: Sdk,
    /// How many files there are.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// The SHA-256 of the sums.
    pub sum: String,
}

/// Writes an SDK with this laboratory and these kernels.
pub fn write(root: &Path, laboratory: &Path, kernels: &[Build]) -> Result<Contents> {
    let packages = prebuilt::packages()?;
    for file in FILES {
        copy(root, Path::new(file))?;
    }
    for folder in packages.values().map(String::as_str).chain(FOLDERS) {
        for file in files(&workspace::root().join(folder))? {
            copy(root, file.strip_prefix(workspace::root())?)?;
        }
    }
    put(&root.join(MANIFEST), manifests::workspace(&packages)?.as_bytes())?;
    put(&root.join("README.md"), include_str!("README.txt").as_bytes())?;
    lock(root)?;
    put(&root.join(sdk::LABORATORY), &fs::read(laboratory)?)?;
    let own = Sdk {
        giusto: env!("CARGO_PKG_VERSION").to_string(),
        commit: workspace::commit(),
        host: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
    };
    put(&root.join(sdk::FILE), own.text().as_bytes())?;
    // Last, as their place tells of which source they are.
    prebuilt::add(root, kernels)?;
    summed(root, own)
}

/// The files in a folder of the work tree, without those of tests.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_ours = |entry: &DirEntry| match entry.file_type().is_dir() {
        true => !["tests", "target"].iter().any(|name| entry.file_name() == *name),
        false => entry.path().extension().is_some_and(|it| ENDINGS.iter().any(|own| it == *own)),
    };
    let mut files = Vec::new();
    for entry in WalkDir::new(folder).into_iter().filter_entry(is_ours) {
        let entry = entry?;
        files.extend(entry.file_type().is_file().then(|| entry.into_path()));
    }
    ensure!(!files.is_empty(), "there are no files in {}", folder.display());
    Ok(files)
}

/// Copies a file of the work tree.
fn copy(root: &Path, file: &Path) -> Result<()> {
    let bytes = fs::read(workspace::root().join(file))?;
    match file.file_name().is_some_and(|name| name == MANIFEST) {
        true => put(&root.join(file), manifests::without_tests(str::from_utf8(&bytes)?).as_bytes()),
        false => put(&root.join(file), &bytes),
    }
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::create_dir_all(path.parent().context("a file has a folder")?)?;
    Ok(fs::write(path, bytes)?)
}

/// Leaves those versions in the lock file that the packages of an SDK are built with.
fn lock(root: &Path) -> Result<()> {
    let mut cargo = workspace::cargo(&["update", "--workspace", "--offline", "--quiet"]);
    let said = cargo.current_dir(root).output().context("cannot run cargo")?;
    let errors = String::from_utf8_lossy(&said.stderr);
    ensure!(said.status.success(), "cargo cannot lock the versions of an SDK:\n{errors}");
    Ok(())
}

/// Gives all files their modes, whatever the user's are, and sums them up.
fn summed(root: &Path, sdk: Sdk) -> Result<Contents> {
    let (mut files, mut bytes, mut sums) = (1, 0, String::new());
    for entry in WalkDir::new(root).sort_by_file_name() {
        let entry = entry?;
        let path = entry.path().strip_prefix(root)?;
        let is_file = entry.file_type().is_file();
        let can_start = !is_file || PROGRAMS.iter().any(|program| path == Path::new(program));
        let mode = if can_start { 0o755 } else { 0o644 };
        fs::set_permissions(entry.path(), Permissions::from_mode(mode))?;
        if is_file {
            let contents = fs::read(entry.path())?;
            sums.push_str(&format!("{}  {}\n", sum(&contents), path.display()));
            (files, bytes) = (files + 1, bytes + contents.len() as u64);
        }
    }
    put(&root.join(SUMS), sums.as_bytes())?;
    fs::set_permissions(root.join(SUMS), Permissions::from_mode(0o644))?;
    Ok(Contents { sdk, files, bytes: bytes + sums.len() as u64, sum: sum(sums.as_bytes()) })
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
