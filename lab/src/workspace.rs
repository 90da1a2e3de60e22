//! Where things are: the work tree, the build directory, the results.

pub mod sdk;

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, MetadataCommand};
use sdk::Sdk;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// What stands for a commit where there is none.
const UNKNOWN: &str = "unknown";
/// Behind a commit from which the work tree differs.
const MODIFIED: &str = "-modified";

/// The variable by which the launcher names its work tree.
const VARIABLE: &str = "GIUSTO_CHECKOUT";

/// The root of the work tree that this program works on: the launcher's, or the one whose tests
/// cargo runs. This program's own file does not say: a copy of a built work tree has one, too.
pub fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let launched = std::env::var_os(VARIABLE).map(PathBuf::from);
        let tested = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        launched.or(tested.and_then(|lab| Some(lab.parent()?.to_path_buf()))).unwrap_or_default()
    });
    &ROOT
}

/// What the root says of itself if it is that of an SDK, and no checkout's.
pub fn sdk() -> Option<&'static Sdk> {
    static SDK: LazyLock<Option<Sdk>> = LazyLock::new(|| Sdk::read(root()).ok());
    SDK.as_ref()
}

/// What is wrong with the work tree that this program was told, if anything is.
pub fn misplaced() -> Option<String> {
    let is_one = root().join("lab/src/main.rs").is_file() || sdk().is_some();
    let wrong =
        || format!("{VARIABLE} names no checkout or SDK of Giusto: start ./giusto, which sets it");
    (!is_one).then(wrong)
}

/// This program's file. `main` looks it up first: the system names a file by where it lay, and a
/// build of the tests may replace this one by another of the same source.
pub fn program() -> Result<&'static Path> {
    static PROGRAM: LazyLock<Option<PathBuf>> = LazyLock::new(|| std::env::current_exe().ok());
    PROGRAM.as_deref().context("this program has no path")
}

/// The directory that cargo builds into.
pub fn build_directory() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(directory) => root().join(directory),
        None => root().join("target"),
    }
}

/// Where experiments leave their results.
pub fn results() -> PathBuf {
    build_directory().join("lab")
}

/// A path as shown to the user: relative to the work tree where it lies in it.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The commit that is checked out, with a mark if the work tree differs from it; or that an SDK
/// was made from.
pub fn commit() -> String {
    if let Some(sdk) = sdk() {
        return sdk.commit.clone();
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(root()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    match git(&["rev-parse", "--short=12", "HEAD"]) {
        None => UNKNOWN.to_string(),
        Some(head) => match git(&["status", "--porcelain"]) {
            Some(changes) if changes.is_empty() => head,
            _ => format!("{head}{MODIFIED}"),
        },
    }
}

/// Whether [`commit`] names a commit whose very content the work tree has.
pub fn is_commit(commit: &str) -> bool {
    commit != UNKNOWN && !commit.ends_with(MODIFIED)
}

/// The source as it is: the commit, and what the work tree changes in it.
pub fn source() -> String {
    if sdk().is_some() {
        return commit();
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(root()).output();
        output.map(|output| output.stdout).unwrap_or_default()
    };
    let mut hasher = std::hash::DefaultHasher::new();
    git(&["diff", "HEAD"]).hash(&mut hasher);
    for name in git(&["ls-files", "--others", "--exclude-standard", "-z"]).split(|byte| *byte == 0)
    {
        let path = root().join(String::from_utf8_lossy(name).as_ref());
        (name, std::fs::read(path).unwrap_or_default()).hash(&mut hasher);
    }
    format!("{} {:016x}", commit(), hasher.finish())
}

/// What cargo knows of the packages of a work tree.
pub fn metadata(root: &Path) -> Result<Metadata> {
    MetadataCommand::new().current_dir(root).no_deps().exec().context("cargo knows no packages")
}

/// The folder in which cargo keeps what it has fetched.
pub fn cargo_home() -> Option<PathBuf> {
    let own = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(own)
}

/// Cargo, in the work tree. Flags from the environment would replace those that the target
/// needs, so they are left out.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command.env("CARGO_TARGET_DIR", build_directory());
    command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_names_the_work_tree_before_it_starts_anything() {
        let launcher = fs_err::read_to_string(root().join("giusto")).unwrap();
        let named = launcher.find(&format!("\nexport {VARIABLE}=$here\n"));
        let started = launcher.find("\nexec \"$lab\" \"$@\"");
        assert!(named.is_some() && named < started, "{named:?} {started:?}");
    }
}
