//! A workspace of its own for each system with programs from outside. A crate is a library with a
//! function `fn(&rt::Env)`: executables for a machine, and a twin that holds it, are packages that
//! are written here. Giusto's own twin is built in the same way: to cargo, a package is another one
//! where it is a member of the workspace, and all twins are to share what they are made of.

use super::crates::Program;
use super::recipes::{DEBUGGED, PROGRAM, SIMULATED};
use super::{cargo, remap, sources, versions};
use crate::machine::EMULATOR;
use crate::workspace;
use anyhow::{Context, Result};
use fs_err as fs;
use manifest::System;
use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What cargo says where a package comes from two places.
const COLLISION: &str = "package collision in the lockfile";
/// What cargo says if the path to a package of Giusto's leads nowhere.
const MISSING: &str = "failed to load source for dependency `giusto-";
/// The file that names the system's own folder.
const OWNER: &str = "folder";
/// What cargo says if it would need the network.
const OFFLINE: &str = "--offline";
/// The packages of Giusto's that executables and the twin begin with.
const RT: &str = "giusto-rt";
const TWIN: &str = "ports/twin";

/// What each package here says of itself.
pub const COMMON: &str = "version = \"0.0.0\"\nedition = \"2024\"\npublish = false\n";
/// How an executable for a machine begins.
const BARE: &str = "#![no_std]\n#![no_main]\n\n";

/// The tag of the place for Giusto's own twin. Those of systems are longer.
const OWN: &str = "giusto";

/// Where the first program from outside lies that is for a debugger, behind Giusto's own.
pub const OUTSIDE: u64 = 0x2800_0000;
/// How far apart such programs lie.
pub const APART: u64 = 0x40_0000;

/// A system's workspace under the build directory, which one run at a time writes and builds. It
/// has both packages, whichever is built: so that they are of the same versions.
pub struct Place {
    folder: PathBuf,
    /// Tells its packages and executables from those of other systems.
    tag: String,
    /// Held until the executables are built.
    _lock: File,
}

impl Place {
    /// Writes the workspace of a system.
    pub fn of(system: &System, programs: &[Program], plant: Option<&Program>) -> Result<Place> {
        let (folder, own) = folder_of(system)?;
        let tag = folder.file_name().and_then(|name| name.to_str()).context("it has a name")?;
        let place = Place::called(tag.to_string(), &workspace_manifest()?)?;
        forget_lost(place.folder.parent().context("systems lie in a folder")?)?;
        place.write(OWNER, &own.display().to_string())?;
        place.write_programs(programs)?;
        place.write_twin(programs, plant)?;
        Ok(place)
    }

    /// Writes the workspace of the twin that has Giusto's own programs only.
    pub fn of_giusto() -> Result<Place> {
        let place = Place::called(OWN.to_string(), &workspace_manifest()?)?;
        place.write_twin(&[], None)?;
        Ok(place)
    }

    /// A workspace with this manifest, without packages.
    pub fn called(tag: String, manifest: &str) -> Result<Place> {
        let folder = systems().join(&tag);
        fs::create_dir_all(&folder)?;
        let lock = File::create(folder.join("lock"))?;
        lock.lock()?;
        let place = Place { folder, tag, _lock: lock };
        place.write("Cargo.toml", manifest)?;
        place.keep_versions()?;
        Ok(place)
    }

    /// The package of executables for machines, one for each program.
    fn write_programs(&self, programs: &[Program]) -> Result<()> {
        let rt = Table::from_iter([of_version(), ("package".to_string(), RT.into())]);
        let manifest = self.package("programs", programs.iter(), ("rt", rt))?;
        let executable = |(index, program): (usize, &Program)| {
            // Where there is no such function, the compiler shows this line.
            let Program { number, folder, entry, .. } = program;
            let wanted = format!("pub fn {entry}(env: &rt::Env) in {folder:?}");
            (self.executable(index), format!("rt::entry!(p{number}::{entry}); // {wanted}\n"))
        };
        let executables: Vec<_> = programs.iter().enumerate().map(executable).collect();
        self.write_executables(manifest, &executables, OUTSIDE)
    }

