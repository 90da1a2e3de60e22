//! Builds what runs on a machine: the kernel image and the programs, each an ELF file.

pub mod c;
mod cargo;
mod crates;
mod elf;
mod extra;
pub mod kept;
mod place;
mod sources;

pub use cargo::executables;
pub use crates::problems;
pub use elf::{static_address, static_contents, text_bytes};
pub use extra::{Extra, extra_for};

use crate::failure::usage;
use crate::machine::{Emulator, Machine, Platform, native};
use crate::workspace;
use anyhow::{Context, Result};
use kept::Recipe;
use manifest::{Origin, System, TREE};
use place::Place;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The built files.
#[derive(Debug, Default)]
pub struct Images {
    /// The kernel with its symbols; none for the twin, which has its own.
    pub kernel: PathBuf,
    /// The programs by name; none for the twin.
    pub programs: BTreeMap<String, PathBuf>,
    /// The twin's program, if it is to run there.
    pub twin: Option<PathBuf>,
}

/// Builds the kernel and all programs for a machine.
pub fn build(machine: &dyn Machine) -> Result<Images> {
    images(machine, None, &program_names()?)
}

/// Builds all programs, and a kernel that has something extra.
pub fn build_with(machine: &dyn Machine, extra: Extra) -> Result<Images> {
    images(machine, Some(extra), &program_names()?)
}

/// Builds all programs, and the kernel that has a scheduling tree.
pub fn build_with_tree(machine: &dyn Machine, extra: Option<Extra>) -> Result<Images> {
    let emulator = machine.emulator().context("this machine boots no image")?;
    let programs = build_programs(emulator, &program_names()?)?;
    Ok(Images { kernel: build_tree(emulator, extra)?, programs, twin: None })
}

/// Builds what a system needs.
pub fn build_for(machine: &dyn Machine, system: &System) -> Result<Images> {
    build_system(machine, system, extra_for(system))
}

/// Builds a kernel that may have something extra, and the programs of a system.
pub fn build_system(
    machine: &dyn Machine,
    system: &System,
    extra: Option<Extra>,
) -> Result<Images> {
    check_cpus(machine, system)?;
    check_devices(machine, system)?;
    check_kernel(system)?;
    crates::check(system)?;
    match machine.emulator() {
        Some(emulator) => {
            let programs = programs_of(emulator, system)?;
            let kernel = match system.kernel == TREE {
                true => build_tree(emulator, extra)?,
                false => kernel_with(emulator, extra)?,
            };
            Ok(Images { kernel, programs, twin: None })
        }
        None if crates::any(system) => crates::twin(system),
        None => Ok(Images { twin: Some(twin()?), ..Images::default() }),
    }
}

/// Refuses a system that a machine has too few CPUs for.
pub fn check_cpus(machine: &dyn Machine, system: &System) -> Result<()> {
    let (name, cpus, most) = (&system.name, system.cpus, machine.most_cpus());
    if cpus > most {
        let message = format!("has at most {most} CPUs, {name} wants {cpus}; run it on the twin");
        return Err(usage(format!("machine {} {message}", machine.name())));
    }
    Ok(())
}

/// Refuses a system with devices that a machine does not have.
pub fn check_devices(machine: &dyn Machine, system: &System) -> Result<()> {
    if system.devices.is_some() && machine.emulator().is_some() {
        let (name, machine) = (&system.name, machine.name());
        let message = format!("{name} has devices, which machine {machine} does not have");
        return Err(usage(format!("{message}; run it on the twin: --machine twin")));
    }
    Ok(())
}

/// Refuses a system with reservations for a kernel that has none.
fn check_kernel(system: &System) -> Result<()> {
    if system.runs_under(&system.kernel) {
        return Ok(());
    }
    let System { name, kernel, .. } = system;
    Err(usage(format!("{name} has reservations, and kernel {kernel} has none: it needs {TREE}")))
}

