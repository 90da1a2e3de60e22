//! What was built is kept under the hash of what it was made from: of the source, of cargo's
//! arguments and of the toolchain. Where that is as it was, cargo is not asked. In an SDK some of
//! it is prebuilt, and kept in the same way.

use super::{cargo, remap, sources};
use crate::failure::usage;
use crate::workspace::{self, sdk};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use walkdir::WalkDir;

/// What is to be built, and from what.
pub struct Recipe {
    /// What the results are kept under.
    pub name: String,
    /// What is said while it is built.
    pub title: String,
    /// The package.
    pub package: &'static str,
    /// The profile.
    pub profile: &'static str,
    /// Cargo's further arguments, but for the executables.
    pub arguments: Vec<String>,
    /// Where cargo builds, if not in the usual directory. Others of the same package may be built
    /// there, one after the other.
    pub directory: Option<PathBuf>,
    /// The executables.
    pub executables: Vec<String>,
}

/// What everything is made with.
const COMMON: [&str; 4] = ["Cargo.toml", "Cargo.lock", ".cargo/config.toml", "rust-toolchain.toml"];
/// The variable that names the toolchain.
const TOOLCHAIN: &str = "RUSTUP_TOOLCHAIN";
/// Beginnings of the names of variables that change what is built.
const VARIABLES: [&str; 5] =
    ["RUSTC", TOOLCHAIN, "CARGO_PROFILE_", "CARGO_BUILD_", "CARGO_TARGET_X"];
/// How paths are written: in the hash, as results of before name places of the host.
const PATHS: &str = "from the root";
/// States of the source whose results are kept.
const KEPT: usize = 4;
/// Builds that are begun anew because the source has changed meanwhile.
const ATTEMPTS: usize = 3;

/// The executables by name, which are built if they are not there.
pub fn obtain(recipe: &Recipe) -> Result<BTreeMap<String, PathBuf>> {
    let setting = remap::setting();
    obtain_by(recipe, |missing| {
        let directory = recipe.directory.as_ref().map(|directory| directory.display().to_string());
        let only = missing.iter().flat_map(|name| ["--bin", name]);
        let first = ["--profile", recipe.profile, "-p", recipe.package, "--config", &setting];
        let place = directory.iter().flat_map(|directory| ["--target-dir", directory]);
        let arguments = first.into_iter().chain(recipe.arguments.iter().map(String::as_str));
        cargo::build(&recipe.title, &arguments.chain(place).chain(only).collect::<Vec<_>>())
    })
}

/// The executables by name; what builds some of them is called if they are not there.
pub fn obtain_by(
    recipe: &Recipe,
    build: impl Fn(&[&str]) -> Result<BTreeMap<String, PathBuf>>,
) -> Result<BTreeMap<String, PathBuf>> {
    if let Some(prebuilt) = prebuilt(recipe)? {
        return Ok(prebuilt);
    }
    let store = workspace::build_directory().join("images").join(&recipe.name);
    let kept = Kept::of(&store, recipe)?;
    if kept.missing(recipe).is_empty() {
        return Ok(kept.all(recipe));
    }
    // Held until this function ends. Who waited for it mostly finds what it wants.
    let _lock = locked(&store)?;
    // Held until what was built is copied: the next build there gives its own the same name.
    let _beside = recipe.directory.as_deref().map(locked).transpose()?;
    for _ in 0..ATTEMPTS {
        let kept = Kept::of(&store, recipe)?;
        let missing = kept.missing(recipe);
        if missing.is_empty() {
            return Ok(kept.all(recipe));
        }
        let built = build(&missing)?;
        if Kept::of(&store, recipe)? == kept {
            kept.take(&missing, &built)?;
            forget_old(&store)?;
        }
    }
    bail!("{}: the source changed while it was built", recipe.title)
}