    /// Completes the package of executables for machines: each has a name and a line. For a
    /// debugger they lie from an address on.
    pub fn write_executables(
        &self,
        mut manifest: String,
        executables: &[(String, String)],
        first: u64,
    ) -> Result<()> {
        for (name, entry) in executables {
            let file = format!("entry/{name}.rs");
            manifest.push_str(&format!("\n[[bin]]\nname = {name:?}\npath = {file:?}\n"));
            self.write(&format!("programs/{file}"), &format!("{BARE}{entry}"))?;
        }
        self.write("programs/Cargo.toml", &manifest)?;
        let names: Vec<&str> = executables.iter().map(|(name, _)| name.as_str()).collect();
        self.write("programs/build.rs", &build_script(&names, first))?;
        Ok(())
    }

    /// The package of the twin.
    fn write_twin(&self, programs: &[Program], plant: Option<&Program>) -> Result<()> {
        let features = ("features".to_string(), vec!["programs"].into());
        let twin = Table::from_iter([path(&workspace::root().join(TWIN)), features]);
        let text = self.package("twin", programs.iter().chain(plant), ("twin", twin))?;
        let name = self.twin();
        let text = format!("{text}\n[[bin]]\nname = {name:?}\npath = \"main.rs\"\n");
        self.write("twin/Cargo.toml", &text)?;
        let entry = |Program { name, number, entry, .. }: &Program| {
            format!("        ({name:?}, p{number}::{entry}),\n")
        };
        let list = |entries: String| format!("&[\n{entries}    ]");
        let entries = list(programs.iter().map(entry).collect());
        let plants = list(plant.into_iter().map(entry).collect());
        let main = "fn main() -> std::process::ExitCode";
        let main = format!("{main} {{\n    twin::serve({entries}, {plants})\n}}\n");
        self.write("twin/main.rs", &main)?;
        Ok(())
    }

    /// Begins with the versions of Giusto's own dependencies; what else the crates depend on is
    /// kept at its versions as long as those stay.
    fn keep_versions(&self) -> Result<()> {
        let own = fs::read_to_string(workspace::root().join("Cargo.lock"))?;
        if self.write("giusto.lock", &own)? {
            fs::write(self.folder.join("Cargo.lock"), own)?;
        }
        Ok(())
    }

    /// Writes a file, unless it is as it should be: cargo goes by its time. Returns whether it was
    /// written.
    fn write(&self, name: &str, text: &str) -> Result<bool> {
        let path = self.folder.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return Ok(false);
        }
        fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(true)
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name of the executable of the program with this index.
    pub fn executable(&self, index: usize) -> String {
        format!("{}-{index}", self.tag)
    }

    /// The name of the twin's executable.
    pub fn twin(&self) -> String {
        format!("{}-twin", self.tag)
    }

    /// The beginning of a package's manifest. It depends on something of Giusto's, and on the
    /// crates, each under a name that goes by its number. Giusto's packages for users are named,
    /// whether the crates use them or not: cargo complains of packages that it is to take from
    /// here and that are not.
    fn package<'a>(
        &self,
        kind: &str,
        crates: impl Iterator<Item = &'a Program>,
        (name, giusto): (&str, Table),
    ) -> Result<String> {
        let mut dependencies = Table::new();
        let optional = ("optional".to_string(), Value::from(true));
        let is_named =
            |package: &str| giusto.get("package").and_then(Value::as_str) == Some(package);
        for package in for_users()?.into_keys().filter(|package| !is_named(package)) {
            let table = Table::from_iter([of_version(), optional.clone()]);
            dependencies.insert(package, table.into());
        }
        dependencies.insert(name.to_string(), giusto.into());
        for program in crates {
            let package = ("package".to_string(), Value::from(program.package.clone()));
            let table = Table::from_iter([package, path(&program.folder)]);
            dependencies.insert(format!("p{}", program.number), Value::Table(table));
        }
        let dependencies = Table::from_iter([("dependencies".into(), dependencies.into())]);
        let name = format!("{kind}-{}", self.tag);
        Ok(format!("[package]\nname = {name:?}\n{COMMON}\n{dependencies}"))
    }

    /// Builds a package, `programs` or `twin`; its executables by name.
    pub fn build(
        &self,
        title: &str,
        kind: &str,
        arguments: &[&str],
    ) -> Result<BTreeMap<String, PathBuf>> {
        let manifest = self.folder.join(kind).join("Cargo.toml").display().to_string();
        let own = ["--manifest-path", &manifest, "--config", &remap::setting()];
        let build = |more: &[&str]| cargo::build(title, &[&own, more, arguments].concat());
        let built = match build(&[OFFLINE]) {
            // The crates depend on a package that cargo has not fetched yet.
            Err(error) if error.to_string().contains(OFFLINE) => build(&[]),
            built => built,
        };
        built.map_err(|error| {
            let said = error.to_string();
            let elsewhere = match () {
                () if said.contains(COLLISION) => "another checkout of Giusto",
                () if said.contains(MISSING) => "a checkout of Giusto that is not there",
                () => return error,
            };
            let mend = format!("let their Cargo.toml ask for version {}", versions::OWN);
            error.context(format!("the crates depend on {elsewhere}; {mend}"))
        })
    }
}