/// Builds the programs of a system.
fn programs_of(machine: &dyn Emulator, system: &System) -> Result<BTreeMap<String, PathBuf>> {
    let all = program_names()?;
    let own = || system.domains.iter().filter(|domain| domain.origin == Origin::Giusto);
    let wanted = |name: &str| own().any(|domain| domain.program == name);
    // A name that stands for no program is refused where the archive is made, which knows where it
    // is written, and which names there are.
    let known = |name: &String| all.contains(name);
    let names = match own().all(|domain| known(&domain.program)) {
        true => all.into_iter().filter(|name| wanted(name)).collect(),
        false => all,
    };
    let mut programs = build_programs(machine, &names)?;
    programs.extend(crates::executables(system, machine)?);
    Ok(programs)
}

/// The port's features that images have unless they are to be small: calls on mutexes and trains.
const USUAL: [&str; 2] = ["futexes", "trains"];

/// Builds an image with one kernel only and as little else as can be; returns its path.
pub fn build_alone(machine: &dyn Emulator, kernel: &str) -> Result<PathBuf> {
    let title = format!("building {kernel} alone for {}", machine.name());
    let features = ["--no-default-features", "--features", kernel];
    build_kernel(machine, title, &format!("{kernel}-alone"), &features)
}

/// Builds an image of the kernel with the scheduling tree, which is not among the others.
fn build_tree(machine: &dyn Emulator, extra: Option<Extra>) -> Result<PathBuf> {
    let features = [&[TREE][..], &USUAL, extra.map_or(&[][..], Extra::features)].concat();
    let named: Vec<&str> = features.iter().copied().filter(|name| !USUAL.contains(name)).collect();
    let title = format!("building {} for {}", named.join(" and "), machine.name());
    let (name, asked) = (named.join("-"), features.join(","));
    build_kernel(machine, title, &name, &["--no-default-features", "--features", &asked])
}

/// Builds what a system needs to boot anywhere: its programs, and an image with its kernel only,
/// without debugging information.
pub fn build_shipped(machine: &dyn Emulator, system: &System) -> Result<Images> {
    if system.devices.is_some() {
        let name = &system.name;
        let message = format!("{name} has devices, which no image can have yet");
        return Err(usage(format!("{message}; run it on the twin: --machine twin")));
    }
    check_kernel(system)?;
    crates::check(system)?;
    let programs = programs_of(machine, system)?;
    let extra = extra_for(system).map_or(&[][..], Extra::features);
    let named = [&[system.kernel.as_str()], extra].concat().join(",");
    let features = format!("{named},{}", USUAL.join(","));
    let stripped = "profile.metal.strip=\"debuginfo\"";
    let arguments = ["--no-default-features", "--features", &features, "--config", stripped];
    let title = format!("building {} alone for {}", system.kernel, machine.name());
    let kernel = build_kernel(machine, title, &format!("{named}-shipped"), &arguments)?;
    Ok(Images { kernel, programs, twin: None })
}

/// The profile of the twin, for development: arithmetic is checked, and a panic unwinds.
const SIMULATED: &str = "twin";

/// Builds the twin, and returns its program's path.
pub fn twin() -> Result<PathBuf> {
    let title = "building the machine twin";
    let recipe = Recipe {
        name: "twin",
        title: title.to_string(),
        package: "twin",
        profile: SIMULATED,
        arguments: &[],
        directory: None,
        executables: &["giusto-twin".to_string()],
    };
    let build = |_: &[&str]| Place::of_giusto()?.build(title, "twin", &["--profile", SIMULATED]);
    only(kept::obtain_by(&recipe, build)?)
}

/// Builds the program that measures on this host; returns its path. What else the laboratory
/// consists of has no part in it: not its features either.
pub fn build_native() -> Result<PathBuf> {
    let (package, program) = native::PROGRAM;
    let machine = native::Native.name();
    let built = kept::obtain(&Recipe {
        name: machine,
        title: format!("building the machine {machine}"),
        package,
        profile: "metal",
        arguments: &[],
        directory: None,
        executables: &[program.to_string()],
    })?;
    only(built)
}

