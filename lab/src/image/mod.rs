//! Builds what runs on a machine: the kernel image and the programs, each an ELF file.

mod build;
pub mod c;
mod cargo;
mod crates;
mod elf;
mod in_c;
pub mod kept;
mod own;
mod place;
pub mod prebuilt;
mod recipes;
mod remap;
mod sources;
mod versions;

pub use build::{Build, Kernels, Locking, Watch};
pub use cargo::executables;
pub use crates::problems;
pub use elf::{addresses, set_static, static_address, static_contents, text_bytes};
pub use own::names as program_names;
pub use place::profiles;

use crate::failure::usage;
use crate::machine::{Emulator, Machine};
use anyhow::{Context, Result};
use manifest::{Medium, Origin, System, TREE};
use place::Place;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The built files.
#[derive(Debug, Default)]
pub struct Images {
    /// The kernel with its symbols; none for the twin, which has its own.
    pub kernel: PathBuf,
    /// The programs by name; for the twin those that are machine code.
    pub programs: BTreeMap<String, PathBuf>,
    /// The twin's program, if it is to run there.
    pub twin: Option<PathBuf>,
}

/// Builds a kernel and all programs for a machine.
pub fn build(machine: &dyn Machine, build: Build) -> Result<Images> {
    let Some(machine) = machine.emulator() else {
        return Ok(Images { twin: Some(twin()?), ..Images::default() });
    };
    let programs = build_programs(machine, &program_names()?, recipes::profile(build))?;
    Ok(Images { kernel: build_kernel(machine, build)?, programs, twin: None })
}

/// Builds what a system needs.
pub fn build_for(machine: &dyn Machine, system: &System) -> Result<Images> {
    build_system(machine, system, Build::of(system))
}

/// Builds a kernel in this way, and the programs of a system.
pub fn build_system(machine: &dyn Machine, system: &System, build: Build) -> Result<Images> {
    check_cpus(machine, system)?;
    check_devices(machine, system)?;
    check_kernel(system)?;
    crates::check(system)?;
    match machine.emulator() {
        Some(emulator) => {
            let programs = programs_of(emulator, system, recipes::profile(build))?;
            Ok(Images { kernel: build_kernel(emulator, build)?, programs, twin: None })
        }
        None => {
            let twin = if crates::any(system) { crates::twin(system) } else { twin() }?;
            Ok(Images { twin: Some(twin), programs: crates::files(system)?, ..Images::default() })
        }
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
    let on_board = system.memories.iter().find(|memory| !memory.is_ram());
    if let (Some(memory), None) = (on_board, machine.emulator()) {
        let (on_board, memory) = (memory.medium, &memory.name);
        let (name, machine) = (&system.name, machine.name());
        let has = match on_board {
            Medium::Ports { .. } => "I/O ports",
            _ => "device memory",
        };
        let message = format!("{name} has {has} `{memory}`, machine {machine} has none");
        return Err(usage(format!("{message}; run it where there is a board: qemu-x86_64")));
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
fn programs_of(
    machine: &dyn Emulator,
    system: &System,
    profile: &'static str,
) -> Result<BTreeMap<String, PathBuf>> {
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
    let mut programs = build_programs(machine, &names, profile)?;
    programs.extend(crates::executables(system, machine, profile)?);
    Ok(programs)
}

/// Builds a kernel image; returns its path.
pub fn build_kernel(machine: &dyn Emulator, build: Build) -> Result<PathBuf> {
    only(kept::obtain(&recipes::kernel(machine, build))?)
}

/// Builds what a system needs to boot anywhere: its programs, and an image with its kernel only,
/// without debugging information.
pub fn build_shipped(machine: &dyn Emulator, system: &System) -> Result<Images> {
    if system.devices.is_some() {
        let name = &system.name;
        let message = format!("{name} has devices, which no image can have yet");
        return Err(usage(format!("{message}; run it on the twin: --machine twin")));
    }
    if let Some(device) = system.attached.first() {
        let (name, device) = (&system.name, &device.name);
        let message = format!("{name} has device `{device}`, which no image can have yet");
        return Err(usage(format!("{message}; run it by `./giusto run`")));
    }
    check_kernel(system)?;
    crates::check(system)?;
    let programs = programs_of(machine, system, recipes::PROGRAM)?;
    let build = Build { kernels: Kernels::shipped(&system.kernel)?, ..Build::of(system) };
    Ok(Images { kernel: build_kernel(machine, build)?, programs, twin: None })
}

/// Builds the twin, and returns its program's path.
pub fn twin() -> Result<PathBuf> {
    let recipe = recipes::twin();
    let arguments = ["--profile", recipe.profile];
    let build = |_: &[&str]| Place::of_giusto()?.build(&recipe.title, "twin", &arguments);
    only(kept::obtain_by(&recipe, build)?)
}

/// Builds the program that measures on this host; returns its path.
pub fn build_native() -> Result<PathBuf> {
    only(kept::obtain(&recipes::native())?)
}

/// Builds the emulator's plugin that sees every instruction; returns the library's path.
pub fn build_plugin() -> Result<PathBuf> {
    let recipe = recipes::plugin();
    let arguments = ["--profile", recipe.profile, "-p", recipe.package];
    only(kept::obtain_by(&recipe, |_| cargo::build(&recipe.title, &arguments))?)
}

/// Steps that a log has room for.
pub const LOG_ROOM: usize = 1 << 18;

/// Builds programs, which are the same for all kernels.
fn build_programs(
    machine: &dyn Emulator,
    programs: &[String],
    profile: &'static str,
) -> Result<BTreeMap<String, PathBuf>> {
    if programs.is_empty() {
        return Ok(BTreeMap::new());
    }
    let recipe = recipes::programs(machine, programs, profile);
    kept::obtain_by(&recipe, |missing| {
        let place = own::place()?;
        let root = remap::rooted_at(place.folder());
        let first = ["--profile", profile, "--target", machine.target(), "--config", &root];
        let only = missing.iter().flat_map(|name| ["--bin", name]);
        place.build(&recipe.title, "programs", &first.into_iter().chain(only).collect::<Vec<_>>())
    })
}

fn only(built: BTreeMap<String, PathBuf>) -> Result<PathBuf> {
    built.into_values().next().context("an executable was asked for")
}
