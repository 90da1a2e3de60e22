//! What each thing that runs on a machine is built from.

use super::kept::Recipe;
use super::{Extra, extra_for};
use crate::machine::{Emulator, Platform, native};
use crate::workspace;
use manifest::{System, TREE};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

/// The port's features that images have unless they are to be small: calls on mutexes and trains.
const USUAL: [&str; 2] = ["futexes", "trains"];

/// The profile of programs, and that of those for a debugger: as they are written, each at
/// addresses of its own.
pub const PROGRAM: &str = "program";
pub const DEBUGGED: &str = "debugged";

/// The profile of the twin, for development: arithmetic is checked, and a panic unwinds.
pub const SIMULATED: &str = "twin";

/// Most directories in which kernels are built: in each, what they are made of is built once, and
/// one kernel at a time.
const MOST_DIRECTORIES: usize = 4;

/// An image with all kernels but the tree that may have something extra.
pub fn usual(machine: &dyn Emulator, extra: Option<Extra>) -> Recipe {
    let features = extra.map_or(&[][..], Extra::features);
    let with = if features.is_empty() { "" } else { " with " };
    let title = format!("building a kernel{with}{} for {}", features.join(" and "), machine.name());
    let name = if features.is_empty() { "usual".to_string() } else { features.join("-") };
    let asked = features.join(",");
    let asked = ["--features", &asked];
    let asked = if features.is_empty() { &[][..] } else { &asked };
    kernel(machine, title, &name, asked)
}

/// An image of the kernel with the scheduling tree, which is not among the others.
pub fn tree(machine: &dyn Emulator, extra: Option<Extra>) -> Recipe {
    let features = [&[TREE][..], &USUAL, extra.map_or(&[][..], Extra::features)].concat();
    let named: Vec<&str> = features.iter().copied().filter(|name| !USUAL.contains(name)).collect();
    let title = format!("building {} for {}", named.join(" and "), machine.name());
    let (name, asked) = (named.join("-"), features.join(","));
    kernel(machine, title, &name, &["--no-default-features", "--features", &asked])
}

/// An image with one kernel only and as little else as can be.
pub fn alone(machine: &dyn Emulator, name: &str) -> Recipe {
    let title = format!("building {name} alone for {}", machine.name());
    let features = ["--no-default-features", "--features", name];
    kernel(machine, title, &format!("{name}-alone"), &features)
}

/// An image with a system's kernel only, without debugging information.
pub fn shipped(machine: &dyn Emulator, system: &System) -> Recipe {
    let extra = extra_for(system).map_or(&[][..], Extra::features);
    let named = [&[system.kernel.as_str()], extra].concat().join(",");
    let features = format!("{named},{}", USUAL.join(","));
    let stripped = "profile.metal.strip=\"debuginfo\"";
    let arguments = ["--no-default-features", "--features", &features, "--config", stripped];
    let title = format!("building {} alone for {}", system.kernel, machine.name());
    kernel(machine, title, &format!("{named}-shipped"), &arguments)
}

/// A kernel image.
fn kernel(machine: &dyn Emulator, title: String, name: &str, features: &[&str]) -> Recipe {
    let arguments = [&["--target", machine.target()], features].concat();
    Recipe {
        name: format!("kernel-{name}"),
        title,
        package: machine.port(),
        profile: "metal",
        arguments: arguments.into_iter().map(String::from).collect(),
        directory: Some(kernel_directory(name)),
        executables: vec![machine.kernel_binary().to_string()],
    }
}

/// Where the kernel of a name is built. One takes one CPU, and the simulation is built beside it.
fn kernel_directory(name: &str) -> PathBuf {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let number = hasher.finish() % (cpus / 2).clamp(1, MOST_DIRECTORIES) as u64;
    workspace::build_directory().join("kernels").join(number.to_string())
}

/// Giusto's own programs of these names, which are the same for all kernels.
pub fn programs(machine: &dyn Emulator, names: &[String], profile: &'static str) -> Recipe {
    let name = if profile == PROGRAM { "programs" } else { profile };
    Recipe {
        name: name.to_string(),
        title: format!("building programs for {}", machine.name()),
        package: "programs",
        profile,
        arguments: ["--target", machine.target()].map(String::from).into(),
        directory: None,
        executables: names.to_vec(),
    }
}

/// The twin.
pub fn twin() -> Recipe {
    Recipe {
        name: "twin".to_string(),
        title: "building the machine twin".to_string(),
        package: "twin",
        profile: SIMULATED,
        arguments: Vec::new(),
        directory: None,
        executables: vec!["giusto-twin".to_string()],
    }
}

/// The program that measures on this host. What else the laboratory consists of has no part in it:
/// not its features either.
pub fn native() -> Recipe {
    let ((package, program), machine) = (native::PROGRAM, native::Native.name());
    Recipe {
        name: machine.to_string(),
        title: format!("building the machine {machine}"),
        package,
        profile: "metal",
        arguments: Vec::new(),
        directory: None,
        executables: vec![program.to_string()],
    }
}

/// The emulator's plugin that sees every instruction.
pub fn plugin() -> Recipe {
    let package = "exact";
    Recipe {
        name: package.to_string(),
        title: "building the plugin that sees every instruction".to_string(),
        package,
        profile: "release",
        arguments: Vec::new(),
        directory: None,
        executables: vec![package.to_string()],
    }
}

/// The laboratory of an SDK.
pub fn laboratory() -> Recipe {
    Recipe {
        name: "laboratory".to_string(),
        title: "building the laboratory of the SDK".to_string(),
        package: "lab",
        profile: "shipped",
        arguments: Vec::new(),
        directory: None,
        executables: vec!["lab".to_string()],
    }
}
