//! What each thing that runs on a machine is built from.

use super::build::{Build, Kernels};
use super::kept::Recipe;
use crate::machine::{Emulator, Platform, native};
use crate::workspace;
use manifest::TREE;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

/// The port's features that images have unless they are to be small: calls on mutexes and trains.
const USUAL: [&str; 2] = ["futexes", "trains"];

/// The profile of programs, and that of those for a debugger: as they are written, each at
/// addresses of its own.
pub const PROGRAM: &str = "program";
pub const DEBUGGED: &str = "debugged";

/// The profile of programs that are built in this way.
pub fn profile(build: Build) -> &'static str {
    if build.debugged { DEBUGGED } else { PROGRAM }
}

/// The profile of the twin, for development: arithmetic is checked, and a panic unwinds.
pub const SIMULATED: &str = "twin";

/// Most directories in which kernels are built: in each, what they are made of is built once, and
/// one kernel at a time.
const MOST_DIRECTORIES: usize = 4;

/// A kernel image.
pub fn kernel(machine: &dyn Emulator, build: Build) -> Recipe {
    // The kernel if there is one alone, the calls that it has, and what the result is kept as.
    let (alone, calls, kept) = match build.kernels {
        Kernels::Usual => (None, &[][..], ""),
        Kernels::Tree => (Some(TREE), &USUAL[..], ""),
        Kernels::Least(kernel) => (Some(kernel), &[][..], "-alone"),
        Kernels::Shipped(kernel) => (Some(kernel), &USUAL[..], "-shipped"),
    };
    let own = build.features();
    let named: Vec<&str> = alone.iter().chain(&own).copied().collect();
    let features: Vec<&str> = alone.iter().chain(calls).chain(&own).copied().collect();
    let features = features.join(",");
    let mut arguments = vec!["--target", machine.target()];
    arguments.extend(alone.map(|_| "--no-default-features"));
    if !features.is_empty() {
        arguments.extend(["--features", &features]);
    }
    if matches!(build.kernels, Kernels::Shipped(_)) {
        arguments.extend(["--config", "profile.metal.strip=\"debuginfo\""]);
    }
    let what = match (alone, named.join(" and ")) {
        (None, words) if words.is_empty() => "a kernel".to_string(),
        (None, words) => format!("a kernel with {words}"),
        (Some(_), words) => words,
    };
    let name = if named.is_empty() { "usual".to_string() } else { named.join("-") + kept };
    Recipe {
        name: format!("kernel-{name}"),
        title: format!("building {what} for {}", machine.name()),
        package: machine.port(),
        profile: "metal",
        arguments: arguments.into_iter().map(String::from).collect(),
        directory: Some(kernel_directory(&name)),
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