/// Where what is built for systems lies, with a folder for each.
fn systems() -> PathBuf {
    workspace::build_directory().join("systems")
}

/// Where what is built for a system lies, and the system's own folder.
fn folder_of(system: &System) -> Result<(PathBuf, PathBuf)> {
    let own = own_folder(system)?;
    let mut hasher = DefaultHasher::new();
    // A folder may hold several manifests.
    (&own, Path::new(&system.source.name).file_name(), &system.name).hash(&mut hasher);
    let tag = format!("{}-{:08x}", system.name, hasher.finish() as u32);
    Ok((systems().join(tag), own))
}

/// The folder of a system's manifest.
pub fn own_folder(system: &System) -> Result<PathBuf> {
    let folder = &system.folder;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    Ok(fs::canonicalize(folder)?)
}

/// A folder for what is built for a system without cargo. It goes when the system is gone.
pub fn further_files(system: &System) -> Result<PathBuf> {
    let (folder, own) = folder_of(system)?;
    forget_lost(&systems())?;
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(OWNER), own.display().to_string())?;
    Ok(folder)
}

/// A package that is taken from a folder.
fn path(folder: &Path) -> (String, Value) {
    ("path".to_string(), Value::from(folder.display().to_string()))
}

/// A package that is taken by its version, as users' crates name it.
fn of_version() -> (String, Value) {
    ("version".to_string(), Value::from(versions::OWN))
}

/// Giusto's packages that users' crates may name, with their folders.
fn for_users() -> Result<BTreeMap<String, PathBuf>> {
    let root = workspace::root();
    let packages = sources::packages(root, "twin")?.into_iter();
    let packages = packages.filter(|(name, _)| name.starts_with(versions::PREFIX));
    Ok(packages.map(|(name, folder)| (name, root.join(folder))).collect())
}

/// The workspace's manifest. Giusto's packages for users, which crates name by version, are those
/// that are here. The profiles are Giusto's, as far as they are about what is built here. What they
/// say of all dependencies is not: here the crates are among them, whose faults are told with
/// their lines.
fn workspace_manifest() -> Result<String> {
    let root = workspace::root();
    let known = sources::packages(root, "twin")?;
    let profiles = profiles(root, |name| known.contains_key(name))?;
    let here = for_users()?.into_iter();
    let here = here.map(|(name, folder)| (name, Table::from_iter([path(&folder)]).into()));
    let here = Table::from_iter([("crates-io".to_string(), Table::from_iter(here).into())]);
    let rest = [("patch".to_string(), here.into()), ("profile".to_string(), profiles.into())];
    let rest = Table::from_iter(rest);
    Ok(format!("[workspace]\nmembers = [\"*\"]\nresolver = \"3\"\n\n{rest}"))
}

