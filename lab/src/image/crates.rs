//! Programs from outside of the work tree: crates and sources in C, which are built, and ELF files.

use super::place::Place;
use super::{in_c, recipes, versions};
use crate::machine::Emulator;
use anyhow::{Context, Result};
use manifest::{Domain, Origin, Problem, Problems, System};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// How an executable is made.
const BUILD: &str =
    "build it first, or name its sources: program = { c = [\"main.c\"] } (docs/c.md)";

/// A crate's function that is a program.
pub struct Program {
    /// What the manifest's domains call it.
    pub name: String,
    /// Which of the system's crates it is in.
    pub number: usize,
    /// The crate's folder.
    pub folder: PathBuf,
    /// The name of its package.
    pub package: String,
    /// The function's path in it.
    pub entry: String,
}

/// Whether a system has crates from outside.
pub fn any(system: &System) -> bool {
    let is_crate = |domain: &Domain| matches!(domain.origin, Origin::Crate { .. });
    system.domains.iter().any(is_crate) || plant(system).is_some()
}

/// The crate of a system's plant, if that comes from outside: its folder and a function's path.
fn plant(system: &System) -> Option<(PathBuf, &str)> {
    let (folder, entry) = system.devices.as_ref()?.plant.as_ref()?;
    Some((system.folder.join(folder), entry))
}

/// Refuses a system that lacks programs from outside.
pub fn check(system: &System) -> Result<()> {
    match problems(system) {
        none if none.is_empty() => Ok(()),
        problems => Err(Problems(problems).into()),
    }
}

/// A system's programs from outside that are the same on each machine: those in C, which are built,
/// and ELF files.
pub fn files(system: &System) -> Result<BTreeMap<String, PathBuf>> {
    let mut files = BTreeMap::new();
    for domain in &system.domains {
        let file = match &domain.origin {
            Origin::Giusto | Origin::Crate { .. } => continue,
            Origin::C { sources, flags } => in_c::build(system, domain, sources, flags)?,
            Origin::Elf(file) => system.folder.join(file),
        };
        files.insert(domain.program.clone(), file);
    }
    Ok(files)
}

/// Builds a system's programs from outside for a machine, by a profile.
pub fn executables(
    system: &System,
    machine: &dyn Emulator,
    profile: &str,
) -> Result<BTreeMap<String, PathBuf>> {
    let mut executables = files(system)?;
    let programs = crates(system)?;
    if programs.is_empty() {
        return Ok(executables);
    }
    let place = place(system, &programs)?;
    let title = format!("building the programs of {}", system.name);
    let arguments = ["--profile", profile, "--target", machine.target()];
    let mut built = place.build(&title, "programs", &arguments)?;
    for (index, program) in programs.into_iter().enumerate() {
        let path = built.remove(&place.executable(index)).context("cargo built no executable")?;
        executables.insert(program.name, path);
    }
    Ok(executables)
}

/// Builds a twin that holds a system's crates beside Giusto's own programs.
pub fn twin(system: &System) -> Result<PathBuf> {
    let place = place(system, &crates(system)?)?;
    let title = format!(
        "building the twin with the programs of {}; the first time this takes a minute",
        system.name
    );
    let mut built = place.build(&title, "twin", &["--profile", recipes::SIMULATED])?;
    built.remove(&place.twin()).context("cargo built no twin")
}

/// What a system's programs from outside lack, as far as it can be told without building them.
pub fn problems(system: &System) -> Vec<Problem> {
    let no_file = |file: &String| {
        let path = system.folder.join(file);
        (!path.is_file()).then(|| format!("there is no file {}", path.display()))
    };
    let problem = |domain: &Domain| {
        let (missing, help) = match &domain.origin {
            Origin::Giusto => return None,
            Origin::C { sources, .. } => {
                (sources.iter().find_map(no_file)?, "name files from the manifest's own folder")
            }
            Origin::Elf(file) => (no_file(file)?, BUILD),
            Origin::Crate { folder, .. } => {
                let path = system.folder.join(folder);
                let missing = package(&path).err()?;
                (format!("{missing:#}"), "name the folder of a crate, from the manifest's own")
            }
        };
        Some(system.source.problem(&domain.program_at, missing, help))
    };
    let mut problems: Vec<Problem> = system.domains.iter().filter_map(problem).collect();
    if let (Some((folder, _)), Some(devices)) = (plant(system), &system.devices)
        && let Err(missing) = package(&folder)
    {
        let help = "name the folder of a crate, from the manifest's own";
        problems.push(system.source.problem(&devices.at, format!("{missing:#}"), help));
    }
    if problems.is_empty() {
        problems.extend(namesakes(system));
        problems.extend(of_other_versions(system));
    }
    problems
}

/// Two crates of one name, which cargo cannot tell apart.
fn namesakes(system: &System) -> Option<Problem> {
    let programs = crates(system).ok()?;
    let other = |program: &Program| {
        programs.iter().find(|it| it.package == program.package && it.folder != program.folder)
    };
    let program = programs.iter().find(|program| other(program).is_some())?;
    let domain = system.domains.iter().find(|domain| domain.program == program.name)?;
    let message = format!("two crates are called `{}`", program.package);
    let help = "give each package a name of its own in its Cargo.toml";
    Some(system.source.problem(&domain.program_at, message, help))
}