/// The executables, if this is an SDK in which they are prebuilt, from the source as it is.
fn prebuilt(recipe: &Recipe) -> Result<Option<BTreeMap<String, PathBuf>>> {
    let (root, Some(_)) = (workspace::root(), workspace::sdk()) else { return Ok(None) };
    if sources::of(root, recipe.package)?.is_empty() {
        let package = recipe.package;
        return Err(usage(format!(
            "{}: this SDK has no source of `{package}`; give the command in a checkout of Giusto",
            recipe.title
        )));
    }
    let kept = Kept::prebuilt(root, recipe)?;
    Ok(kept.missing(recipe).is_empty().then(|| kept.all(recipe)))
}

/// Adds executables to the SDK with this root, which has their source.
pub fn add_prebuilt(recipe: &Recipe, root: &Path, built: &BTreeMap<String, PathBuf>) -> Result<()> {
    let names: Vec<&str> = recipe.executables.iter().map(String::as_str).collect();
    Kept::prebuilt(root, recipe)?.take(&names, built)
}

/// Waits until no other run works in a directory, which is made if it is not there.
fn locked(directory: &Path) -> Result<File> {
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot make {}", directory.display()))?;
    let lock = File::create(directory.join("lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Where the results for a state of the source are.
#[derive(PartialEq, Eq)]
struct Kept(PathBuf);

impl Kept {
    fn of(store: &Path, recipe: &Recipe) -> Result<Kept> {
        let hash = hash(workspace::root(), recipe, std::env::vars_os())?;
        Ok(Kept(store.join(format!("{hash:016x}"))))
    }

    /// In the SDK with this root, where variables that change what is built have no part.
    fn prebuilt(root: &Path, recipe: &Recipe) -> Result<Kept> {
        let hash = hash(root, recipe, std::iter::empty())?;
        Ok(Kept(root.join(sdk::IMAGES).join(&recipe.name).join(format!("{hash:016x}"))))
    }

    fn missing<'a>(&self, recipe: &'a Recipe) -> Vec<&'a str> {
        let missing = |name: &&str| !self.0.join(name).is_file();
        recipe.executables.iter().map(String::as_str).filter(missing).collect()
    }

    fn all(&self, recipe: &Recipe) -> BTreeMap<String, PathBuf> {
        recipe.executables.iter().map(|name| (name.clone(), self.0.join(name))).collect()
    }

    /// Copies what was built. Each name appears when its file is whole.
    fn take(&self, names: &[&str], built: &BTreeMap<String, PathBuf>) -> Result<()> {
        fs::create_dir_all(&self.0)?;
        for name in names {
            let from = built.get(*name).with_context(|| format!("cargo built no `{name}`"))?;
            let partial = self.0.join(format!("{name}.partial"));
            fs::copy(from, &partial).with_context(|| format!("cannot copy {}", from.display()))?;
            fs::rename(&partial, self.0.join(name))?;
        }
        Ok(())
    }
}

/// Removes results for states of the source that were built long ago.
pub fn forget_old(store: &Path) -> Result<()> {
    let mut states: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(store)? {
        let entry = entry?;
        let data = entry.metadata()?;
        if data.is_dir() {
            states.push((data.modified()?, entry.path()));
        }
    }
    states.sort();
    let old = states.len().saturating_sub(KEPT);
    states[..old].iter().try_for_each(|(_, path)| Ok(fs::remove_dir_all(path)?))
}

fn hash(
    root: &Path,
    recipe: &Recipe,
    variables: impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)>,
) -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    (PATHS, recipe.package, recipe.profile, &recipe.arguments).hash(&mut hasher);
    let counts = |name: &std::ffi::OsString| counts(&name.to_string_lossy());
    let mut variables: Vec<_> = variables.filter(|(name, _)| counts(name)).collect();
    variables.sort();
    variables.hash(&mut hasher);
    let sources = sources::of(root, recipe.package)?;
    for path in COMMON.into_iter().chain(sources.iter().map(String::as_str)) {
        add(&mut hasher, root, Path::new(path)).with_context(|| format!("cannot read {path}"))?;
    }
    Ok(hasher.finish())
}

/// Whether a variable of this name changes what is built.
fn counts(name: &str) -> bool {
    VARIABLES.iter().any(|beginning| name.starts_with(beginning))
}