/// Builds the emulator's plugin that sees every instruction; returns the library's path.
pub fn build_plugin() -> Result<PathBuf> {
    let (package, title) = ("exact", "building the plugin that sees every instruction");
    let recipe = Recipe {
        name: package,
        title: title.to_string(),
        package,
        profile: "release",
        arguments: &[],
        directory: None,
        executables: &[package.to_string()],
    };
    let arguments = ["--profile", recipe.profile, "-p", package];
    only(kept::obtain_by(&recipe, |_| cargo::build(title, &arguments))?)
}

/// Steps that a log has room for.
pub const LOG_ROOM: usize = 1 << 18;

fn images(machine: &dyn Machine, extra: Option<Extra>, programs: &[String]) -> Result<Images> {
    let Some(machine) = machine.emulator() else {
        return Ok(Images { twin: Some(twin()?), ..Images::default() });
    };
    let programs = build_programs(machine, programs)?;
    Ok(Images { kernel: kernel_with(machine, extra)?, programs, twin: None })
}

/// Builds an image with all kernels that may have something extra.
fn kernel_with(machine: &dyn Emulator, extra: Option<Extra>) -> Result<PathBuf> {
    let features = extra.map_or(&[][..], Extra::features);
    let with = if features.is_empty() { "" } else { " with " };
    let title = format!("building a kernel{with}{} for {}", features.join(" and "), machine.name());
    let name = if features.is_empty() { "usual".to_string() } else { features.join("-") };
    let asked = features.join(",");
    let asked = ["--features", &asked];
    let asked = if features.is_empty() { &[][..] } else { &asked };
    build_kernel(machine, title, &name, asked)
}

/// Most directories in which kernels are built: in each, what they are made of is built once, and
/// one kernel at a time.
const MOST_DIRECTORIES: usize = 4;

/// Where the kernel of a name is built. One takes one CPU, and the simulation is built beside it.
fn kernel_directory(name: &str) -> PathBuf {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let number = hasher.finish() % (cpus / 2).clamp(1, MOST_DIRECTORIES) as u64;
    workspace::build_directory().join("kernels").join(number.to_string())
}

/// Builds a kernel image.
fn build_kernel(
    machine: &dyn Emulator,
    title: String,
    name: &str,
    features: &[&str],
) -> Result<PathBuf> {
    let target = ["--target", machine.target()];
    let built = kept::obtain(&Recipe {
        name: &format!("kernel-{name}"),
        title,
        package: machine.port(),
        profile: "metal",
        arguments: &[&target, features].concat(),
        directory: Some(kernel_directory(name)),
        executables: &[machine.kernel_binary().to_string()],
    })?;
    only(built)
}

/// Builds programs, which are the same for all kernels.
fn build_programs(
    machine: &dyn Emulator,
    programs: &[String],
) -> Result<BTreeMap<String, PathBuf>> {
    if programs.is_empty() {
        return Ok(BTreeMap::new());
    }
    kept::obtain(&Recipe {
        name: "programs",
        title: format!("building programs for {}", machine.name()),
        package: "programs",
        profile: "program",
        arguments: &["--target", machine.target()],
        directory: None,
        executables: programs,
    })
}

fn only(built: BTreeMap<String, PathBuf>) -> Result<PathBuf> {
    built.into_values().next().context("an executable was asked for")
}

/// Names of all programs: each has a file.
fn program_names() -> Result<Vec<String>> {
    let folder = workspace::root().join("user/programs/src/bin");
    let name = |path: &Path| Some(path.file_stem()?.to_str()?.to_string());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        names.extend(name(&entry?.path()));
    }
    names.sort();
    Ok(names)
}