/// Crates that are written for other versions of Giusto's packages.
fn of_other_versions(system: &System) -> Vec<Problem> {
    let problem = |domain: &Domain| {
        let Origin::Crate { folder, .. } = &domain.origin else { return None };
        let folder = fs::canonicalize(system.folder.join(folder)).ok()?;
        let unmet = versions::unmet(&folder).ok()??;
        let (package, wanted, own) = (&unmet.package, &unmet.wanted, versions::OWN);
        let message = format!("its crate asks for `{package}` {wanted}; this Giusto is {own}");
        let manifest = unmet.manifest.display();
        let help = format!("use a Giusto of that version, or ask for {own} in {manifest}");
        Some(system.source.problem(&domain.program_at, message, help))
    };
    system.domains.iter().filter_map(problem).collect()
}

/// The crates' programs, each once.
fn crates(system: &System) -> Result<Vec<Program>> {
    let mut programs = BTreeMap::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for domain in &system.domains {
        if let Origin::Crate { folder, entry } = &domain.origin {
            let folder = fs::canonicalize(system.folder.join(folder))?;
            let (package, entry, name) = (package(&folder)?, entry.clone(), domain.program.clone());
            let number = folders.iter().position(|other| *other == folder).unwrap_or_else(|| {
                folders.push(folder.clone());
                folders.len() - 1
            });
            programs.insert(name.clone(), Program { name, number, folder, package, entry });
        }
    }
    Ok(programs.into_values().collect())
}

/// The workspace of a system, with its plant.
fn place(system: &System, programs: &[Program]) -> Result<Place> {
    let plant = plant(system).map(|(folder, entry)| plant_of(system, programs, &folder, entry));
    Place::of(system, programs, plant.transpose()?.as_ref())
}

/// The plant as a function of a crate: that of a program, if it is there.
fn plant_of(system: &System, programs: &[Program], folder: &Path, entry: &str) -> Result<Program> {
    let folder = fs::canonicalize(folder)?;
    let same = programs.iter().find(|program| program.folder == folder);
    let next = programs.iter().map(|program| program.number + 1).max().unwrap_or(0);
    let name = system.devices.as_ref().map(|devices| devices.setup.plant.clone());
    Ok(Program {
        name: name.unwrap_or_default(),
        number: same.map_or(next, |program| program.number),
        package: package(&folder)?,
        folder,
        entry: entry.to_string(),
    })
}

/// The name of the package in a folder.
fn package(folder: &Path) -> Result<String> {
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path);
    let text =
        text.with_context(|| format!("there is no crate: cannot read {}", path.display()))?;
    let manifest: Table = text.parse().with_context(|| format!("{} is no TOML", path.display()))?;
    let package = manifest.get("package").and_then(|package| package.get("name"));
    let name = package.and_then(Value::as_str).map(String::from);
    name.with_context(|| format!("{} names no package", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems;

    /// A system whose one program is this.
    fn with(folder: &Path, program: &str) -> System {
        let text = format!(
            "[system]\nname = \"outside\"\n\n[[domain]]\nname = \"it\"\nprogram = {program}\n\
             priority = 1\n"
        );
        fs::write(folder.join(systems::MANIFEST), text).unwrap();
        systems::load(folder.to_str().unwrap()).unwrap()
    }

    #[test]
    fn what_is_missing_is_told_without_a_build() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        fs::create_dir_all(folder.join("empty")).unwrap();
        fs::write(folder.join("empty/Cargo.toml"), "[workspace]\n").unwrap();
        let said = |program: &str| {
            let problems = problems(&with(folder, program));
            problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ")
        };
        let two = "{ crate = \"a/x\" }\npriority = 1\n\n[[domain]]\nname = \"other\"\n\
                   program = { crate = \"b/x\" }";
        for crate_ in ["a/x", "b/x"] {
            fs::create_dir_all(folder.join(crate_)).unwrap();
            fs::write(folder.join(crate_).join("Cargo.toml"), "[package]\nname = \"x\"\n").unwrap();
        }
        assert_eq!(said(two), "two crates are called `x`");
        assert!(said("{ elf = \"it.elf\" }").starts_with("there is no file "));
        assert!(said("{ crate = \"it\" }").starts_with("there is no crate: cannot read "));
        assert!(said("{ crate = \"empty\" }").ends_with("empty/Cargo.toml names no package"));
        let other = "[package]\nname = \"x\"\n[dependencies]\ngiusto-rt = \"77\"\n";
        fs::write(folder.join("a/x/Cargo.toml"), other).unwrap();
        let wanted = "its crate asks for `giusto-rt` 77; this Giusto is ";
        assert!(said("{ crate = \"a/x\" }").starts_with(wanted));
        assert_eq!(said("\"hello-server\""), "", "it is Giusto's own");
        fs::write(folder.join("it.elf"), "").unwrap();
        assert_eq!(said("{ elf = \"it.elf\" }"), "");
        fs::write(folder.join("it.c"), "").unwrap();
        assert_eq!(said("{ c = [\"it.c\"] }"), "");
        assert!(said("{ c = [\"it.c\", \"other.c\"] }").ends_with("other.c"));
    }
}