/// A variable that is set and changes what is built; the launcher sets that of the toolchain.
pub fn variable() -> Option<String> {
    let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    let mut names = names.filter(|name| name != TOOLCHAIN);
    names.find(|name| counts(name))
}

/// Adds a file, or all files of a directory but those of its tests.
fn add(hasher: &mut DefaultHasher, root: &Path, path: &Path) -> Result<()> {
    let walk = WalkDir::new(root.join(path)).sort_by_file_name().into_iter();
    for entry in walk.filter_entry(|entry| entry.file_name() != "tests") {
        let entry = entry?;
        if entry.file_type().is_file() {
            entry.path().strip_prefix(root)?.hash(hasher);
            fs::read(entry.path())?.hash(hasher);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A work tree, and the hash of a recipe in it.
    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Tree {
            let tree = Tree(tempfile::tempdir().unwrap());
            COMMON.iter().for_each(|path| tree.write(path, ""));
            tree.write("Cargo.toml", "[workspace]\nmembers = [\"kernel\", \"locks\", \"lab\"]");
            let kernel = "[package]\nname = \"kernel\"\n[dependencies]\nlocks.workspace = true";
            tree.write("kernel/Cargo.toml", kernel);
            tree.write("kernel/src/lib.rs", "mod ipc;");
            tree.write("locks/Cargo.toml", "[package]\nname = \"locks\"");
            tree.write("lab/Cargo.toml", "[package]\nname = \"lab\"");
            tree.write("lab/src/main.rs", "fn main() {}");
            tree
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn hash(&self, arguments: &[&str], variables: &[(&str, &str)]) -> u64 {
            let recipe = Recipe {
                name: "k".to_string(),
                title: String::new(),
                package: "kernel",
                profile: "metal",
                arguments: arguments.iter().copied().map(String::from).collect(),
                directory: None,
                executables: Vec::new(),
            };
            let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
            hash(self.0.path(), &recipe, variables).unwrap()
        }
    }

    #[test]
    fn whatever_changes_the_result_changes_the_hash() {
        let tree = Tree::new();
        let before = tree.hash(&["--features", "fine"], &[]);
        assert_eq!(tree.hash(&["--features", "fine"], &[]), before);
        assert_ne!(tree.hash(&["--features", "big"], &[]), before, "features");
        let toolchain = [("RUSTUP_TOOLCHAIN", "nightly")];
        assert_ne!(tree.hash(&["--features", "fine"], &toolchain), before, "the toolchain");
        let own =
            ["kernel/Cargo.toml", "kernel/src/lib.rs", "kernel/src/new.rs", "locks/src/lib.rs"];
        for path in COMMON.iter().chain(&own) {
            let old = tree.hash(&[], &[]);
            let full = tree.0.path().join(path);
            let text = fs::read_to_string(full).unwrap_or_default();
            tree.write(path, &format!("{text}\n# changed"));
            assert_ne!(tree.hash(&[], &[]), old, "{path}");
        }
    }

    #[test]
    fn what_has_no_part_in_the_result_has_none_in_the_hash() {
        let tree = Tree::new();
        let before = tree.hash(&[], &[]);
        tree.write("lab/src/main.rs", "fn main() {}");
        tree.write("kernel/tests/hosted.rs", "#[test]");
        assert_eq!(tree.hash(&[], &[("HOME", "/")]), before);
    }

    #[test]
    fn results_for_the_latest_states_are_kept() {
        let store = tempfile::tempdir().unwrap();
        for (state, age) in [("c", 30), ("a", 50), ("e", 10), ("b", 40), ("d", 20)] {
            let path = store.path().join(state);
            fs::create_dir(&path).unwrap();
            let built = SystemTime::now() - std::time::Duration::from_secs(age);
            File::open(&path).unwrap().set_modified(built).unwrap();
        }
        fs::write(store.path().join("lock"), "").unwrap();
        forget_old(store.path()).unwrap();
        let there = |state: &&str| store.path().join(state).exists();
        let left: Vec<_> = ["a", "b", "c", "d", "e", "lock"].into_iter().filter(there).collect();
        assert_eq!(left, ["b", "c", "d", "e", "lock"]);
    }
}