/// The profiles of a work tree, with what they say of those packages that are wanted; `*` is all.
pub fn profiles(root: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Table> {
    let mut manifest = sources::read(root, ".")?;
    let profiles = manifest.remove("profile").context("there are profiles")?;
    let mut profiles: Table = profiles.try_into()?;
    for profile in profiles.iter_mut().filter_map(|(_, profile)| profile.as_table_mut()) {
        if let Some(packages) = profile.get_mut("package").and_then(Value::as_table_mut) {
            packages.retain(|name, _| is_wanted(name));
        }
    }
    Ok(profiles)
}

/// How programs are laid out: as the packer of boot archives expects them, and for a debugger, for
/// which alone they are not optimised, at addresses of their own.
const SCRIPT: &str = r#"fn main() {
    let (script, first, names) = (SCRIPT, FIRST, NAMES);
    println!("cargo::rerun-if-changed={script}");
    for argument in ["-T", script, "-z", "max-page-size=4096"] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    if std::env::var("OPT_LEVEL").as_deref() == Ok("0") {
        for (name, place) in names.iter().zip(0u64..) {
            let at = first + place * APART;
            println!("cargo::rustc-link-arg-bin={name}=--defsym=giusto_base={at:#x}");
        }
    }
}
"#;

/// The build script of programs with these names.
fn build_script(names: &[&str], first: u64) -> String {
    let script = workspace::root().join("user/rt/link.ld").display().to_string();
    let text = SCRIPT.replace("FIRST", &first.to_string()).replace("APART", &APART.to_string());
    text.replace("SCRIPT", &format!("{script:?}")).replace("NAMES", &format!("{names:?}"))
}

/// Forgets systems whose folders are gone, and what was built for them.
fn forget_lost(systems: &Path) -> Result<()> {
    for place in fs::read_dir(systems).into_iter().flatten() {
        let place = place?;
        let owner = fs::read_to_string(place.path().join(OWNER));
        // One that is being made has no owner yet.
        let is_there = |owner: String| owner.is_empty() || Path::new(&owner).is_dir();
        if owner.map_or(true, is_there) {
            continue;
        }
        let tag = plain(&place.file_name().to_string_lossy());
        let of_programs = [PROGRAM, DEBUGGED].map(|it| format!("{}/{it}", EMULATOR.target()));
        let profiles = [&[SIMULATED.to_string()], &of_programs[..]].concat();
        let folders = profiles.iter().flat_map(|profile| {
            ["", "deps", "incremental", ".fingerprint", "build"]
                .map(|kind| workspace::build_directory().join(profile).join(kind))
        });
        for entry in folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten()) {
            let entry = entry?;
            if plain(&entry.file_name().to_string_lossy()).contains(&tag) {
                remove(&entry.path())?;
            }
        }
        remove(&place.path())?;
    }
    Ok(())
}

/// A name as files have it that are named by packages, and by what is made of them.
fn plain(name: &str) -> String {
    name.replace('_', "-")
}

/// Removes a file or a folder. Another run may have done so.
fn remove(path: &Path) -> Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_keep_their_lines_and_giustos_packages_their_profiles() {
        let manifest: Table = workspace_manifest().unwrap().parse().unwrap();
        let simulated = &manifest["profile"][SIMULATED];
        assert_eq!(simulated["debug"].as_str(), Some("line-tables-only"));
        let of = |profile: &str| manifest["profile"][profile]["package"].as_table().unwrap();
        let (packages, simulated) = (of("dev"), of(SIMULATED));
        assert!(packages.contains_key("programs") && simulated.contains_key("twin"));
        let mut each = packages.values().chain(simulated.values());
        assert!(each.all(|package| package.get("debug").is_none()), "{manifest:?}");
        assert!(!packages.contains_key("lab"), "cargo would warn of it");
    }

    #[test]
    fn the_own_twin_has_no_programs_from_outside() {
        // Not the place itself, which a build may hold.
        let folder = tempfile::tempdir().unwrap();
        let lock = File::create(folder.path().join("lock")).unwrap();
        let path = folder.path().to_path_buf();
        let place = Place { folder: path, tag: OWN.to_string(), _lock: lock };
        place.write_twin(&[], None).unwrap();
        assert_eq!(place.twin(), "giusto-twin");
        let main = fs::read_to_string(place.folder.join("twin/main.rs")).unwrap();
        assert!(main.contains("twin::serve(&[\n    ], &[\n    ])"), "{main}");
    }
}
